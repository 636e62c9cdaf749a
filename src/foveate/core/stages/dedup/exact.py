"""Exact duplicates: of texts that are equal after white space is folded, the best-ranked stays."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args
from unicodedata import normalize

from foveate.core.errors import BadOption
from foveate.core.request import Request
from foveate.core.stages.dedup.merge_sources import Copy, merge_sources
from foveate.core.text.profile import text_profile
from foveate.core.types import Candidate, Step, content_hash, rank

Key = Literal["normalised", "verbatim"]


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
    if key == "normalised":
        pairs = zip(keys, candidates, strict=True)
        keys = [text_profile(own).normal or _normal(c) for own, c in pairs]
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


def _normal(candidate: Candidate) -> str:
    """The content hash of the normalised text, which the text's profile keeps."""
    chunk = candidate.chunk
    text = normalise(chunk.text)
    own = chunk.content_hash if text == chunk.text else content_hash(text)
    known = text_profile(chunk.content_hash)
    known.normal, known.changed = own, True
    return own


def normalise(text: str) -> str:
    r"""The text in NFC, white space folded, trimmed; doing it twice changes nothing.

    >>> normalise("  two\n\n words\t")
    'two words'
    """
    if not text.isascii():
        text = normalize("NFC", text)
    return " ".join(text.split())
