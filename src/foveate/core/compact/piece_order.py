"""Which pieces of a tool result are shown first.

Those with an identifier that is asked for, then the few that have most of the question's rare
words, then errors, each of its kind once, then the head and the end, then what matches at all. What
stands in the entry of a log, such as a traceback, comes with its entry, its exception first; a
sentence that goes on with the one before comes with that.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from foveate.core.compact.values import value_form
from foveate.core.stages.compress.features import BEFORE_FIRST, COMMON_IDENTIFIER, FEW_HOLDERS
from foveate.core.stages.compress.score import LOGS
from foveate.core.stages.compress.table import rarity
from foveate.core.text.shapes.shape import Shape
from foveate.core.text.terms import document_terms, keys, query_terms
from foveate.core.text.words import identifier_pattern, query_identifiers
from foveate.core.types import Span

MOST_CLUES = 40
"""Words of the question and of the call's arguments by which pieces are weighed."""
TELLING = 0.5
"""Of the best piece's weight; few pieces with so much are what is asked for."""
OF_ENTRY = 0.5
"""What a line of an entry is worth beside it; the exception three quarters."""
ASKED, MATCHED, ERROR, END, REST = range(5)
_ERROR = re.compile(
    r"(?i)(?:\b(?:traceback|failed|failure|fatal|denied|refused)|error|exception)\b"
)


class Pieces(NamedTuple):
    """What of a text may be shown apart, which piece each leans on, and the shapes that it has."""

    spans: list[Span]
    leans: list[int]
    shapes: Sequence[Shape] = ()


def rank_pieces(text: str, pieces: Pieces, clues: str) -> list[int]:
    """The places of the pieces, the most wanted first."""
    spans = pieces.spans
    size = len(spans)
    few = max(FEW_HOLDERS, COMMON_IDENTIFIER * size)
    asked = identified_pieces(text, spans, clues, few)
    match = matching_words(text, spans, clues)
    best = max(match, default=0.0)
    strong = [n for n in range(size) if best and match[n] >= TELLING * best]
    tiers = [REST] * size
    for n in (0, size - 1) if size else ():
        tiers[n] = END
    forms = set[str]()
    for n, span in enumerate(spans):
        if _ERROR.search(text, *span) and (form := value_form(text[slice(*span)])) not in forms:
            forms.add(form)
            tiers[n] = ERROR
    for n in strong if len(strong) <= few else ():
        tiers[n] = MATCHED
    for n in asked:
        tiers[n] = ASKED
    worth = [asked[n] + (match[n] / best if best else 0.0) for n in range(size)]
    behind = ((n, n - 1, OF_ENTRY) for n, lean in enumerate(pieces.leans) if n and lean == n - 1)
    for n, entry, share in (*behind, *_lines_of_entries(pieces)):
        tiers[n] = min(tiers[n], tiers[entry] if tiers[entry] != END else REST)
        worth[n] = max(worth[n], share * worth[entry])
    lengths = [max(b - a, 1) for a, b in spans]
    dense = [w / length for w, length in zip(worth, lengths, strict=True)]
    return sorted(
        range(size), key=lambda n: (tiers[n], -(worth if tiers[n] < ERROR else dense)[n], n)
    )


def identified_pieces(text: str, spans: Sequence[Span], clues: str, few: float) -> Counter[int]:
    """Pieces with identifiers of the clues that not many have: how many; twice for one in front."""
    found = Counter[int]()
    starts = [a for a, _ in spans]
    for word in query_identifiers(clues)[:MOST_CLUES]:
        holders: dict[int, int] = {}
        for match in identifier_pattern([word]).finditer(text):
            n = max(bisect_right(starts, match.start()) - 1, 0)
            first = BEFORE_FIRST.fullmatch(text, starts[n], match.start()) is not None
            holders.setdefault(n, 1 + first)
        if len(holders) <= few:
            found.update(holders)
    return found


def matching_words(text: str, spans: Sequence[Span], clues: str) -> list[float]:
    """How rare the words are that each piece has of the clues, added up."""
    terms = frozenset(keys(query_terms(clues)[:MOST_CLUES]))
    held = [terms.intersection(keys(document_terms(text[a:b]))) for a, b in spans]
    holders = Counter(term for own in held for term in own)
    rare = {term: rarity(number, len(spans)) for term, number in holders.items()}
    return [sum(rare[term] for term in sorted(own)) for own in held]


def _lines_of_entries(pieces: Pieces) -> Iterator[tuple[int, int, float]]:
    """Of logs and tracebacks, the lines that lean on another, the entry, and their share of it."""
    starts = [a for a, _ in pieces.spans]
    for shape in pieces.shapes:
        if shape.name in LOGS:
            for n, lean in enumerate(shape.leans):
                if lean != n:
                    entry = lean if shape.leans[lean] == lean else shape.leans[lean]
                    is_exception = entry != lean or shape.name == "traceback"
                    own, of = (bisect_left(starts, shape.spans[one][0]) for one in (n, entry))
                    yield own, of, OF_ENTRY + is_exception / 4
