"""A model file on this machine, run in this process by xllamacpp: `gguf:/path/to/file.gguf`.

It is asked over the engine's own port, in OpenAI's protocol. That port cannot be closed; it answers
only requests with its key. `FOVEATE_MODEL_THREADS`: threads, by default half of the processors.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from itertools import pairwise
from math import ceil
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from foveate.core.errors import BadInput, BadOption, MissingExtra
from foveate.ports import Reply, Usage
from foveate.providers.chat.http_client import (
    ProviderError,
    external_error,
    post_json,
    protocol_error,
)
from foveate.providers.chat.openai import OPENAI, OpenAIProvider
from foveate.providers.chat.request import ChatRequest

T = TypeVar("T")
CONTEXT_TOKENS = 8192
"""Tokens of prompt and answer; what they need in memory grows with it."""
BATCH_TOKENS = 256
"""Tokens that are read between two looks at whether to stop."""
_TIMEOUT_SECONDS = 30.0
"""Seconds; the engine answers at once on a machine that is not overloaded."""
_CONVERSATIONS = (
    (("user",), ("user", "assistant", "user"), ("user", "assistant") * 3 + ("user",)),
    (("system", "user"), ("system", "user", "assistant", "user")),
)
"""Conversations that grow, by roles: with a system message, and without."""
_TRIAL_TEXT = "Yes."


class GgufProvider(OpenAIProvider):
    """The weights are read when the first answer is asked for, and kept."""

    vendor = replace(OPENAI, name="gguf", home="", takes=frozenset())
    uses_proxy = False

    def __init__(self, path: str, *, window: int = CONTEXT_TOKENS) -> None:
        super().__init__(path)
        if not Path(path).is_file():
            raise BadInput(f"model {self.name}: no such file")
        self._path, self._window = path, window
        self._has_own_url = self.scores = True
        self._server: Any = None
        self._key = secrets.token_hex()
        self._lock = Lock()

    def key(self) -> str:
        """The key that locks the engine's port."""
        return self._key

    def check(self) -> None:
        """The engine's package, and the one that speaks HTTP."""
        for package in ("xllamacpp", "httpx2"):
            if find_spec(package) is None:
                raise MissingExtra(package, "gguf")

    def load(self) -> None:
        """Load engine and weights outside the time limit, since they block Python."""
        self._call_engine(lambda _: None)

    def count(self, text: str) -> int:
        """Tokens of a text by itself; raises `ExternalError`."""
        return self._call_engine(lambda address: count_tokens(address, self._key, text))

    def measure_template(self) -> tuple[int, int]:
        """Tokens that its chat template adds to a message and a request; raises `ExternalError`."""
        return self._call_engine(lambda address: measure_template(address, self._key))

    def fingerprint(self) -> str:
        """Of the file's bytes: its vocabulary is in it."""
        return file_fingerprint(self._path)

    def _call_engine(self, question: Callable[[str], T]) -> T:
        try:
            with self._lock:
                if self._server is None:
                    self._server = start_engine(self._path, self._window, self._key)
                address = self._server.listening_address
            self._url = f"{address}/v1"
            return question(address)
        except ProviderError as error:
            failure = error
        raise external_error(self.name, "", failure)

    def _default_url(self) -> str:
        return ""

    def _options(self, asked: ChatRequest) -> dict[str, Any]:
        """Signs of life also while it reads, so that it notices when its reader is gone."""
        return {**super()._options(asked), "return_progress": True}

    def _reply(self, texts: list[str], finish: str, usage: Usage, model: str, **more: Any) -> Reply:
        return super()._reply(texts, finish, usage, self.name, **more)


_PROVIDERS: WeakValueDictionary[str, GgufProvider] = WeakValueDictionary()
_PROVIDERS_LOCK = Lock()


def get_provider(path: str) -> GgufProvider:
    """One for a file, as long as anybody has it: who counts and who answers share the weights."""
    with _PROVIDERS_LOCK:
        found = _PROVIDERS.get(path)
        if found is None:
            found = _PROVIDERS[path] = GgufProvider(path)
        return found


def file_fingerprint(path: str) -> str:
    """The hash of a file, taken again when it was replaced."""
    stat = Path(path).stat()
    return _hash_file(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=8)
def _hash_file(path: str, _changed: int, _size: int) -> str:
    from blake3 import blake3

    return f"gguf-1:{blake3(max_threads=blake3.AUTO).update_mmap(path).hexdigest(16)}"


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
