"""Exact duplicates: of texts that are equal after white space is folded, the best-ranked stays."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args
from unicodedata import normalize

from foveate.core.errors import BadOption
from foveate.core.request import Request
from foveate.core.stages.dedup.merge_sources import Copy, merge_sources
from foveate.core.types import Candidate, Step, rank

Key = Literal["normalised", "verbatim"]
ENDS = 4
"""Words at either end of a text; only texts with the same ones are compared whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupExact:
    """Keep the best copy of each text, and where the other copies came from.

    `key`: what must be the same: `normalised` text (NFC, white space folded, trimmed) or the
    text as it is, `verbatim`.
    """

    key: Key = "normalised"

    keeps_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.key not in get_args(Key):
            raise BadOption(f"dedup_exact: key is {self.key!r}; use one of {get_args(Key)}")

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Drop copies as `merged` (`exact_duplicate`); what stays for them is `corroborated`."""
        return merge_sources(
            candidates, exact_copies(candidates, self.key), reason="exact_duplicate"
        )


def exact_copies(candidates: tuple[Candidate, ...], key: Key) -> dict[str, Copy]:
    """Every candidate whose text a better-ranked one has, and that one."""
    texts = [c.chunk.text for c in candidates]
    keys = texts
    if key == "normalised":
        alike: dict[str, set[str]] = {}
        for text in texts:
            alike.setdefault(_ends(text), set()).add(text)
        # A text that no other has the ends of stands for itself.
        several = [text for same in alike.values() if len(same) > 1 for text in same]
        folded = dict(zip(several, map(normalise, several), strict=True))
        keys = [folded.get(text, text) for text in texts]
    if len(set(keys)) == len(keys):
        return {}
    times = Counter(keys)
    groups: dict[str, list[Candidate]] = {}
    for candidate, own in zip(candidates, keys, strict=True):
        if times[own] > 1 and candidate.origin != "supplement" and candidate.shown is None:
            groups.setdefault(own, []).append(candidate)
    copies: dict[str, Copy] = {}
    for group in groups.values():
        if len(group) > 1:
            kept, *others = sorted(group, key=rank)
            copy = Copy(by=kept.chunk.id, numbers={})
            copies.update((other.chunk.id, copy) for other in others)
    return copies


def _ends(text: str) -> str:
    """The first and last words: the same for two texts that `normalise` makes equal."""
    return normalise(" ".join([*text.split(None, ENDS)[:ENDS], *text.rsplit(None, ENDS)[-ENDS:]]))


def normalise(text: str) -> str:
    r"""The text in NFC, white space folded, trimmed; doing it twice changes nothing.

    >>> normalise("  two\n\n words\t")
    'two words'
    """
    if not text.isascii():
        text = normalize("NFC", text)
    return " ".join(text.split())
