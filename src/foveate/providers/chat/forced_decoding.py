"""How llama.cpp is made to write a given text, and so says how likely each token of it was.

It has no way to score a prompt. But a grammar may name tokens by number, and what it reports of a
token is its probability before the grammar had its say: all of an answer in one call, over the
prompt that it has read already. Its tokens come from the server's own door for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from foveate.providers.chat.engine import post_json
from foveate.providers.chat.provider_error import protocol_error


def fetch_tokens(address: str, key: str, text: str) -> list[int] | None:
    """The model's tokens of the text, taken as plain text; raises `Trouble`.

    None where one ends within a character, which a grammar cannot hold, or where there are none.
    """
    asked = {"content": text, "with_pieces": True, "add_special": False, "parse_special": False}
    return parse_tokens(post_json(address, "/tokenize", key, asked))


def parse_tokens(found: Any) -> list[int] | None:
    """The tokens in what that door answers; raises `Trouble` where it is something else."""
    try:
        tokens = [(int(one["id"]), one["piece"]) for one in found["tokens"]]
    except (KeyError, TypeError, ValueError):
        raise protocol_error("said no tokens of a text") from None
    whole = all(isinstance(piece, str) for _, piece in tokens)
    return [number for number, _ in tokens] if tokens and whole else None


def forcing_options(tokens: Sequence[int]) -> dict[str, Any]:
    """The options of a chat completion under which exactly these tokens are written.

    >>> forcing_options([7042, 314])["grammar"]
    'root ::= <[7042]> <[314]>'
    """
    return {
        "grammar": "root ::= " + " ".join(f"<[{number}]>" for number in tokens),
        "max_tokens": len(tokens),
        "temperature": 0.0,
        "logprobs": True,
        "top_logprobs": 1,
    }


def parse_logprobs(choice: Mapping[str, Any]) -> list[float]:
    """Of the tokens in one choice of an answer.

    >>> (
    ...     parse_logprobs({"logprobs": {"content": [{"id": 314, "logprob": -0.5}]}}),
    ...     parse_logprobs({}),
    ... )
    ([-0.5], [])
    """
    return [float(one["logprob"]) for one in (choice.get("logprobs") or {}).get("content") or ()]
