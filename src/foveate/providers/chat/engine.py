"""llama.cpp in this process: loading it, counting tokens, and the cost of its chat template.

The port of the engine cannot be closed; it answers only requests with its key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import pairwise
from math import ceil
from typing import Any

from foveate.core.errors import BadOption, MissingExtra
from foveate.providers.chat.http_client import ProviderError, protocol_error
from foveate.providers.json_request import post_json

BATCH_TOKENS = 256
"""Tokens that are read between two looks at whether to stop."""
_TIMEOUT_SECONDS = 30.0
"""Seconds; the engine answers at once on a machine that is not overloaded."""


def _thread_count() -> int:
    said = os.environ.get("FOVEATE_MODEL_THREADS", "")
    if said and not (said.isdecimal() and int(said) > 0):
        raise BadOption(f"FOVEATE_MODEL_THREADS is {said!r}; give a number of threads, 1 or more")
    return int(said) if said else max(1, (os.cpu_count() or 1) // 2)


def start_engine(path: str, window: int, key: str) -> Any:
    """The engine with the weights; quiet, and its port locked with the key."""
    # Threads that wait would spin, and a busy machine of few cores comes to a crawl.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import xllamacpp
    except ImportError:
        raise MissingExtra("xllamacpp", "gguf") from None
    options = xllamacpp.CommonParams()
    options.model.path = path
    options.n_ctx = window
    options.n_parallel = 1
    options.n_batch = options.n_ubatch = BATCH_TOKENS
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = _thread_count()
    options.warmup = False
    options.verbosity = -1
    options.api_keys = [key]
    try:
        return xllamacpp.Server(options)
    except Exception as error:  # noqa: BLE001  # the engine's errors have no common kind
        said = f"{type(error).__name__}: {error}"
    raise ProviderError(f"cannot be loaded ({said}); is it a GGUF file?")


def _ask_engine(address: str, path: str, key: str, record: Mapping[str, Any]) -> Any:
    headers = {"authorization": f"Bearer {key}"}
    return post_json(
        f"{address}{path}", record, headers=headers, timeout=_TIMEOUT_SECONDS, direct=True
    )


_CONVERSATIONS = (
    (("user",), ("user", "assistant", "user"), ("user", "assistant") * 3 + ("user",)),
    (("system", "user"), ("system", "user", "assistant", "user")),
)
"""Conversations that grow, by roles: with a system message, and without."""
_TRIAL_TEXT = "Yes."


def count_tokens(address: str, key: str, text: str, *, special: bool = False) -> int:
    """How many tokens; raises `ProviderError`. `special`: control tokens are read as such."""
    if not text:
        return 0
    asked = {"content": text, "add_special": special, "parse_special": special}
    found = _ask_engine(address, "/tokenize", key, asked)
    tokens = found.get("tokens") if isinstance(found, dict) else None
    if not isinstance(tokens, list):
        raise protocol_error("said no tokens of a text")
    return len(tokens)


def measure_template(address: str, key: str) -> tuple[int, int]:
    """Tokens that the chat template adds, at the most, to each message and to a request."""
    known, refusal = [], None
    for talks in _CONVERSATIONS:
        try:
            known.append([_count_added(address, key, roles) for roles in talks])
        except ProviderError as error:  # a role that the template refuses, or nobody there
            refusal = error
    if refusal is not None and not known:
        raise refusal
    steps = [step for talks in known for step in pairwise(talks)]
    message = max(0, *(ceil((b - a) / (more - fewer)) for (fewer, a), (more, b) in steps))
    request = max(added - message * size for talks in known for size, added in talks)
    return message, max(request, 0)


def _count_added(address: str, key: str, roles: tuple[str, ...]) -> tuple[int, int]:
    """Messages of one conversation, and how many tokens were added to them."""
    messages = [{"role": role, "content": _TRIAL_TEXT} for role in roles]
    made: Any = _ask_engine(address, "/apply-template", key, {"messages": messages})
    prompt = made.get("prompt") if isinstance(made, dict) else None
    if not isinstance(prompt, str):
        raise protocol_error("said no prompt")
    own = sum(count_tokens(address, key, text) for role in roles for text in (role, _TRIAL_TEXT))
    return len(roles), count_tokens(address, key, prompt, special=True) - own
