"""Offers shorter renditions (SPEC S8, extractive). It never shortens: `pack` chooses among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

from foveate.core.errors import BadOption
from foveate.core.evidence.worth import sentences_of
from foveate.core.made import changer, maker
from foveate.core.text.salience import choose, joined, rarity, weigh
from foveate.core.text.sentences import sentence_spans
from foveate.core.text.words import words
from foveate.core.types import Candidate, Decision, Rendition, Request, Span, Step

When = Literal["over_budget", "oversized", "always"]
Offer = Literal["extracts", "sentences"]


changed = changer(Candidate)
decided = maker(Decision)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compress:
    """Offer verbatim subsets of each candidate's sentences, chosen for the query; no model call.

    `offer`: `extracts` of a few lengths, from which any policy of `pack` can choose; or all
    `sentences` with their worth over the pool, from which the policy `value` puts extracts
    together.
    `when`: `over_budget` if all candidates in full do not fit, and for those over
    `max_chunk_tokens`; `oversized` only for the latter; `always`. `shares`: the parts of the text,
    by length, to offer. `target`: also one of at most about that many tokens. Nothing under
    `min_tokens` is offered.
    """

    offer: Offer = "extracts"
    when: When = "over_budget"
    shares: tuple[float, ...] = (0.6, 0.35, 0.18)
    target: int | None = None
    max_chunk_tokens: int = 2000
    min_tokens: int = 20

    keeps_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse options that have no meaning."""
        object.__setattr__(self, "shares", tuple(self.shares))
        if self.when not in get_args(When):
            raise BadOption(f"compress: when must be one of {get_args(When)}, not {self.when!r}")
        if self.offer not in get_args(Offer):
            raise BadOption(f"compress: offer must be one of {get_args(Offer)}, not {self.offer!r}")
        if not all(0 < share < 1 for share in self.shares):
            raise BadOption(f"compress: shares must lie between 0 and 1, not {self.shares}")
        if self.target is not None and self.target < 1:
            raise BadOption(f"compress: target must be 1 token or more, not {self.target}")
        if self.max_chunk_tokens < 1 or self.min_tokens < 0:
            raise BadOption("compress: max_chunk_tokens must be 1 or more, min_tokens 0 or more")

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Decide once whether the budget is tight, then offer."""
        sizes = [request.gauge.passage(c) for c in candidates]
        tight = self.when == "always" or (
            self.when == "over_budget" and over_budget(candidates, sizes, request)
        )
        chosen = [
            n
            for n, candidate in enumerate(candidates)
            if (tight or sizes[n] > self.max_chunk_tokens)
            and candidate.shown is None
            and not candidate.renditions
            and candidate.sentences is None
            and candidate.origin != "supplement"
        ]
        if not chosen:
            return Step(candidates=candidates, notes={"tight": int(tight)})
        if self.offer == "sentences":
            return _with_sentences(candidates, chosen, sizes, request)
        rare = rarity(request.query, [words(c.text) for c in candidates])
        out, decisions = list(candidates), []
        for n in chosen:
            offered = self._offers(candidates[n], sizes[n], rare, request)
            if not offered:
                continue
            out[n] = replace(candidates[n], renditions=offered)
            decisions.append(_decision(candidates[n], sizes[n], offered))
        return Step(candidates=tuple(out), decisions=tuple(decisions), notes={"tight": int(tight)})

    def _offers(
        self, candidate: Candidate, size: int, rare: Mapping[str, float], request: Request
    ) -> tuple[Rendition, ...]:
        """Distinct renditions, fullest first, each shorter than the text and over the floor."""
        text = candidate.text
        spans = sentence_spans(text, request.language)
        if len(spans) < 2 or size <= self.min_tokens:
            return ()
        weights = weigh(text, spans, rare)
        found: dict[str, Rendition] = {}
        for reach in self._reaches(len(text), size):
            kept = choose(spans, weights, reach)
            rendition = _extract(text, [spans[i] for i in kept], sum(weights[i] for i in kept))
            found.setdefault(rendition.text, rendition)
        floor = self.min_tokens * len(text) // size
        offered = [r for r in found.values() if floor <= len(r.text) < len(text)]
        return tuple(sorted(offered, key=lambda r: (-r.value, len(r.text), r.spans)))

    def _reaches(self, length: int, size: int) -> Iterator[int]:
        """Lengths in characters to aim at."""
        yield from (int(length * share) for share in self.shares)
        if self.target is not None and size > self.target:
            yield length * self.target * 9 // (size * 10)


def _with_sentences(
    candidates: tuple[Candidate, ...], chosen: Sequence[int], sizes: Sequence[int], request: Request
) -> Step:
    """Every chosen candidate with its sentences; those of the others count in the comparison."""
    found = sentences_of(candidates, request.query, request.language)
    out, decisions = list(candidates), []
    for n in chosen:
        candidate = candidates[n]
        sentences = found[candidate.id]
        if not sentences.spans:
            continue
        out[n] = changed(candidate, sentences=sentences)
        numbers = {"tokens": sizes[n], "sentences": len(sentences.spans)}
        decisions.append(
            decided(chunk_id=candidate.id, action="changed", reason="weighed", numbers=numbers)
        )
    return Step(candidates=tuple(out), decisions=tuple(decisions), notes={"tight": 1})


def over_budget(candidates: Sequence[Candidate], sizes: Sequence[int], request: Request) -> bool:
    """Whether all candidates in full would not fit."""
    budget, gauge = request.budget, request.gauge
    frames = [gauge.frame(candidate, "fresh") for candidate in candidates]
    if budget.documents is not None:
        tokens = sum(sizes) + sum(gauge.rendered(frame) for frame in frames)
        if tokens > budget.documents:
            return True
    if budget.characters is None:
        return False
    characters = sum(len(c.text) for c in candidates) + sum(len(frame) for frame in frames)
    return characters > budget.characters


def _extract(text: str, spans: Sequence[Span], value: float) -> Rendition:
    shown, ranges = joined(text, spans)
    return Rendition(kind="extract", text=shown, spans=ranges, value=min(value, 1.0))


def _decision(candidate: Candidate, size: int, offered: Sequence[Rendition]) -> Decision:
    return Decision(
        chunk_id=candidate.id,
        action="changed",
        reason="offered",
        numbers={
            "tokens": size,
            "renditions": len(offered),
            "shortest_characters": min(len(r.text) for r in offered),
        },
    )
