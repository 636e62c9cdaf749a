"""Builds golden cases from a data set: pools ranked by BM25, gold marked and verified.

A pool is a question's own passages and the best others. A question without a gold passage in its
pool is left out and counted, which favours lexical retrieval. BM25 is Lucene's variant: idf = ln(1
+ (N - df + 0.5) / (df + 0.5)), tf / (tf + k1 (1 - b + b dl / avgdl)), k1 = 1.2, b = 0.75, over the
measures' words.
"""

from __future__ import annotations

import random
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from foveate.core.errors import BadInput, BadOption
from foveate.evals.converters.source import GoldSpan, SourceDataset, SourcePassage, SourceQuestion
from foveate.evals.measures import split_words

K1 = 1.2
B = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Bm25:
    """The postings of an indexed list of texts, and what each text's length does to its score."""

    postings: dict[str, tuple[array[int], array[int]]]
    damping: Any

    def scores(self, query: str) -> Any:
        """One score a text, in the order in which they were indexed."""
        total = len(self.damping)
        found = np.zeros(total)
        for term in sorted(set(split_words(query))):
            if term not in self.postings:
                continue
            places, counts = self.postings[term]
            idf = log(1 + (total - len(places) + 0.5) / (len(places) + 0.5))
            at, tf = np.asarray(places), np.asarray(counts, dtype=float)
            found[at] += idf * tf / (tf + self.damping[at])
        return found


def build_index(texts: Iterable[str]) -> Bm25:
    """Index the texts.

    >>> build_index(["a well", "the deep well", "an owl"]).scores("deep well").argmax()
    np.int64(1)
    """
    postings: dict[str, tuple[array[int], array[int]]] = {}
    lengths = []
    for i, text in enumerate(texts):
        counted = Counter(split_words(text))
        lengths.append(counted.total())
        for term, count in counted.items():
            places, counts = postings.setdefault(term, (array("l"), array("l")))
            places.append(i)
            counts.append(count)
    long = np.array(lengths, dtype=float)
    average = long.mean() if lengths and long.any() else 1.0
    return Bm25(postings=postings, damping=K1 * (1 - B + B * long / average))


def top_indices(scores: Any, count: int) -> list[int]:
    """The indices of the highest positive scores, best first, equal ones in order."""
    some = np.flatnonzero(scores > 0)
    order = np.lexsort((some, -scores[some]))[:count]
    return [int(i) for i in some[order]]


POOL_SIZE = 30
NO_GOLD = "no gold passage among the candidates"


def build_records(
    source: SourceDataset,
    dataset: str,
    *,
    pool: int = POOL_SIZE,
    limit: int | None = None,
    seed: int = 1,
) -> Iterator[dict[str, Any]]:
    """One record a question, in the order of the file.

    `limit`: so many of them, drawn by `seed`. Raises `BadInput` if there is no question.
    """
    if pool < 1:
        raise BadOption(f"pool is {pool}; it must be 1 or more")
    if not source.questions:
        raise BadInput(
            f"{dataset}: no question with evidence in these files{_first_failure(source)}"
        )
    passages = list(source.passages.values())
    places = {passage.id: i for i, passage in enumerate(passages)}
    index = build_index(f"{passage.title} {passage.text}" for passage in passages)

    def made(question: SourceQuestion) -> dict[str, Any] | None:
        own = [places[name] for name in question.own]
        itself = places.get(question.itself)
        ranked = _rank_pool(index, question.text, own, 0 if source.closed else pool, itself)
        return _build_record(dataset, question, [(passages[i], score) for i, score in ranked])

    order = list(range(len(source.questions)))
    if limit is not None:
        random.Random(seed).shuffle(order)  # noqa: S311  # a sample, no secret
    kept: list[tuple[int, dict[str, Any]]] = []
    for i in order:
        record = made(source.questions[i])
        if record is None:
            source.left_out[NO_GOLD] += 1
        elif limit is None:
            yield record
        else:
            kept.append((i, record))
        if limit is not None and len(kept) == limit:
            break
    yield from (record for _, record in sorted(kept, key=lambda pair: pair[0]))


def _first_failure(source: SourceDataset) -> str:
    failed = source.failed
    said = (f"; {len(failed)} failed, the first: {one.path}: {one.reason}" for one in failed)
    return next(said, "")


def _rank_pool(
    index: Bm25, query: str, own: Sequence[int], size: int, itself: int | None
) -> list[tuple[int, float]]:
    """(passage, score), best first: its own passages, and the best others up to the size.

    The passage that is the query `itself` is left out.
    """
    scores = index.scores(query)
    if itself is not None:
        scores[itself] = 0.0
    chosen = dict.fromkeys(own)
    for i in top_indices(scores, size + len(chosen)):
        if len(chosen) >= size:
            break
        chosen.setdefault(i)
    rounded = [(i, round(float(scores[i]), 4)) for i in chosen]
    return sorted(rounded, key=lambda pair: (-pair[1], pair[0]))


def _build_record(
    dataset: str, question: SourceQuestion, ranked: Sequence[tuple[SourcePassage, float]]
) -> dict[str, Any] | None:
    """The case; None if its pool holds no gold passage."""
    chunks = [_build_chunk(dataset, passage, score, question.gold) for passage, score in ranked]
    if not any(chunk["is_gold"] for chunk in chunks):
        return None
    return {
        "id": question.id,
        "dataset": dataset,
        "question": question.text,
        "answers": list(question.answers),
        "chunks": chunks,
        "gold_doc_ids": sorted({gold.document_id for gold in question.gold}),
        "evidence": [_build_evidence(gold, ranked) for gold in question.gold],
    }


def _build_chunk(
    dataset: str, passage: SourcePassage, score: float, gold: Sequence[GoldSpan]
) -> dict[str, Any]:
    spans = sorted({span for one in gold if (span := _gold_span_in(passage, one))})
    return {
        "id": passage.id,
        "doc_id": passage.document_id,
        "source": dataset,
        "title": passage.title,
        "sequence": passage.sequence,
        "start": passage.start,
        "text": passage.text,
        "score": score,
        "is_gold": bool(spans),
        "gold_spans": [list(span) for span in spans],
    }


def _build_evidence(
    gold: GoldSpan, ranked: Sequence[tuple[SourcePassage, float]]
) -> dict[str, Any]:
    return {
        "doc_id": gold.document_id,
        "start": gold.start,
        "end": gold.end,
        "text": gold.text,
        "chunk_ids": [passage.id for passage, _ in ranked if _gold_span_in(passage, gold)],
    }


def _gold_span_in(passage: SourcePassage, gold: GoldSpan) -> tuple[int, int] | None:
    """The gold range in the passage; its text must match."""
    if passage.document_id != gold.document_id:
        return None
    start = max(gold.start - passage.start, 0)
    end = min(gold.end - passage.start, len(passage.text))
    if start >= end:
        return None
    first = passage.start + start - gold.start
    if passage.text[start:end] != gold.text[first : first + end - start]:
        raise BadInput(f"the gold text of {gold.document_id!r} is not at {gold.start}")
    return start, end
