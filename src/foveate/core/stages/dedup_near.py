"""Near duplicates: of texts that say the same in nearly the same words, one stays.

Not a judge of truth: two texts that disagree in a fact both stay. Three ways to match, of which a
recipe may use several one after the other:

    jaccard      shared words over all words of the two                    0.9 or more
    containment  shared word triples over those of the smaller text        0.8 or more
    semantic     cosine of the embeddings, and half of all words shared    0.92 or more
                 (0.95 near-verbatim only, 0.90-0.94 close paraphrase, 0.85-0.89 aggressive)

The guard: a pair only matches if its facts agree (`text/facts.py`: numbers, dates, units,
negation). For jaccard and semantic they are the same in the same order. For containment all facts
of the text that leaves stand in the one that stays, which has no other where it says the same.

Who stays is defined in `near/settle.py`, over an order of preference:

    jaccard, semantic   the rank, best score first; a fragment does not evict its container
    containment         the fullest first: most distinct triples, most words, then the rank; a text
                        leaves for the last kept one that it matches, the closest in fullness

With `prefer="newest"` the time of change comes before that, the latest first, the unknown last.
Then a newer text is never evicted by an older one, and evicts it even where the older is fuller;
under containment only if it holds enough of the older. Copies of one document or source changed at
different times are its versions and need not agree in facts, except under semantic.

Caveat: sets of words know no order, so "A reports to B" and "B reports to A" match by jaccard.

The fast paths give exactly what comparing with every kept text gives; the tests hold them to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from foveate.core.errors import BadOption
from foveate.core.near.bags import shingle_bags, word_bags
from foveate.core.near.containment import Containment
from foveate.core.near.fold import Copy, fold
from foveate.core.near.guard import Covered, Equal, Guard, Open
from foveate.core.near.jaccard import Jaccard
from foveate.core.near.semantic import WORDS_AGREE, Semantic
from foveate.core.near.settle import Match, final, settle
from foveate.core.near.texts import Texts, changed_at, read
from foveate.core.near.threshold import Threshold
from foveate.core.types import Candidate, Number, Request, Step, rank

Method = Literal["jaccard", "containment", "semantic"]
Prefer = Literal["score", "newest"]

THRESHOLDS: dict[Method, float] = {"jaccard": 0.9, "containment": 0.8, "semantic": 0.92}
REASONS: dict[Method, str] = {
    "jaccard": "near_duplicate",
    "containment": "contained",
    "semantic": "semantic_duplicate",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupNear:
    """Keep one of the texts that nearly agree, and where the others came from.

    `threshold`: a similarity above 0, up to 1; None: the method's own (0.9, 0.8, 0.92).
    `strict`: the threshold must be passed, not only reached. `guard=False` lets texts match whose
    facts differ, and vectors match alone: the bare rule of systems that have no guard.
    """

    method: Method = "jaccard"
    threshold: float | None = None
    prefer: Prefer = "score"
    strict: bool = False
    guard: bool = True

    keeps_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse names that are none and thresholds that all or no texts would reach."""
        for name, value, known in (
            ("method", self.method, get_args(Method)),
            ("prefer", self.prefer, get_args(Prefer)),
        ):
            if value not in known:
                raise BadOption(f"dedup_near: {name} is {value!r}; use one of {known}")
        if self.threshold is not None and not 0 < self.threshold <= 1:
            raise BadOption(
                f"dedup_near: threshold is {self.threshold!r}; it must be above 0 and at most 1"
            )

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Drop copies as `merged`, with `similarity` and `threshold`.

        The reason is `near_duplicate`, `contained` or `semantic_duplicate`; `via` names the copy
        in between where a text left for one that then left itself. What stays is `corroborated`.
        """
        pool = [c for c in candidates if c.origin != "supplement"]
        if len(pool) < 2:
            return Step(candidates=candidates)
        copies, compared = near_copies(pool, self)
        notes = {"compared": compared}
        return fold(candidates, copies, reason=REASONS[self.method], notes=notes)


def near_copies(pool: Sequence[Candidate], options: DedupNear) -> tuple[dict[str, Copy], int]:
    """Every candidate that leaves, for whom; and how many pairs were compared in full."""
    newest = options.prefer == "newest"
    preferred = sorted(pool, key=lambda c: (-changed_at(c) if newest else 0, rank(c)))
    texts = read(preferred, dated=newest)
    value = THRESHOLDS[options.method] if options.threshold is None else float(options.threshold)
    run = {"jaccard": _by_words, "containment": _by_shingles, "semantic": _by_vectors}
    texts, left, compared = run[options.method](
        texts, Threshold(value, strict=options.strict), options
    )
    copies: dict[str, Copy] = {}
    for i, match in left.items():
        kept = texts.candidates[final(i, left)].id
        numbers: dict[str, Number] = {"similarity": round(match.similarity, 4), "threshold": value}
        between = texts.candidates[match.other].id
        if between != kept:
            numbers["via"] = between
        copies[texts.candidates[i].id] = Copy(by=kept, numbers=numbers)
    return copies, compared


_Settled = tuple[Texts, dict[int, Match], int]


def _by_words(texts: Texts, threshold: Threshold, options: DedupNear) -> _Settled:
    finder = Jaccard(word_bags(texts.spelled), threshold, _equal(texts, options))
    return texts, settle(texts.lengths, finder, texts.fragment), finder.compared


def _by_shingles(texts: Texts, threshold: Threshold, options: DedupNear) -> _Settled:
    bags = shingle_bags(texts.spelled)
    sizes = bags.sizes.tolist()

    def fullest(i: int) -> tuple[int, ...]:
        return (-texts.dates[i], -sizes[i], -len(texts.spelled[i]), i)

    order = sorted(range(len(texts)), key=fullest)
    texts = texts.taken(order)
    versions = texts.versions if options.prefer == "newest" else None
    guard = Covered(texts.spelled, texts.facts, versions) if options.guard else Open()
    finder = Containment(bags.taken(order), threshold, guard)
    return texts, settle(texts.lengths, finder, lambda _part, _whole: False), finder.compared


def _by_vectors(texts: Texts, threshold: Threshold, options: DedupNear) -> _Settled:
    vectors = [candidate.chunk.embedding for candidate in texts.candidates]
    if options.guard:
        guard = Equal(len(texts), texts.facts)
        words = Jaccard(word_bags(texts.spelled), Threshold(WORDS_AGREE), guard)
    finder = Semantic(vectors, threshold, words if options.guard else None)
    return texts, settle(texts.lengths, finder, texts.fragment), finder.compared


def _equal(texts: Texts, options: DedupNear) -> Guard:
    if not options.guard:
        return Open()
    return Equal(len(texts), texts.facts, texts.versions if options.prefer == "newest" else None)
