"""What a model was asked for before the core ran, as a value: an input like any other.

It is a claim. What it says is held against the text it is about before anything is shown of it
(`offered.py`), so that a bundle, or a model that was talked into something, cannot forge a text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

CompressionMethod: TypeAlias = Literal["llm_extract", "llm_abstract"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A shorter version of one text that a model gave, or why there is none.

    `key`: the text's content hash. `way`: what was asked for. `spans`: the ranges of the text that
    it copied out (`llm_extract`), `text`: what it wrote (`llm_abstract`); or it found all of it
    `irrelevant`. `why`: what was wrong, where none of these. `by`: the model's name.
    """

    key: str
    way: CompressionMethod
    spans: tuple[tuple[int, int], ...] = ()
    text: str = ""
    irrelevant: bool = False
    why: str = ""
    by: str = ""
