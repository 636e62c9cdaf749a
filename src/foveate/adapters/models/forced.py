"""How llama.cpp is made to write a given text, and so says how likely each token of it was.

It has no way to score a prompt. But a grammar may name tokens by number, and what it reports of a
token is its probability before the grammar had its say: all of an answer in one call, over the
prompt that it has read already. Its tokens come from the server's own door for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from foveate.adapters.models.engine import posted
from foveate.adapters.models.trouble import odd


def tokens_of(address: str, key: str, text: str) -> list[int] | None:
    """The model's tokens of the text, taken as plain text; raises `Trouble`.

    None where one ends within a character, which a grammar cannot hold, or where there are none.
    """
    asked = {"content": text, "with_pieces": True, "add_special": False, "parse_special": False}
    return tokens_in(posted(address, "/tokenize", key, asked))


def tokens_in(found: Any) -> list[int] | None:
    """The tokens in what that door answers; raises `Trouble` where it is something else."""
    try:
        tokens = [(int(one["id"]), one["piece"]) for one in found["tokens"]]
    except (KeyError, TypeError, ValueError):
        raise odd("said no tokens of a text") from None
    whole = all(isinstance(piece, str) for _, piece in tokens)
    return [number for number, _ in tokens] if tokens and whole else None


def forced_by(tokens: Sequence[int]) -> dict[str, Any]:
    """The options of a chat completion under which exactly these tokens are written.

    >>> forced_by([7042, 314])["grammar"]
    'root ::= <[7042]> <[314]>'
    """
    return {
        "grammar": "root ::= " + " ".join(f"<[{number}]>" for number in tokens),
        "max_tokens": len(tokens),
        "temperature": 0.0,
        "logprobs": True,
        "top_logprobs": 1,
    }


def logprobs_of(choice: Mapping[str, Any]) -> list[float]:
    """Of the tokens in one choice of an answer.

    >>> logprobs_of({"logprobs": {"content": [{"id": 314, "logprob": -0.5}]}}), logprobs_of({})
    ([-0.5], [])
    """
    return [float(one["logprob"]) for one in (choice.get("logprobs") or {}).get("content") or ()]
