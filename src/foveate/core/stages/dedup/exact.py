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
LETTERS = "dlmc"
"""Letters of which two texts that differ seldom have the same numbers."""


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
    keys = [c.chunk.text for c in candidates]
    if key == "normalised":
        keys = _normalised(keys)
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


def _normalised(texts: list[str]) -> list[str]:
    """Each text normalised where another text may have the same; else as it is.

    Each key costs more than the one before it, and is asked only of texts that shared that one.
    """
    found: dict[str, str] = {}
    alike = set(texts)
    for key in (_ends, _letters, normalise):
        found = {text: key(text) for text in alike}
        times = Counter(found.values())
        alike = {text for text, own in found.items() if times[own] > 1}
    return [found.get(text, text) for text in texts]


def _ends(text: str) -> str:
    """The first and last words: the same for two texts that `normalise` makes equal."""
    return _composed(" ".join([*text.split(None, ENDS)[:ENDS], *text.rsplit(None, ENDS)[-ENDS:]]))


def _letters(text: str) -> str:
    """How often some letters stand in the text: the same for two that `normalise` makes equal."""
    return " ".join([str(count) for count in map(_composed(text).count, LETTERS)])


def _composed(text: str) -> str:
    return text if text.isascii() else normalize("NFC", text)


def normalise(text: str) -> str:
    r"""The text in NFC, white space folded, trimmed; doing it twice changes nothing.

    >>> normalise("  two\n\n words\t")
    'two words'
    """
    return " ".join(_composed(text).split())
