"""What speaks for a unit and against it, each trait a number for every unit of the pool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from math import fsum, log, log1p
from operator import add, or_, xor
from typing import TypeAlias

from foveate.core.evidence.bridge import bridges
from foveate.core.evidence.pool import Pool, rarity, standard

Trait: TypeAlias = Sequence[float]


def traits(pool: Pool) -> dict[str, Trait]:
    """All traits by name; each has a value for every unit of the pool, mostly from 0 to 1.

    `match`: BM25 over units, best 1. `said`: share of the query that the unit holds. `titled`:
    share that only its title adds. `around`: share that it holds with its neighbours and title.
    `beside`: the better neighbour's share. `named`: share of the title that is asked for. `lead`:
    first of its document. `peak`: the best `match` in its passage. `score`: its chunk's as
    retrieved, in standard deviations over the mean. `place`: log of 1 and the chunk's rank.
    `length`, `bulk`: log of characters, its own and its passage's. `bridge`: a good sentence
    elsewhere names its document.
    """
    most = max(pool.bm25, default=0.0) or 1.0
    found: dict[str, Trait] = {"match": [score / most for score in pool.bm25]}
    found |= _shares(pool)
    found |= _titles(pool)
    found |= _chunks(pool)
    found |= _sizes(pool)
    found["peak"] = _peaks(pool, found["match"])
    whole = list(map(add, found["said"], found["titled"]))
    found["bridge"] = bridges(pool, _promise(pool, whole, found["score"]))
    found["score"] = [max(score, 0.0) for score in found["score"]]
    return found


def _sizes(pool: Pool) -> dict[str, Trait]:
    """How long the unit and its passage are."""
    length: list[float] = []
    bulk: list[float] = []
    for p in pool.passages:
        length += p.indexed.sizes
        bulk += [log(len(p.candidate.chunk.text) or 1)] * len(p.indexed.sizes)
    return {"length": length, "bulk": bulk}


def _peaks(pool: Pool, match: Trait) -> Trait:
    """The best match of the passage, for each of its units."""
    peaks: list[float] = []
    for p in pool.passages:
        n = len(p.indexed.lengths)
        peaks += [max(match[p.first : p.first + n], default=0.0)] * n
    return peaks


def _shares(pool: Pool) -> dict[str, Trait]:
    """Shares of the query: the unit's own, its title's, its neighbours'."""
    title: list[int] = []
    before: list[int] = []  # what the neighbour holds, with the title; nothing where there is none
    after: list[int] = []
    for p in pool.passages:
        n = len(p.indexed.lengths)
        held = [own | p.held for own in pool.held[p.first : p.first + n]]
        title += [p.held] * n
        before += [0, *held][:n]
        after += [*held[1:], 0][:n]
    own = list(map(or_, pool.held, title))
    around = map(or_, own, map(or_, before, after))
    return {
        "said": _shared(pool, pool.held),
        "titled": _shared(pool, map(xor, own, pool.held)),
        "around": _shared(pool, around),
        "beside": list(map(max, _shared(pool, before), _shared(pool, after))),
    }


def _shared(pool: Pool, held: Iterable[int]) -> list[float]:
    """The shares of these bits; most are there many times."""
    codes = list(held)
    known = {code: pool.share(code) for code in dict.fromkeys(codes)}
    return list(map(known.__getitem__, codes))


def _titles(pool: Pool) -> dict[str, Trait]:
    """How much of the title is asked for, and whether a unit opens its document."""
    named: list[float] = []
    lead: list[float] = []
    asked = dict.fromkeys([p.title for p in pool.passages if p.held])
    pool.count(chain.from_iterable(asked))
    known = {title: _asked(pool, title) for title in asked}
    for p in pool.passages:
        n = len(p.indexed.lengths)
        named += [known[p.title] if p.held else 0.0] * n
        lead += [float(p.candidate.chunk.start == 0), *[0.0] * (n - 1)][:n]
    return {"named": named, "lead": lead}


def _asked(pool: Pool, title: tuple[str, ...]) -> float:
    """The share of the title that is asked for, the rarer terms more."""
    rare = [(rarity(pool.holders[t], pool.units), t in pool.terms) for t in title]
    return fsum([r for r, asked in rare if asked]) / (fsum([r for r, _ in rare]) or 1.0)


def _chunks(pool: Pool) -> dict[str, Trait]:
    """What is known of the chunk that a unit comes from."""
    scores = standard(pool.scores)
    order = sorted(range(len(scores)), key=lambda c: (-pool.scores[c], c))
    place = [0.0] * len(scores)
    for n, c in enumerate(order):
        place[c] = log1p(n)
    chunk = [c for p in pool.passages for c in p.parts]
    return {
        "score": [scores[c] for c in chunk],
        "place": [place[c] for c in chunk],
    }


def _promise(pool: Pool, share: Trait, score: Trait) -> list[float]:
    """A first guess at which units are good: by BM25, by share and by score, alike."""
    columns = (standard(pool.bm25), standard(share), score)
    return [b + s + 0.5 * z for b, s, z in zip(*columns, strict=True)]
