"""Tokenizers by name.

| name | tokenizer |
|---|---|
| `cl100k_base`, `o200k_base` | exact, offline (toktok-rs) |
| `simple` | four bytes a token |
| `PATH.json`, `hf:PATH` | a Hugging Face tokenizer.json (extra `huggingface`) |
| `NAME*1.3` | any of these with a safety margin |
| `gguf:FILE` | the model file's own, by the engine that answers with it (extra `gguf`) |
| `anthropic:MODEL` | the provider's endpoint; key in ANTHROPIC_API_KEY |

Each is loaded at its first use. Laws of tokenizers: `foveate.testing.tokenizers`.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption, UnknownName
from foveate.core.removed import advice

ENCODINGS = ("cl100k_base", "o200k_base")
NAMES = (*ENCODINGS, "simple", "hf:PATH", "anthropic:MODEL", "gguf:FILE")


def load_tokenizer(name: str) -> Tokenizer:
    """The tokenizer of this name.

    Raises `UnknownName` with the near miss, `BadOption` where a path or a factor cannot be used,
    `ExternalError` where a package is missing.

    >>> load_tokenizer("o200k_base*1.3").count("hello world")
    3
    """
    inner, star, factor = name.rpartition("*")
    if star and _is_number(factor):
        from foveate.providers.tokenizers.simple import Margin

        return Margin(inner=load_tokenizer(inner), factor=float(factor))
    if star and factor.startswith("text:"):
        raise BadOption(f"tokenizer {name!r}: {advice('keyword', '*text:')}")
    if name in ENCODINGS:
        from foveate.providers.tokenizers.openai import Toktok

        return Toktok(name=name)
    if name == "simple":
        from foveate.providers.tokenizers.simple import Simple

        return Simple()
    if name.startswith("anthropic:"):
        from foveate.providers.tokenizers.anthropic import Anthropic

        model = name.removeprefix("anthropic:")
        return Anthropic(model=model, key=os.environ.get("ANTHROPIC_API_KEY", ""))
    if name.startswith("hf:") or name.endswith(".json") or os.sep in name:
        from foveate.providers.tokenizers.huggingface import HuggingFace

        return HuggingFace.load(name.removeprefix("hf:"))
    raise UnknownName("tokenizer", name, NAMES)


def tokenizer_in_list(name: str, load: Callable[[str], Tokenizer]) -> Tokenizer:
    """The tokenizer of a name from outside: one that `load` knows, or one with a factor behind it.

    `load` raises `UnknownName` for what is not in its list.
    """
    inner, star, factor = name.rpartition("*")
    try:
        return load(name)
    except UnknownName:
        if not (star and _is_number(factor)):
            raise
    from foveate.providers.tokenizers.simple import Margin

    return Margin(inner=load(inner), factor=float(factor))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
