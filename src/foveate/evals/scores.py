"""The cases with the scores that another retriever would have given.

    given     the scores of the file
    oracle    gold chunks 0.99, all others at most 0.30, in their given order
    noisy:P   like oracle in the share P of the questions, drawn by their ids; in the others,
              as many chunks that are not gold get 0.99
    none      no scores: the list, best first, as `assemble` takes it

Each set is named after its variant: `farm (oracle)`. Of `given`, it keeps its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from foveate.core.errors import BadOption, UnknownName
from foveate.core.manifest import digest
from foveate.core.scores import score_of_place
from foveate.evals.cases import Case

GIVEN = "given"
GOLD_SCORE, OTHER_SCORE = 0.99, 0.30
"""Of the chunks that are set apart, and the most that another one gets."""

_LABEL = re.compile(r" \((oracle|noisy:[\d.e-]+|none)\)\Z")


def oracle(case: Case) -> Case:
    """A retriever that knows the evidence: gold chunks first, far above all others."""
    return _set_apart(case, "oracle", _gold(case))


def noisy(case: Case, share: float) -> Case:
    """Right like `oracle` in this share of the questions; else as sure of the wrong chunks.

    The ids of set, question and chunks decide, so every run draws the same.
    """
    gold, name = _gold(case), f"noisy:{share:g}"
    seed = f"{case.dataset}/{case.id}"
    if int(digest(seed), 16) < share * 16**32:
        return _set_apart(case, name, gold)
    others = [chunk.id for chunk in case.chunks if chunk.id not in gold]
    others.sort(key=lambda name: digest(f"{seed}/{name}"))
    return _set_apart(case, name, set(others[: max(len(gold), 1)]) or gold)


def none(case: Case) -> Case:
    """A list without scores, best first: its order is the score, as in `assemble`."""
    return _rescore(case, "none", lambda _, place: score_of_place(place))


def split_label(dataset: str) -> tuple[str, str]:
    """The set's own name and the variant of its scores.

    >>> split_label("farm (noisy:0.6)"), split_label("farm")
    (('farm', 'noisy:0.6'), ('farm', 'given'))
    """
    found = _LABEL.search(dataset)
    return (dataset[: found.start()], found[1]) if found else (dataset, GIVEN)


def rescore_cases(cases: Sequence[Case], names: Sequence[str]) -> tuple[Case, ...]:
    """All cases with the scores of each variant, one variant after the other.

    Raises `BadOption` or `UnknownName`.
    """
    if not names or len(set(names)) != len(names):
        raise BadOption(f"--scores: {', '.join(names)!r}; name each variant once")
    variants = [*map(_parse_variant, names)]
    needs_gold = any(name == "oracle" or name.startswith("noisy:") for name in names)
    if needs_gold and not any(map(_gold, cases)):
        raise BadOption(
            "--scores: no chunk of any case is marked as gold; set `is_gold` of the chunks, or "
            "`chunk_ids` of the evidence"
        )
    return tuple(variant(case) for variant in variants for case in cases)


def _parse_variant(name: str) -> Callable[[Case], Case]:
    if name.startswith("noisy:"):
        return partial(noisy, share=_parse_share(name.removeprefix("noisy:")))
    plain = {GIVEN: lambda case: case, "oracle": oracle, "none": none}
    if name not in plain:
        raise UnknownName("score variant", name, (*plain, "noisy:0.6"))
    return plain[name]


def _parse_share(text: str) -> float:
    with suppress(ValueError):
        if 0 <= (share := float(text)) <= 1:
            return share
    raise BadOption(f"--scores: noisy:{text}: the share of right questions is between 0 and 1")


def _gold(case: Case) -> set[str]:
    """The ids of the chunks that hold evidence."""
    ids = {name for unit in case.evidence for name in unit.chunk_ids}
    return {chunk.id for chunk in case.chunks if chunk.is_gold or chunk.id in ids}


def _set_apart(case: Case, name: str, first: set[str]) -> Case:
    def score(name: str, place: int) -> float:
        return GOLD_SCORE if name in first else OTHER_SCORE * (1 - (place - 1) / len(case.chunks))

    return _rescore(case, name, score)


def _rescore(case: Case, name: str, score: Callable[[str, int], float]) -> Case:
    """The case with the scores by ids and places (from 1), best first, under the variant's name."""
    ranked = enumerate(sorted(case.chunks, key=lambda chunk: -chunk.score), 1)
    scored = [replace(chunk, score=score(chunk.id, place)) for place, chunk in ranked]
    return replace(
        case,
        dataset=f"{case.dataset} ({name})",
        chunks=tuple(sorted(scored, key=lambda chunk: -chunk.score)),
    )
