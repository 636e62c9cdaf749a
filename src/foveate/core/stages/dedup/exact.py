"""Exact duplicates: of texts that are equal after white space is folded, the best-ranked stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
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
        if self.key not in get_args(Key):
            raise BadOption(f"dedup_exact: key is {self.key!r}; use one of {get_args(Key)}")

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Drop copies as `merged` (`exact_duplicate`); what stays for them is `corroborated`."""
        return merge_sources(
            candidates, exact_copies(candidates, self.key), reason="exact_duplicate"
        )


def exact_copies(candidates: tuple[Candidate, ...], key: Key) -> dict[str, Copy]:
    """Every candidate whose text a better-ranked one has, and that one."""
    keys = [c.chunk.content_hash for c in candidates]
    texts = {own: c.chunk.text for own, c in zip(keys, candidates, strict=True)}
    if key == "normalised" and (same := _same(texts)):
        keys = [same.get(own, own) for own in keys]
    times = Counter(keys)
    if len(times) == len(keys):
        return {}
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


def _same(texts: Mapping[str, str]) -> dict[str, str]:
    """For each text that is the same as another, normalised, the first such; both by their hashes.

    Each key costs more than the one before it, and is asked only of texts that shared that one.
    """
    groups: Sequence[Sequence[str]] = [[*texts]]
    for key in (_end, _start, normalise):
        groups = _split(groups, texts, key)
    return {own: group[0] for group in groups for own in group}


def _split(
    groups: Iterable[Sequence[str]], texts: Mapping[str, str], key: Callable[[str], Hashable]
) -> list[list[str]]:
    """The groups of two or more in which the texts have the same key."""
    found: list[list[str]] = []
    for group in groups:
        parts: dict[Hashable, list[str]] = {}
        for own in group:
            parts.setdefault(key(texts[own]), []).append(own)
        found += [part for part in parts.values() if len(part) > 1]
    return found


def _end(text: str) -> str:
    """The last words: the same for two texts that `normalise` makes equal, as is what follows."""
    words = text[-REACH:].rsplit(None, ENDS)
    words = words if len(words) > ENDS else text.rsplit(None, ENDS)
    return _composed(" ".join(words[-ENDS:]))


def _start(text: str) -> str:
    """The first words."""
    words = text[:REACH].split(None, ENDS)
    words = words if len(words) > ENDS else text.split(None, ENDS)
    return _composed(" ".join(words[:ENDS]))


def _composed(text: str) -> str:
    return text if text.isascii() else normalize("NFC", text)


def normalise(text: str) -> str:
    r"""The text in NFC, white space folded, trimmed; doing it twice changes nothing.

    >>> normalise("  two\n\n words\t")
    'two words'
    """
    return " ".join(_composed(text).split())
