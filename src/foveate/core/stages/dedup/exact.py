"""Exact duplicates: of texts that are equal after white space is folded, the best-ranked stays."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args
from unicodedata import normalize

from foveate.core.checks import check_choice
from foveate.core.request import Request
from foveate.core.stages.dedup.merge_sources import Copy, merge_sources
from foveate.core.types import Candidate, Step, rank

Key = Literal["normalised", "verbatim"]
ENDS = 4
"""Words at the end of a text; only texts with the same ones are compared whole."""
REACH = 60
"""Characters that hold so many words, mostly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupExact:
    """Keep the best copy of each text, and where the other copies came from.

    `key`: what must be the same: `normalised` text (NFC, white space folded, trimmed) or the
    text as it is, `verbatim`.
    """

    key: Key = "normalised"

    keeps_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_choice("dedup_exact", "key", self.key, get_args(Key))

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Drop copies as `merged` (`exact_duplicate`); what stays for them is `corroborated`."""
        return merge_sources(
            candidates, exact_copies(candidates, self.key), reason="exact_duplicate"
        )


def exact_copies(candidates: tuple[Candidate, ...], key: Key) -> dict[str, Copy]:
    """Every candidate whose text a better-ranked one has, and that one."""
    pool = [c for c in candidates if c.origin != "supplement" and c.shown is None]
    texts = [c.chunk.text for c in pool]
    if key == "normalised":
        ends = [_end(text) for text in texts]
        spread = Counter(ends)  # texts that end like no other need not be normalised
        pairs = zip(texts, ends, strict=True)
        texts = [normalise(text) if spread[end] > 1 else text for text, end in pairs]
    times = Counter(texts)
    groups: dict[str, list[Candidate]] = {}
    for candidate, text in zip(pool, texts, strict=True) if len(times) < len(texts) else ():
        if times[text] > 1:
            groups.setdefault(text, []).append(candidate)
    copies: dict[str, Copy] = {}
    for group in groups.values():
        kept, *others = sorted(group, key=rank)
        copies.update((c.chunk.id, Copy(by=kept.chunk.id, numbers={})) for c in others)
    return copies


def _end(text: str) -> str:
    """The last words: the same for two texts that `normalise` makes equal."""
    words = text[-REACH:].rsplit(None, ENDS)
    words = words if len(words) > ENDS else text.rsplit(None, ENDS)
    return _composed(" ".join(words[-ENDS:]))


def _composed(text: str) -> str:
    return text if text.isascii() else normalize("NFC", text)


def normalise(text: str) -> str:
    r"""The text in NFC, white space folded, trimmed; doing it twice changes nothing.

    >>> normalise("  two\n\n words\t")
    'two words'
    """
    return " ".join(_composed(text).split())
