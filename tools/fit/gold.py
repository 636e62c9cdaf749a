"""How much of the evidence each sentence holds, by the definition of `foveate.evals.measures`.

A word of the evidence is found where it stands inside a run of words that both texts have. The
runs are looked for in the whole passage, so that one that goes on into the next sentence counts,
and each sentence is credited with the words that stand in it. A word that several sentences hold,
as where chunks overlap, is shared among them: whichever is chosen, it is found once.
"""

from __future__ import annotations

from collections.abc import Sequence

from foveate.evals.measures import RUN_LENGTH, WordRun, split_words, word_runs

Held = list[set[int]]
"""For each sentence, which words of the evidence it holds, by their places."""


def held(sentences: Sequence[str], evidence: str) -> Held:
    """What each sentence of one passage holds of one piece of evidence."""
    looked_for = split_words(evidence)
    length = min(RUN_LENGTH, len(looked_for))
    if not length:
        return [set() for _ in sentences]
    places: dict[WordRun, list[int]] = {}
    for at, run in enumerate(word_runs(looked_for, length)):
        places.setdefault(run, []).append(at)
    row: list[str] = []
    owner: list[int] = []
    for number, sentence in enumerate(sentences):
        found = split_words(sentence)
        row += found
        owner += [number] * len(found)
    kept: Held = [set() for _ in sentences]
    for start, run in enumerate(word_runs(row, length)):
        for at in places.get(run, ()):
            for step in range(length):
                kept[owner[start + step]].add(at + step)
    return kept


def gold(passages: Sequence[Sequence[str]], evidence: Sequence[str]) -> list[float]:
    """The share of the evidence that each sentence holds, passage by passage.

    The sum is the evidence recall of all passages joined, but for runs that cross two of them.

    >>> gold([["The well is deep.", "It holds nine metres of water."]], ["nine metres of water"])
    [0.0, 1.0]
    """
    total = [0.0] * sum(map(len, passages))
    for piece in evidence:
        kept = [places for sentences in passages for places in held(sentences, piece)]
        holders: dict[int, int] = {}
        for places in kept:
            for at in places:
                holders[at] = holders.get(at, 0) + 1
        share = 1 / (max(len(split_words(piece)), 1) * len(evidence))
        for number, places in enumerate(kept):
            total[number] += share * sum(1 / holders[at] for at in sorted(places))
    return total
