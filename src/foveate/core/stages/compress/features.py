"""What speaks for a unit and against it, each trait a number for every unit of the pool."""

from __future__ import annotations

from itertools import chain
from math import fsum, log, log1p
from typing import TYPE_CHECKING

from foveate.core.stages.compress.title_links import score_title_links
from foveate.core.stages.compress.unit_pool import Pool, bm25, rarity, standard

if TYPE_CHECKING:
    from foveate.core.stages.compress.unit_pool import Numbers


def compute_features(pool: Pool) -> dict[str, Numbers]:
    """All traits by name; each has a value for every unit of the pool, mostly from 0 to 1.

    `match`: BM25 over units, best 1. `said`: share of the query that the unit holds. `titled`:
    share that only its title adds. `around`: share that it holds with its neighbours and title.
    `beside`: the better neighbour's share. `named`: share of the title that is asked for. `lead`:
    first of its document. `peak`: the best `match` in its passage. `score`: its chunk's as
    retrieved, in standard deviations over the mean. `place`: log of 1 and the chunk's rank.
    `length`, `bulk`: log of characters, its own and its passage's. `bridge`: a good sentence
    elsewhere names its document.
    """
    matched = bm25(pool)
    match = matched / (matched.max(initial=0.0) or 1.0)
    found = {"match": match, "peak": _best_matches(pool, match)}
    found |= _shares(pool) | _titles(pool) | _chunks(pool) | _sizes(pool)
    score = found["score"]
    # a first guess at which units are good: by BM25, by share and by score, alike
    promise = standard(matched) + standard(found["said"] + found["titled"]) + 0.5 * score
    found["bridge"] = score_title_links(pool, promise)
    found["score"] = score.clip(min=0.0)
    return found


def _sizes(pool: Pool) -> dict[str, Numbers]:
    """How long the unit and its passage are."""
    import numpy as np

    return {
        "length": np.array([log(b - a) for p in pool.passages for a, b in p.units.spans]),
        "bulk": pool.each([log(len(p.candidate.chunk.text) or 1) for p in pool.passages]),
    }


def _best_matches(pool: Pool, match: Numbers) -> Numbers:
    """The best match of the passage, for each of its units."""
    import numpy as np

    firsts = [p.first for p in pool.passages if p.units.spans]
    if not firsts:
        return match
    return np.repeat(np.maximum.reduceat(match, firsts), pool.lengths[pool.lengths > 0])


def _shares(pool: Pool) -> dict[str, Numbers]:
    """Shares of the query: the unit's own, its title's, its neighbours' (with the title)."""
    import numpy as np

    said, titled, around, before, after = np.zeros((5, pool.units))
    first = np.zeros(pool.units, dtype=np.bool_)
    first[[p.first for p in pool.passages if p.units.spans]] = True
    inside = ~first[1:]  # by unit from the second: has one before it
    for t, rare in enumerate(pool.rarity):
        title = pool.each([p.held >> t & 1 for p in pool.passages]) > 0
        held = np.zeros(pool.units, dtype=np.bool_)
        held[pool.places[t][0]] = True
        own = held | title
        left, right = own[:-1] & inside, own[1:] & inside
        said += rare * held
        titled += rare * (own & ~held)
        before[1:] += rare * left
        after[:-1] += rare * right
        own[1:] |= left
        own[:-1] |= right
        around += rare * own
    total = sum(pool.rarity) or 1.0
    return {
        "said": said / total,
        "titled": titled / total,
        "around": around / total,
        "beside": np.maximum(before, after) / total,
    }


def _titles(pool: Pool) -> dict[str, Numbers]:
    """How much of the title is asked for, and whether a unit opens its document."""
    import numpy as np

    asked = dict.fromkeys([p.title for p in pool.passages if p.held])
    pool.count(chain.from_iterable(asked))
    known = {title: _query_share(pool, title) for title in asked}
    lead = np.zeros(pool.units)
    lead[[p.first for p in pool.passages if p.parts and p.candidate.chunk.start == 0]] = 1.0
    return {"named": pool.each([known.get(p.title, 0.0) for p in pool.passages]), "lead": lead}


def _query_share(pool: Pool, title: tuple[str, ...]) -> float:
    """The share of the title that is asked for, the rarer terms more."""
    rare = [(rarity(pool.holders[t], pool.units), t in pool.terms) for t in title]
    return fsum([r for r, asked in rare if asked]) / (fsum([r for r, _ in rare]) or 1.0)


def _chunks(pool: Pool) -> dict[str, Numbers]:
    """What is known of the chunk that a unit comes from."""
    import numpy as np

    place = np.empty(len(pool.scores))
    place[np.argsort(-np.array(pool.scores), kind="stable")] = [*map(log1p, range(len(place)))]
    chunk = np.array([c for p in pool.passages for c in p.parts], dtype=np.int64)
    return {"score": standard(pool.scores)[chunk], "place": place[chunk]}
