"""Near duplicates: of texts that say the same in nearly the same words, one stays.

    jaccard      shared words over all words of the two                    0.9 or more
    containment  shared word triples over those of the smaller text        0.8 or more
    semantic     cosine of the embeddings, and half of all words shared    0.92 or more
                 (0.95 near-verbatim only, 0.90-0.94 close paraphrase, 0.85-0.89 aggressive)

The guard: a text only leaves for one that says all of weight that it says. Light words may be lost;
other words, numbers and names may not, and nothing that turns a statement (not, only, must, if) may
be added. Containment checks this in place: the staying text may say more. Jaccard asks for the same
facts in the same order, semantic in any, and both for weights as often. Sets of words know no
order, so "A reports to B" and "B reports to A" match by jaccard.

The order of preference of `resolve_duplicates.py` is the rank for jaccard and semantic, and for
containment the most distinct triples, most words, then the rank. With `prefer="newest"` the time of
change comes first, unknown last: a newer text evicts an older one even if that is fuller, and
versions of one document or source need not say the same (except under semantic).

What `divide` or `pack` has chosen is left alone. The fast paths give exactly what comparing with
every kept text gives, with one exception: a text of which most triples stand in more than 64 others
is compared with the nearest 16 that have all its weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from foveate.core.errors import BadOption
from foveate.core.request import Request
from foveate.core.stages.dedup.merge_sources import Copy, merge_sources
from foveate.core.stages.dedup.resolve_duplicates import Threshold, final
from foveate.core.types import Candidate, Number, Step

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
    `strict`: the threshold must be passed, not only reached. `guard=False` lets a text leave for
    one that says something else, and vectors match alone: the bare rule of systems without a guard.
    """

    method: Method = "jaccard"
    threshold: float | None = None
    prefer: Prefer = "score"
    strict: bool = False
    guard: bool = True

    keeps_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
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
        pool = [c for c in candidates if c.origin != "supplement" and c.shown is None]
        if len(pool) < 2:
            return Step(candidates=candidates)
        copies, compared = near_copies(pool, self)
        notes: dict[str, Number] = {"compared": compared}
        if self.method == "semantic" and (bare := sum(c.chunk.embedding is None for c in pool)):
            notes["no_vectors"] = bare
        return merge_sources(candidates, copies, reason=REASONS[self.method], notes=notes)


def near_copies(pool: Sequence[Candidate], options: DedupNear) -> tuple[dict[str, Copy], int]:
    """Every candidate that leaves, for whom; and how many pairs were compared in full."""
    value = THRESHOLDS[options.method] if options.threshold is None else float(options.threshold)
    threshold = Threshold(value, strict=options.strict)
    newest = options.prefer == "newest"
    if options.method == "containment":
        from foveate.core.stages.dedup.containment import resolve_contained

        settled = resolve_contained(pool, threshold, guard=options.guard, newest=newest)
    else:
        from foveate.core.stages.dedup.similar import resolve_similar

        by_vectors = options.method == "semantic"
        settled = resolve_similar(
            pool, threshold, vectors=by_vectors, guard=options.guard, newest=newest
        )
    texts, left, compared = settled
    copies: dict[str, Copy] = {}
    for i, match in left.items():
        kept = texts[final(i, left)].id
        numbers: dict[str, Number] = {"similarity": round(match.similarity, 4), "threshold": value}
        between = texts[match.other].id
        if between != kept:
            numbers["via"] = between
        copies[texts[i].id] = Copy(by=kept, numbers=numbers)
    return copies, compared
