"""What speaks for a unit and against it, each trait a number for every unit of the pool."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import chain, pairwise
from math import frexp, fsum, log, log1p, sqrt
from typing import TYPE_CHECKING

from foveate.core.stages.compress.table import Passage, Table, rarity
from foveate.core.text.terms import document_terms, keys
from foveate.core.text.words import identifier_pattern, query_identifiers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from foveate.core.stages.compress.table import Numbers


K1, B = 1.2, 0.75  # BM25 (Robertson and Zaragoza 2009)
TELLERS = 6  # sentences that are read for names
COMMON = 0.2  # a word in that share of all units, or more, is common
RARE = 3  # a common word names nothing, unless it is in fewer units than that
MOST_OVER = 6.25
"""Standard deviations that a score counts for at most.

No score of 40 is further above their mean, and the weights were fitted to pools of that size. Of
1,000, one may be 31 above it: more than all words together, so that beside it all would be noise.
"""

GAIN = 40.0
"""Log-odds of a unit that holds an identifier of the query: more than all else together."""
FIRST_GAIN = 40.0
"""What a unit gains beside that if it begins with it: a record stands under its own identifier."""
COMMON_IDENTIFIER = 0.2
"""An identifier in that share of all units, and in more than `FEW_HOLDERS`, names none of them."""
FEW_HOLDERS = 8
LONG_NUMBER = 5
"""Digits of a number that is an identifier wherever it stands; a shorter one may be a quantity."""
FEWEST_PLACES = 1
"""A shorter number is an identifier if no more units than that hold it."""
_LINE_ESCAPE = re.compile(r"\\+[ntr]")
BEFORE_FIRST = re.compile(
    r"""[\s#|,;{\[("'-]*+(?:<[^<>]*+>\s*+)*+(?:["']?[\w -]{1,40}["']?\s*+[:=]\s*+)?["']?"""
)
"""What may stand before the first value of a record: marks, tags, and the name of the field."""


def compute_features(table: Table) -> dict[str, Numbers]:
    """All traits by name; each has a value for every unit of the table, mostly from 0 to 1.

    `match`: BM25 over units, best 1. `titled`: share of the query that only its title and heading
    hold. `around`: share that it holds with its neighbours and these. `named`: share of the title
    that is asked for. `lead`: first of its document, and no row. `peak`: the best `match` in its
    passage. `score`: its chunk's as retrieved, in standard deviations over the mean, up to
    `MOST_OVER`. `place`: log of 1 and the chunk's rank. `bulk`: log of its passage's characters.
    `bridge`: a good sentence elsewhere names its document.
    """
    import numpy as np

    matched = bm25(table)
    match = matched / (matched.max(initial=0.0) or 1.0)
    best = np.zeros(len(table.passages))
    np.maximum.at(best, table.owners, match)
    over = standard(table.scores).clip(max=MOST_OVER)
    place = np.empty(len(over))
    place[np.argsort(-np.array(table.scores), kind="stable")] = [*map(log1p, range(len(place)))]
    said, titled, around = _shares(table)
    found = {
        "match": match,
        "peak": best[table.owners],
        "titled": titled,
        "around": around,
        **_titles(table),
        "score": over[table.chunks],
        "place": place[table.chunks],
        "bulk": table.each([log(len(p.candidate.chunk.text) or 1) for p in table.passages]),
    }
    # a first guess at which units are good: by BM25, by share and by score, alike
    guess = standard(matched) + standard(said + titled) + 0.5 * found["score"]
    found["bridge"] = score_title_links(table, guess)
    found["score"] = found["score"].clip(min=0.0)
    return found


def bm25(table: Table) -> Numbers:
    """BM25 of every unit (Robertson and Zaragoza 2009)."""
    import numpy as np

    lengths = table.words.sizes
    mean = lengths.sum() / (table.units or 1) or 1.0
    scores = np.zeros(table.units)
    for (units, times), rare in zip(table.places, table.rarity, strict=True):
        # grows ever less with how often it is there, and less in a longer text
        often = times * (K1 + 1) / (times + K1 * (1 - B + B * lengths[units] / mean))
        scores[units] += rare * often
    return scores


def standard(values: Sequence[float] | Numbers) -> Numbers:
    """How many standard deviations each value is from the mean; 0 where all are alike."""
    import numpy as np

    found = np.asarray(values, dtype=np.float64)
    n = len(found)
    most = float(np.abs(found).max(initial=0.0))
    if not most:
        return np.zeros(n)
    found = np.ldexp(found, -frexp(most)[1])  # so that no square is too large
    away = found - fsum(found.tolist()) / n
    spread = sqrt(fsum((away * away).tolist()) / n)
    if spread <= 1e-12:
        return np.zeros(n)
    return away / spread


def _shares(table: Table) -> tuple[Numbers, Numbers, Numbers]:
    """Shares of the query: the unit's own; what its titles add; all these with its neighbours'."""
    import numpy as np

    said, titled, around = np.zeros((3, table.units))
    owners, heading = table.owners, _headings(table)
    inside = owners[1:] == owners[:-1]  # by unit from the second: has one before it
    titles = np.array([p.held > 0 for p in table.passages], dtype=np.bool_)
    for t, rare in enumerate(table.rarity):
        held = np.zeros(table.units, dtype=np.bool_)
        held[table.places[t][0]] = True
        own = held | held[heading]
        if titles.any():
            own |= np.array([p.held >> t & 1 for p in table.passages], dtype=np.bool_)[owners]
        left, right = own[:-1] & inside, own[1:] & inside
        said += rare * held
        titled += rare * (own & ~held)
        own[1:] |= left
        own[:-1] |= right
        around += rare * own
    total = sum(table.rarity) or 1.0
    return said / total, titled / total, around / total


def _headings(table: Table) -> NDArray[np.int64]:
    """By unit, the unit that is the heading of its section; itself where there is none."""
    import numpy as np

    found = np.arange(table.units)
    for p in table.passages:
        for start, end in pairwise((*p.units.headings, len(p.units.spans))):
            found[p.first + start : p.first + end] = p.first + start
    return found


def _titles(table: Table) -> dict[str, Numbers]:
    """How much of the title is asked for, and whether a unit opens its document."""
    import numpy as np

    asked = dict.fromkeys([p.title for p in table.passages if p.held])
    holders = table.count(chain.from_iterable(asked))
    known = dict.fromkeys([p.title for p in table.passages], 0.0)
    for title in asked:
        rare = [(rarity(holders[term], table.units), term in table.terms) for term in title]
        known[title] = fsum([r for r, said in rare if said]) / (fsum([r for r, _ in rare]) or 1.0)
    lead = np.zeros(table.units)
    chunks = [(p.first, p.candidate.chunk) for p in table.passages if p.units.spans]
    lead[[first for first, chunk in chunks if chunk.start == 0 and chunk.row is None]] = 1.0
    return {"named": table.each([known[p.title] for p in table.passages]), "lead": lead}


def score_title_links(table: Table, promise: Numbers) -> Numbers:
    """For each unit, how much of its document's title one of the best other sentences names.

    This is the second hop of a question of two, "which river flows past the birthplace of X?": the
    sentence that says where X was born names a town, and the document with that title has the rest,
    though it holds no word of the question.
    """
    import numpy as np

    named = [0.0] * len(table.passages)
    under: dict[tuple[str, ...], list[int]] = {}
    for i, p in enumerate(table.passages):
        under.setdefault(p.title, []).append(i)
    best = np.argsort(-promise, kind="stable")[:TELLERS]
    tellers = [_read(table, u) for u in best.tolist()]
    said = frozenset().union(*[terms for _, terms in tellers])
    titles = [title for title in under if not said.isdisjoint(title)]
    usual = common_terms(table, frozenset().union(*titles))
    telling = [(title, [t for t in title if t not in usual]) for title in titles]
    for teller, terms in tellers:
        own = teller.candidate.chunk.document_id
        for title, words in telling:
            share = sum([t in terms for t in words]) / (len(words) or 1)
            if not share or title == teller.title:
                continue
            for i in under[title]:
                if table.passages[i].candidate.chunk.document_id != own:
                    named[i] = max(named[i], share)
    return table.each(named)


def common_terms(table: Table, terms: frozenset[str]) -> frozenset[str]:
    """Those of the terms that are asked for, or common in the table."""
    few = max(COMMON * table.units, RARE)
    return frozenset([*table.terms, *(t for t, n in table.count(terms).items() if n >= few)])


def _read(table: Table, u: int) -> tuple[Passage, frozenset[str]]:
    """The passage of unit u, and the terms of the unit."""
    passage = table.passages[table.owners[u]]
    start, end = passage.units.spans[u - passage.first]
    return passage, frozenset(keys(document_terms(passage.candidate.text[start:end])))


def identified(table: Table, query: str) -> Numbers:
    """By unit, what it gains for each identifier it holds (SPEC U2), in log-odds; prose nothing."""
    import numpy as np

    gain = np.zeros(table.units)
    for word in query_identifiers(query):
        holders = [one for passage in table.passages for one in _holders(passage, word)]
        few = FEW_HOLDERS
        if word.isdecimal() and len(word) < LONG_NUMBER:
            few = FEWEST_PLACES
        most = max(few, COMMON_IDENTIFIER * table.units if few == FEW_HOLDERS else 0)
        under_it = {unit for unit, is_first in holders if is_first}
        for units, more in (({unit for unit, _ in holders}, GAIN), (under_it, FIRST_GAIN)):
            if len(units) <= most:
                gain[list(units)] += more
    return gain


def _holders(passage: Passage, word: str) -> list[tuple[int, bool]]:
    """The passage's units, as numbers of the table, that hold the word and are no prose.

    With each, whether it begins with the word.
    """
    text = passage.candidate.chunk.text
    if word not in text and word.casefold() not in text.casefold():
        return []
    if "\\" in text and any(shape.name.startswith("json") for shape in passage.shapes):
        text = _LINE_ESCAPE.sub(lambda escape: " " * len(escape[0]), text)
    units = passage.units
    starts = [a for a, _ in units.spans]
    sentences = list(units.prose)
    if passage.candidate.chunk.row is not None:
        sentences = []  # the row of a table that was written out as a sentence
    openings = [a for a, _ in sentences]
    found: list[tuple[int, bool]] = []
    for match in identifier_pattern([word]).finditer(text):
        at = match.start()
        prose = bisect_right(openings, at) - 1
        if prose < 0 or at >= sentences[prose][1]:
            place = max(bisect_right(starts, at) - 1, 0)
            unit = passage.first + place
            if not found or found[-1][0] != unit:  # only the first in a unit can begin it
                is_first = BEFORE_FIRST.fullmatch(text, starts[place], at) is not None
                found.append((unit, is_first))
    return found
