"""Offers shorter renditions (SPEC S8). It never shortens: `pack` chooses among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar, Literal, get_args

from foveate.core.checks import check_choice
from foveate.core.errors import BadOption
from foveate.core.renditions import join_chunk_spans, shapes_of
from foveate.core.request import CompressionMethod, Offer, Request
from foveate.core.stages.compress.extract_units import units_and_needs
from foveate.core.stages.compress.score import score_sentences
from foveate.core.text.salience import (
    choose_sentences,
    inverse_document_frequency,
    weigh_sentences,
)
from foveate.core.text.words import split_words
from foveate.core.types import Candidate, Decision, Number, Rendition, Span, Step

CompressWhen = Literal["over_budget", "oversized", "always"]
CompressOffer = Literal["extracts", "sentences", "llm_extract", "llm_abstract"]
SHARES = (0.6, 0.35, 0.18)
"""The parts of a text, by length, that extracts are made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compress:
    """Offer verbatim subsets of each candidate's sentences, chosen for the query; no model call.

    `offer`: `extracts` of a few lengths, from which any policy of `pack` can choose; or all
    `sentences` with their worth over the pool, from which the policy `value` puts extracts
    together; or `extracts` and beside them what a model was asked for before, the relevant
    sentences of the text (`llm_extract`) or a version of about `target` tokens in other words
    (`llm_abstract`). Where no model was asked, or failed, the extracts are what there is.
    `when`: `is_over_budget` if all candidates in full do not fit, and for those over
    `max_chunk_tokens`; `oversized` only for the latter; `always`. `target`: beside extracts of
    `SHARES`, also one of at most about that many tokens. Nothing under `min_tokens` is offered.
    """

    offer: CompressOffer = "extracts"
    when: CompressWhen = "over_budget"
    target: int | None = None
    max_chunk_tokens: int = 2000
    min_tokens: int = 20

    keeps_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse options that have no meaning."""
        check_choice("compress", "when", self.when, get_args(CompressWhen))
        check_choice("compress", "offer", self.offer, get_args(CompressOffer))
        if self.target is not None and self.target < 1:
            raise BadOption(f"compress: target must be 1 token or more, not {self.target}")
        if self.max_chunk_tokens < 1 or self.min_tokens < 0:
            raise BadOption("compress: max_chunk_tokens must be 1 or more, min_tokens 0 or more")

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Decide once whether the budget is tight, then offer."""
        sizes = [request.token_counter.count_passage(c) for c in candidates]
        tight = self.when == "always" or (
            self.when == "over_budget" and is_over_budget(candidates, sizes, request)
        )
        chosen = [
            n
            for n, candidate in enumerate(candidates)
            if (tight or sizes[n] > self.max_chunk_tokens) and is_uncompressed(candidate)
        ]
        if not chosen:
            return Step(candidates=candidates, notes={"tight": int(tight)})
        if self.offer == "sentences":
            return _offer_sentences(candidates, chosen, sizes, request)
        given = {o.key: o for o in request.offers if o.way == self.offer}
        rare = inverse_document_frequency(request.query, [split_words(c.text) for c in candidates])
        out, decisions = list[Candidate | None](candidates), []
        changes: tuple[Candidate | None, Decision] | None
        for n in chosen:
            extracts = self._build_extracts(candidates[n], sizes[n], rare, request)
            offer = given.get(candidates[n].chunk.content_hash)
            if offer is None:
                changes = _offer_extracts(candidates[n], sizes[n], extracts)
            else:
                changes = self._apply_compressed_text(
                    candidates[n], sizes[n], extracts, offer, request
                )
            if changes is not None:
                out[n], decision = changes
                decisions.append(decision)
        notes: dict[str, Number] = {"tight": int(tight)}
        if self.model_method is not None:
            notes |= _model_notes(given, decisions)
        left = tuple(candidate for candidate in out if candidate is not None)
        return Step(candidates=left, decisions=tuple(decisions), notes=notes)

    @property
    def model_method(self) -> CompressionMethod | None:
        """What a model is asked for; None where none is."""
        return self.offer if self.offer in get_args(CompressionMethod) else None  # type: ignore[return-value]

    def target_tokens(self, size: int) -> int:
        """How many tokens a model is asked for, of a text of `size`."""
        return max(min(self.target or size // 3, size), self.min_tokens, 1)

    def _apply_compressed_text(
        self,
        candidate: Candidate,
        size: int,
        extracts: tuple[Rendition, ...],
        offer: Offer,
        request: Request,
    ) -> tuple[Candidate | None, Decision] | None:
        """The model's rendition before the extracts; gone where it found nothing in the text."""
        from foveate.core.compressed_rendition import rendition_from_compressed_text

        numbers: dict[str, Number] = {"tokens": size}
        if offer.irrelevant:
            numbers["model"] = offer.by
            return None, Decision(
                chunk_id=candidate.id, action="dropped", reason="irrelevant", numbers=numbers
            )
        made = rendition_from_compressed_text(
            offer, candidate, counter=request.token_counter, least=self.min_tokens
        )
        if isinstance(made, str):
            if not extracts:
                return None
            numbers |= {"renditions": len(extracts), "why": made}
            return replace(candidate, renditions=extracts), _changed(
                candidate, "model_failed", numbers
            )
        numbers |= {
            "renditions": 1 + len(extracts),
            "way": made.kind,
            "shorter": request.token_counter.count_text(made.text),
            "model": offer.by,
        }
        if self.when == "always":  # asked for even where all fits: the text is not an option
            out = replace(candidate, shown=made)
        else:
            out = replace(candidate, renditions=(made, *extracts))
        return out, _changed(candidate, "offered_by_model", numbers)

    def _build_extracts(
        self, candidate: Candidate, size: int, rare: Mapping[str, float], request: Request
    ) -> tuple[Rendition, ...]:
        """Distinct renditions, fullest first, each shorter than the text and over the floor."""
        text = candidate.text
        shapes = shapes_of(candidate.chunk, candidate.parts)
        spans, needs = units_and_needs(text, request.language, shapes)
        if len(spans) < 2 or size <= self.min_tokens:
            return ()
        weights = weigh_sentences(text, spans, rare)
        found: dict[str, Rendition] = {}
        for reach in self._target_lengths(len(text), size):
            kept = choose_sentences(spans, weights, reach, needs)
            rendition = _build_extract(
                candidate, [spans[i] for i in kept], sum(weights[i] for i in kept)
            )
            found.setdefault(rendition.text, rendition)
        floor = self.min_tokens * len(text) // size
        offered = [r for r in found.values() if floor <= len(r.text) < len(text)]
        return tuple(sorted(offered, key=lambda r: (-r.value, len(r.text), r.spans)))

    def _target_lengths(self, length: int, size: int) -> Iterator[int]:
        """Lengths in characters to aim at."""
        yield from (int(length * share) for share in SHARES)
        if self.target is not None and size > self.target:
            yield length * self.target * 9 // (size * 10)


def _offer_sentences(
    candidates: tuple[Candidate, ...], chosen: Sequence[int], sizes: Sequence[int], request: Request
) -> Step:
    """Every chosen candidate with its sentences; those of the others count in the comparison."""
    room = characters_that_fit(candidates, sizes, request)
    found, separation = score_sentences(candidates, request.query, request.language, room=room)
    out, decisions = list(candidates), []
    for n in chosen:
        candidate = candidates[n]
        sentences = found[candidate.id]
        if not sentences.spans:
            continue
        out[n] = replace(candidate, sentences=sentences)
        numbers = {"tokens": sizes[n], "sentences": len(sentences.spans)}
        decisions.append(_changed(candidate, "weighed", numbers))
    notes: dict[str, Number] = {"tight": 1, "decided_by": separation.decided_by}
    notes |= _shape_notes([candidates[n] for n in chosen])
    if separation.clarity > 0:
        notes |= {"separation": round(separation.clarity, 3), "doubt": round(separation.doubt, 3)}
    return Step(candidates=tuple(out), decisions=tuple(decisions), notes=notes)


def _shape_notes(candidates: Sequence[Candidate]) -> dict[str, Number]:
    """How many records, tables and logs were read, by kind; and how many of them are broken off."""
    shapes = [shape for candidate in candidates for shape in shapes_of(candidate.chunk)]
    kinds = Counter(shape.name for shape in shapes)
    notes: dict[str, Number] = {}
    if kinds:
        notes["shapes"] = ", ".join(f"{kinds[name]} {name}" for name in sorted(kinds))
    if broken := sum(shape.broken for shape in shapes):
        notes["broken_off"] = broken
    return notes


def characters_that_fit(
    candidates: Sequence[Candidate], sizes: Sequence[int], request: Request
) -> float:
    """About how many characters of these texts the budget holds."""
    limits = [request.budget.characters or inf]
    if request.budget.documents is not None:
        length = sum(len(c.text) for c in candidates)
        limits.append(request.budget.documents * length / max(sum(sizes), 1))
    return min(limits)


def is_over_budget(candidates: Sequence[Candidate], sizes: Sequence[int], request: Request) -> bool:
    """Whether all candidates in full would not fit."""
    budget, counter = request.budget, request.token_counter
    frames = [counter.header(candidate, "fresh") for candidate in candidates]
    if budget.documents is not None:
        tokens = sum(sizes) + sum(counter.count_rendered(frame) for frame in frames)
        if tokens > budget.documents:
            return True
    if budget.characters is None:
        return False
    characters = sum(len(c.text) for c in candidates) + sum(len(frame) for frame in frames)
    return characters > budget.characters


def _build_extract(candidate: Candidate, spans: Sequence[Span], value: float) -> Rendition:
    shown, ranges = join_chunk_spans(candidate.chunk, spans, candidate.parts)
    return Rendition(kind="extract", text=shown, spans=ranges, value=min(value, 1.0))


def is_uncompressed(candidate: Candidate) -> bool:
    """Whether nothing was offered or chosen yet; side knowledge is shown as it is."""
    return (
        candidate.shown is None
        and not candidate.renditions
        and candidate.sentences is None
        and candidate.origin != "supplement"
    )


def _offer_extracts(
    candidate: Candidate, size: int, extracts: tuple[Rendition, ...]
) -> tuple[Candidate, Decision] | None:
    if not extracts:
        return None
    numbers: dict[str, Number] = {
        "tokens": size,
        "renditions": len(extracts),
        "shortest_characters": min(len(r.text) for r in extracts),
    }
    return replace(candidate, renditions=extracts), _changed(candidate, "offered", numbers)


def _changed(candidate: Candidate, reason: str, numbers: Mapping[str, Number]) -> Decision:
    return Decision(chunk_id=candidate.id, action="changed", reason=reason, numbers=numbers)


def _model_notes(given: Mapping[str, Offer], decisions: Sequence[Decision]) -> dict[str, Number]:
    """What came of the model, in figures; why not, where nothing did."""
    if not given:
        return {"model": "none was asked: no compressor was given, or no text needed one"}
    reasons = [decision.reason for decision in decisions]
    made, gone = reasons.count("offered_by_model"), reasons.count("irrelevant")
    notes: dict[str, Number] = {"asked": len(given), "offered_by_model": made, "irrelevant": gone}
    if (failed := len(given) - made - gone) > 0:
        whys = [offer.why for _, offer in sorted(given.items()) if offer.why]
        whys += [str(d.numbers["why"]) for d in decisions if d.reason == "model_failed"]
        notes |= {"failed": failed, "why": whys[0] if whys else "unknown"}
    return notes
