"""Quotations of an answer, held against what it cites: word for word, put together, or not there.

White space, case at the ends, the shape of quotation marks and dashes do not count; an ellipsis,
also in brackets, stands for what was left out between two parts, which must come in that order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from foveate.core.types import Span

LEAST = 3
"""Words; shorter quotations are names and terms, which need not be anyone's words."""

Verdict: TypeAlias = Literal["verbatim", "stitched", "altered"]

_QUOTED = re.compile(
    r"(?<!\d)[\"“„”]([^\"“„”\n]{1,2000})[\"“”]|«\s*([^«»\n]{1,2000}?)\s*»|(?<!\w)[‘‚]([^‘’\n]{1,2000})[’‘](?!\w)"
)
_GAP = re.compile(r"\s*(?:\[\s*(?:…|\.\.\.)\s*\]|\(\s*(?:…|\.\.\.)\s*\)|…|\.\.\.)\s*")
_PLAIN = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "–": "-", "—": "-"})
_ENDS = " \t\n.,;:!?…\"'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """A quotation in an answer. `stitched`: its parts are there, but not together in that order."""

    text: str
    span: Span
    verdict: Verdict


def quotations(sentence: str, start: int, grounds: Sequence[str]) -> tuple[Quotation, ...]:
    """The quotations of a sentence that begins at `start`, held against the cited texts."""
    plain = [_folded(text) for text in grounds]
    found = []
    for quoted in _QUOTED.finditer(sentence):
        words = next(group for group in quoted.groups() if group is not None)
        if len(words.split()) >= LEAST:
            at = (start + quoted.start(), start + quoted.end())
            found.append(Quotation(text=words, span=at, verdict=_verdict(words, plain)))
    return tuple(found)


def _verdict(words: str, grounds: Sequence[str]) -> Verdict:
    parts = [part for piece in _GAP.split(words) if (part := _folded(piece).strip(_ENDS))]
    if any(_in_order(parts, text) for text in grounds):
        return "verbatim"
    halves = parts if len(parts) > 1 else _split(parts[0] if parts else "", grounds)
    if len(halves) > 1 and all(any(half in text for text in grounds) for half in halves):
        return "stitched"
    return "altered"


def _in_order(parts: Sequence[str], text: str) -> bool:
    at = 0
    for part in parts:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return bool(parts)


def _split(words: str, grounds: Sequence[str]) -> list[str]:
    """Runs of at least `LEAST` words that stand in the texts, each as long as it goes."""
    rest, found = words.split(), []
    while rest:
        run, size = "", LEAST  # where so many words do not stand together, no more of them do
        while size <= len(rest) and any((more := " ".join(rest[:size])) in t for t in grounds):
            run, size = more, size + 1
        if not run:
            return []
        found.append(run)
        rest = rest[size - 1 :]
    return found


@lru_cache(maxsize=64)
def _folded(text: str) -> str:
    return " ".join(text.translate(_PLAIN).casefold().split())
