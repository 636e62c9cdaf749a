"""What a model file counts: a text's tokens, and what its chat template puts around messages.

The template is the file's own and may do what it likes (a system message of its own where there is
none, a role that it refuses). So it is tried on short conversations, and the most that it adds to
any of them, a message and a request, is what every request is reckoned with.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import Any

from foveate.providers.chat.engine import post_json
from foveate.providers.chat.provider_error import ProviderError, protocol_error

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
    found = post_json(address, "/tokenize", key, asked)
    tokens = found.get("tokens") if isinstance(found, dict) else None
    if not isinstance(tokens, list):
        raise protocol_error("said no tokens of a text")
    return len(tokens)


def measure_template(address: str, key: str) -> tuple[int, int]:
    """Tokens that the template adds to each message, and once to a request.

    Raises `ProviderError`.
    """
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
    made: Any = post_json(address, "/apply-template", key, {"messages": messages})
    prompt = made.get("prompt") if isinstance(made, dict) else None
    if not isinstance(prompt, str):
        raise protocol_error("said no prompt")
    own = sum(count_tokens(address, key, text) for role in roles for text in (role, _TRIAL_TEXT))
    return len(roles), count_tokens(address, key, prompt, special=True) - own
