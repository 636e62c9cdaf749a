"""Checks an answer's quotations: verbatim in a source, stitched together, or altered.

White space, case, the shape of quotation marks and dashes do not count; an ellipsis stands for an
omission between two parts in order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from foveate.core.bounded_cache import BoundedCache
from foveate.core.types import Span

MIN_QUOTED_WORDS = 3
"""Words; shorter quotations are names and terms, which need not be anyone's words."""

QuotationVerdict: TypeAlias = Literal["verbatim", "stitched", "altered"]

_QUOTATION_PATTERN = re.compile(
    r"(?<!\d)[\"“„”]([^\"“„”\n]{1,2000})[\"“”]|«\s*([^«»\n]{1,2000}?)\s*»|(?<!\w)[‘‚]([^‘’\n]{1,2000})[’‘](?!\w)"
)
_ELLIPSIS_PATTERN = re.compile(r"\s*(?:\[\s*(?:…|\.\.\.)\s*\]|\(\s*(?:…|\.\.\.)\s*\)|…|\.\.\.)\s*")
_PLAIN_PUNCTUATION = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "–": "-", "—": "-"}
)
_FOLDED: BoundedCache[str, str] = BoundedCache(6_000_000)
_EDGE_CHARACTERS = " \t\n.,;:!?…\"'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """A quotation in an answer. `stitched`: its parts are there, but not together in that order."""

    text: str
    span: Span
    verdict: QuotationVerdict


def check_quotations(sentence: str, start: int, grounds: Sequence[str]) -> tuple[Quotation, ...]:
    """The quotations of a sentence that begins at `start`, held against the cited texts."""
    plain = [_fold_text(text) for text in grounds]
    found = []
    for quoted in _QUOTATION_PATTERN.finditer(sentence):
        words = next(group for group in quoted.groups() if group is not None)
        if len(words.split()) >= MIN_QUOTED_WORDS:
            at = (start + quoted.start(), start + quoted.end())
            found.append(Quotation(text=words, span=at, verdict=_quotation_verdict(words, plain)))
    return tuple(found)


def _quotation_verdict(words: str, grounds: Sequence[str]) -> QuotationVerdict:
    parts = [
        part
        for piece in _ELLIPSIS_PATTERN.split(words)
        if (part := _fold_text(piece).strip(_EDGE_CHARACTERS))
    ]
    if any(_has_parts_in_order(parts, text) for text in grounds):
        return "verbatim"
    halves = parts if len(parts) > 1 else _split_into_matches(parts[0] if parts else "", grounds)
    if len(halves) > 1 and all(any(half in text for text in grounds) for half in halves):
        return "stitched"
    return "altered"


def _has_parts_in_order(parts: Sequence[str], text: str) -> bool:
    at = 0
    for part in parts:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return bool(parts)


def _split_into_matches(words: str, grounds: Sequence[str]) -> list[str]:
    """Runs of at least `MIN_QUOTED_WORDS` words that the texts hold, each as long as can be."""
    rest, found = words.split(), []
    while rest:
        run, size = "", MIN_QUOTED_WORDS  # if so many words are not together, no more are
        while size <= len(rest) and any((more := " ".join(rest[:size])) in t for t in grounds):
            run, size = more, size + 1
        if not run:
            return []
        found.append(run)
        rest = rest[size - 1 :]
    return found


def _fold_text(text: str) -> str:
    known = _FOLDED.get(text)
    if known is None:
        known = " ".join(text.translate(_PLAIN_PUNCTUATION).casefold().split())
        _FOLDED.put(text, known)
    return known
