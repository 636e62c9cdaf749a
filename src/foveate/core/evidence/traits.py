"""What speaks for a unit and against it, each trait a number for every unit of the pool."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, log, log1p
from typing import TypeAlias

from foveate.core.evidence.bridge import bridges
from foveate.core.evidence.pool import Pool, rarity, saturated, standard

Trait: TypeAlias = Sequence[float]


def traits(pool: Pool) -> dict[str, Trait]:
    """All traits by name; each has a value for every unit of the pool, mostly from 0 to 1.

    `match`: BM25 over units, best 1. `said`: share of the query that the unit holds. `titled`:
    share that only its title adds. `around`: share that it holds with its neighbours and title.
    `beside`: the better neighbour's share. `named`: share of the title that is asked for. `lead`:
    first of its document. `chunk`: BM25 of its chunk, best 1. `peak`: the best `match` in its
    passage. `score`: its chunk's as retrieved, in standard deviations over the mean. `place`: log
    of 1 and the chunk's rank. `length`, `bulk`: log of characters, its own and its passage's.
    `open`: ends without a stop. `bridge`: a good sentence elsewhere names its document.
    """
    most = max(pool.bm25, default=0.0) or 1.0
    found: dict[str, Trait] = {"match": [score / most for score in pool.bm25]}
    found |= _shares(pool)
    found |= _titles(pool)
    found |= _chunks(pool)
    found["length"] = [log(max(b - a, 1)) for p in pool.passages for a, b in p.indexed.units.spans]
    found["bulk"] = [
        log(max(len(p.candidate.text), 1)) for p in pool.passages for _ in p.indexed.lengths
    ]
    found["peak"] = _peaks(pool, found["match"])
    found["open"] = [float(not closed) for p in pool.passages for closed in p.indexed.closed]
    whole = [s + t for s, t in zip(found["said"], found["titled"], strict=True)]
    found["bridge"] = bridges(pool, _promise(pool, whole, found["score"]))
    found["score"] = [max(score, 0.0) for score in found["score"]]
    return found


def _peaks(pool: Pool, match: Trait) -> Trait:
    """The best match of the passage, for each of its units."""
    peaks: list[float] = []
    for p in pool.passages:
        n = len(p.indexed.lengths)
        peaks += [max(match[p.first : p.first + n], default=0.0)] * n
    return peaks


def _shares(pool: Pool) -> dict[str, Trait]:
    """Shares of the query: the unit's own, its title's, its neighbours'."""
    said, titled, around, beside = [], [], [], []
    share, held = pool.share, pool.held
    for p in pool.passages:
        last = p.first + len(p.indexed.lengths) - 1
        for u in range(p.first, last + 1):
            own, title = held[u], p.held
            before = held[u - 1] if u > p.first else 0
            after = held[u + 1] if u < last else 0
            said.append(share(own))
            titled.append(share(title & ~own))
            around.append(share(own | title | before | after))
            nearest = (
                share(before | title) if u > p.first else 0.0,
                share(after | title) if u < last else 0.0,
            )
            beside.append(max(nearest))
    return {"said": said, "titled": titled, "around": around, "beside": beside}


def _titles(pool: Pool) -> dict[str, Trait]:
    """How much of the title is asked for, and whether a unit opens its document."""
    named, lead = [], []
    known: dict[tuple[str, ...], float] = {}
    for p in pool.passages:
        if p.title not in known:
            rare = [(rarity(pool.holders(t), pool.units), t in pool.terms) for t in p.title]
            total = fsum(r for r, _ in rare) or 1.0
            known[p.title] = fsum(r for r, asked in rare if asked) / total
        n = len(p.indexed.lengths)
        named += [known[p.title]] * n
        lead += [float(p.candidate.chunk.start == 0), *[0.0] * (n - 1)][:n]
    return {"named": named, "lead": lead}


def _chunks(pool: Pool) -> dict[str, Trait]:
    """What is known of the chunk that a unit comes from."""
    scores = standard(pool.scores)
    order = sorted(range(len(scores)), key=lambda c: (-pool.scores[c], c))
    place = [0.0] * len(scores)
    for n, c in enumerate(order):
        place[c] = log1p(n)
    match = _chunk_match(pool)
    chunk = [c for p in pool.passages for c in p.parts]
    return {
        "score": [scores[c] for c in chunk],
        "place": [place[c] for c in chunk],
        "chunk": [match[c] for c in chunk],
    }


def _chunk_match(pool: Pool) -> list[float]:
    """BM25 over chunks, their titles counted in; the best is 1."""
    counts = [[0] * len(pool.terms) for _ in pool.chunks]
    lengths = []
    for c, (i, first, last) in enumerate(pool.chunks):
        p = pool.passages[i]
        lengths.append(sum(p.indexed.lengths[first:last]) + len(p.title))
        for t, term in enumerate(pool.terms):
            places = p.indexed.where.get(term, ())
            inside = sum(times for u, times in places if first <= u < last)
            counts[c][t] = inside + (p.held >> t & 1)
    n = len(counts)
    mean = sum(lengths) / n if n else 1.0
    found = [0.0] * n
    for t in range(len(pool.terms)):
        rare = rarity(sum(row[t] > 0 for row in counts), n)
        for c, row in enumerate(counts):
            if row[t]:
                found[c] += rare * saturated(row[t], lengths[c], mean)
    most = max(found, default=0.0) or 1.0
    return [score / most for score in found]


def _promise(pool: Pool, share: Trait, score: Trait) -> list[float]:
    """A first guess at which units are good: by BM25, by share and by score, alike."""
    columns = (standard(pool.bm25), standard(share), score)
    return [b + s + 0.5 * z for b, s, z in zip(*columns, strict=True)]
