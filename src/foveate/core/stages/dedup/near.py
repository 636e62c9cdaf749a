"""Near duplicates: of texts that say the same in nearly the same words, one stays.

    jaccard      shared words over all words of the two                    0.9 or more
    containment  shared word triples over those of the smaller text        0.8 or more
    semantic     cosine of the embeddings, and half of all words shared    0.92 or more
                 (0.95 near-verbatim only, 0.90-0.94 close paraphrase, 0.85-0.89 aggressive)

The definition. Texts are taken in order of preference: first those with the most different words of
weight (for containment then the most triples), then by rank. A text leaves for one that stays, if
the two are similar and the other says all that it says (`compared_text.py`): light words may be
lost, other words, figures and names may not, and nothing may be turned. Of those that stay, are
similar and have all its words of weight, the `NEAREST` in that order are asked, the nearest first.
A text never leaves for one that leaves.

With `prefer="newest"` the time of change comes first, unknown last, and a text leaves for a similar
one of the same document or source with another known time, whatever that says (not by vectors).

What `divide` or `pack` has chosen is left alone. `candidate_index.py` finds whom to compare.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import ClassVar, Literal, get_args

from foveate.core.checks import check_choice
from foveate.core.errors import BadOption
from foveate.core.request import Request
from foveate.core.stages.dedup.candidate_pairs import CandidatePairs, find_candidate_pairs
from foveate.core.stages.dedup.compared_text import ComparedText, SentenceCache
from foveate.core.stages.dedup.merge_sources import Copy, merge_sources
from foveate.core.stages.dedup.similarity import Threshold, containment, cosine, jaccard
from foveate.core.types import Candidate, Number, Step, rank

Method = Literal["jaccard", "containment", "semantic"]
Prefer = Literal["score", "newest"]

LEAST_SHARE = Threshold(0.1)
"""The share of a text's word triples that any other text has that it leaves for."""
WORDS_AGREE = Threshold(0.5)
"""The share of all words that texts with like vectors have in common."""
NEAREST = 16
"""Texts that one is compared with in full."""
THRESHOLDS: dict[Method, float] = {"jaccard": 0.9, "containment": 0.8, "semantic": 0.92}
REASONS: dict[Method, str] = {
    "jaccard": "near_duplicate",
    "containment": "contained",
    "semantic": "semantic_duplicate",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupNear:
    """Keep one of the texts that nearly agree, and where the others came from.

    `threshold`: a similarity above 0, up to 1; None: the method's own (0.9, 0.8, 0.92).
    `strict`: the threshold must be passed, not only reached.
    """

    method: Method = "jaccard"
    threshold: float | None = None
    prefer: Prefer = "score"
    strict: bool = False

    keeps_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_choice("dedup_near", "method", self.method, get_args(Method))
        check_choice("dedup_near", "prefer", self.prefer, get_args(Prefer))
        if self.threshold is not None and not 0 < self.threshold <= 1:
            raise BadOption(
                f"dedup_near: threshold is {self.threshold!r}; it must be above 0 and at most 1"
            )

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Drop copies as `merged`, with `similarity` and `threshold`.

        The reason is `near_duplicate`, `contained` or `semantic_duplicate`. What stays is
        `corroborated`.
        """
        pool = [c for c in candidates if c.origin != "supplement" and c.shown is None]
        if len(pool) < 2:
            return Step(candidates=candidates)
        copies, compared = near_copies(pool, self, request.language)
        notes: dict[str, Number] = {"compared": compared}
        if self.method == "semantic" and (bare := sum(c.chunk.embedding is None for c in pool)):
            notes["no_vectors"] = bare
        return merge_sources(candidates, copies, reason=REASONS[self.method], notes=notes)


def near_copies(
    pool: Sequence[Candidate], options: DedupNear, language: str
) -> tuple[dict[str, Copy], int]:
    """Every candidate that leaves, by id, for whom; and how many pairs were compared in full."""
    value = THRESHOLDS[options.method] if options.threshold is None else float(options.threshold)
    threshold = Threshold(value, strict=options.strict)
    share = threshold if options.method == "containment" else LEAST_SHARE
    pairs = find_candidate_pairs([candidate.chunk.text for candidate in pool], share)
    meets = {*pairs.partners, *chain.from_iterable(pairs.partners.values()), *pairs.crowd}
    cache = SentenceCache(language)
    texts = {n: ComparedText(pool[n], cache) for n in meets}
    stay = _Staying(options, threshold, pairs)
    copies: dict[str, Copy] = {}
    for n, text in sorted(texts.items(), key=lambda pair: stay.preference(pair[1])):
        match = stay.find(n, text)
        if match is None:
            stay.add(n, text)
        else:
            numbers: dict[str, Number] = {"similarity": round(match[1], 4), "threshold": value}
            copies[text.candidate.id] = Copy(by=match[0].candidate.id, numbers=numbers)
    return copies, stay.compared


class _Staying:
    """The texts that stay so far, in order of preference, and which of them another leaves for."""

    def __init__(self, options: DedupNear, threshold: Threshold, pairs: CandidatePairs) -> None:
        self._threshold = threshold
        self._pairs = pairs
        self._newest = options.prefer == "newest"
        self._method = options.method
        self._versions = self._newest and options.method != "semantic"
        self._texts: list[ComparedText] = []
        self._places: dict[int, int] = {}
        self._crowd: defaultdict[frozenset[str], list[int]] = defaultdict(list)
        self.compared = 0

    def preference(self, text: ComparedText) -> tuple[object, ...]:
        """Sorts texts: the first is the one to keep."""
        size = len(text.triples) if self._method == "containment" else 0
        time = -_changed_at(text.candidate) if self._newest else 0
        return (time, -len(text.weights), -size, rank(text.candidate))

    def add(self, n: int, text: ComparedText) -> None:
        """Text n of the pool stays."""
        place = self._places[n] = len(self._texts)
        self._texts.append(text)
        if n in self._pairs.crowd:
            self._crowd[text.weights].append(place)

    def find(self, n: int, text: ComparedText) -> tuple[ComparedText, float] | None:
        """The text that text n of the pool leaves for, and how similar it is."""
        places = {self._places[m] for m in self._pairs.partners.get(n, ()) if m in self._places}
        if n in self._pairs.crowd:
            places.update(self._crowd[text.weights][-NEAREST:])
        asked = 0
        for place in sorted(places, reverse=True):
            other = self._texts[place]
            is_version = self._versions and _are_versions(text.candidate, other.candidate)
            if not is_version and not text.weights <= other.weights:
                continue
            similarity = self._similarity(text, other)
            if not similarity:
                continue
            self.compared += 1
            asked += 1
            if is_version or text.is_said_by(other):
                return other, similarity
            if asked == NEAREST:
                break
        return None

    def _similarity(self, one: ComparedText, other: ComparedText) -> float:
        """0 if it does not reach the threshold."""
        if self._method == "containment":
            return containment(one.triples, other.triples, self._threshold)
        if self._method == "jaccard":
            return jaccard(one.words, other.words, self._threshold)
        mine, theirs = one.candidate.chunk.embedding, other.candidate.chunk.embedding
        agree = jaccard(one.words, other.words, WORDS_AGREE)
        return cosine(mine, theirs, self._threshold) if agree else 0.0


def _changed_at(candidate: Candidate) -> int:
    """When the text was last changed, in microseconds; the unknown is before everything."""
    moment = candidate.chunk.modified_at
    return -(10**18) if moment is None else (moment - _EPOCH) // timedelta(microseconds=1)


def _are_versions(one: Candidate, other: Candidate) -> bool:
    """Whether the two are of one document or source, at two known times."""
    mine, theirs = one.chunk, other.chunk
    same = mine.document_id == theirs.document_id or mine.source == theirs.source
    known = mine.modified_at is not None and theirs.modified_at is not None
    return same and known and mine.modified_at != theirs.modified_at
