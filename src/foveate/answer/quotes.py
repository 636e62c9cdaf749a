"""Checks an answer's quotations: verbatim in a source, or altered.

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

QuotationVerdict: TypeAlias = Literal["verbatim", "altered"]

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
    """A quotation in an answer."""

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
    there = any(_has_parts_in_order(parts, text) for text in grounds)
    return "verbatim" if there else "altered"


def _has_parts_in_order(parts: Sequence[str], text: str) -> bool:
    at = 0
    for part in parts:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return bool(parts)


def _fold_text(text: str) -> str:
    known = _FOLDED.get(text)
    if known is None:
        known = " ".join(text.translate(_PLAIN_PUNCTUATION).casefold().split())
        _FOLDED.put(text, known)
    return known
