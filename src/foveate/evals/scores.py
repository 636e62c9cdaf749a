"""The cases with the scores that another retriever would have given.

    given     the scores of the file
    oracle    gold chunks 0.99, all others at most 0.30, in their given order
    noisy:P   like oracle in the share P of the questions, drawn by their ids; in the others,
              as many chunks that are not gold get 0.99
    cosine    the similarity of an embedder's vectors
    rrf       1 / (60 + rank), of the given order and of cosine, added
    none      no scores: the list, best first, as `assemble` takes it

Each set is named after its variant: `farm (oracle)`. Of `given`, it keeps its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from foveate.core.errors import BadOption, UnknownName
from foveate.core.manifest import digest
from foveate.core.scores import score_of_place
from foveate.evals.cases import Case
from foveate.ports import Embedder

GIVEN = "given"
GOLD_SCORE, OTHER_SCORE = 0.99, 0.30
"""Of the chunks that are set apart, and the most that another one gets."""

_LABEL = re.compile(r" \((oracle|noisy:[\d.e-]+|cosine|rrf|none)\)\Z")


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
    others = [i for i in range(len(case.chunks)) if i not in gold]
    others.sort(key=lambda i: digest(f"{seed}/{case.chunks[i].id}"))
    return _set_apart(case, name, set(others[: max(len(gold), 1)]) or gold)


def cosine(case: Case, embedder: Embedder) -> Case:
    """The similarity of the question's vector and each chunk's, title included."""
    return _rescore(case, "cosine", _cosines(case, embedder))


def rrf(case: Case, embedder: Embedder) -> Case:
    """Reciprocal rank fusion of the given order and of `cosine`."""
    ranks = (_ranks([chunk.score for chunk in case.chunks]), _ranks(_cosines(case, embedder)))
    return _rescore(
        case, "rrf", [score_of_place(a) + score_of_place(b) for a, b in zip(*ranks, strict=True)]
    )


def none(case: Case) -> Case:
    """A list without scores, best first: its order is the score, as in `assemble`."""
    ranks = _ranks([chunk.score for chunk in case.chunks])
    return _rescore(case, "none", [score_of_place(rank) for rank in ranks])


def split_label(dataset: str) -> tuple[str, str]:
    """The set's own name and the variant of its scores.

    >>> split_label("farm (noisy:0.6)"), split_label("farm")
    (('farm', 'noisy:0.6'), ('farm', 'given'))
    """
    found = _LABEL.search(dataset)
    return (dataset[: found.start()], found[1]) if found else (dataset, GIVEN)


def rescore_cases(
    cases: Sequence[Case], names: Sequence[str], load_embedder: Callable[[], Embedder]
) -> tuple[Case, ...]:
    """All cases with the scores of each variant, one variant after the other.

    `load_embedder` is called if a variant compares vectors. Raises `BadOption` or `UnknownName`.
    """
    if not names or len(set(names)) != len(names):
        raise BadOption(f"--scores: {', '.join(names)!r}; name each variant once")
    embedder = load_embedder() if {"cosine", "rrf"} & set(names) else None
    variants = [_parse_variant(name, embedder) for name in names]
    needs_gold = any(name == "oracle" or name.startswith("noisy:") for name in names)
    if needs_gold and not any(map(_gold, cases)):
        raise BadOption(
            "--scores: no chunk of any case is marked as gold; set `is_gold` of the chunks, or "
            "`chunk_ids` of the evidence"
        )
    return tuple(variant(case) for variant in variants for case in cases)


def _parse_variant(name: str, embedder: Embedder | None) -> Callable[[Case], Case]:
    if name.startswith("noisy:"):
        return partial(noisy, share=_parse_share(name))
    if embedder is not None and name in {"cosine", "rrf"}:
        return partial(cosine if name == "cosine" else rrf, embedder=embedder)
    plain = {GIVEN: lambda case: case, "oracle": oracle, "none": none}
    if name not in plain:
        raise UnknownName("score variant", name, (*plain, "cosine", "rrf", "noisy:0.6"))
    return plain[name]


def _parse_share(name: str) -> float:
    try:
        share = float(name.removeprefix("noisy:"))
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise BadOption(f"--scores: {name!r}: the share of right questions is between 0 and 1")
    return share


def _gold(case: Case) -> set[int]:
    """The positions of the chunks that hold evidence."""
    ids = {name for unit in case.evidence for name in unit.chunk_ids}
    return {i for i, chunk in enumerate(case.chunks) if chunk.is_gold or chunk.id in ids}


def _set_apart(case: Case, name: str, first: set[int]) -> Case:
    ranks = _ranks([chunk.score for chunk in case.chunks])
    count = len(ranks)
    return _rescore(
        case,
        name,
        [
            GOLD_SCORE if i in first else OTHER_SCORE * (1 - (rank - 1) / count)
            for i, rank in enumerate(ranks)
        ],
    )


def _rescore(case: Case, name: str, scores: Sequence[float]) -> Case:
    """The case with these scores, its best chunk first, under the variant's name."""
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    return replace(
        case,
        dataset=f"{case.dataset} ({name})",
        chunks=tuple(replace(case.chunks[i], score=scores[i]) for i in order),
    )


def _ranks(scores: Sequence[float]) -> list[int]:
    """The place of each score, counted from 1; equal ones in their order."""
    found = [0] * len(scores)
    for place, i in enumerate(sorted(range(len(scores)), key=lambda i: -scores[i]), 1):
        found[i] = place
    return found


def _cosines(case: Case, embedder: Embedder) -> list[float]:
    texts = [f"{chunk.title}. {chunk.text}" if chunk.title else chunk.text for chunk in case.chunks]
    vectors = np.asarray(embedder.embed([case.question, *texts]), dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = vectors / np.where(lengths > 0, lengths, 1.0)
    return [round(float(value), 6) for value in vectors[1:] @ vectors[0]]
