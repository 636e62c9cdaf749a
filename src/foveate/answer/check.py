"""Checks an answer against its context: what it cites, and whether the source says so.

Structure is certain: a marker without a block, a claim without a marker, a quotation that is not
there. Support is an estimate, given with its passage: the share of the claim's words in the best
sentences of a cited block, or a scorer's value. In the voice channel a claim's source is the block
that supports it best; without one it is unsupported, not uncited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TypeAlias

from foveate.answer.bracket_names import PlainBracketFilter, left_out_reasons, names_from_context
from foveate.answer.claims import Sentence, sentences_from_pieces
from foveate.answer.figures import missing_numbers, number_spellings
from foveate.answer.quantities import contradicted
from foveate.answer.quotes import Quotation, check_quotations
from foveate.answer.reasoning import split_reasoning
from foveate.answer.support import Scorer, SourceIndex, Support
from foveate.core.errors import BadInput
from foveate.core.text.citation_markers import AnswerPiece, CitationMark, scan_markers
from foveate.core.typed import check_arguments
from foveate.core.types import Context, Span
from foveate.pipeline.inputs import Channel, check_context

SUPPORT_THRESHOLD = 0.25
"""A claim whose best cited passage scores less is called unsupported: paraphrases score little."""
FOUND_THRESHOLD = 0.5
"""What a passage must score to be called a claim's source though the claim does not cite it."""
UNRELATED = 0.1
"""A block whose best passage scores less says nothing about a claim."""
CLEAR_MARGIN = 0.25
"""Another block must say so much more before a claim is said to be another block's."""

FindSupport: TypeAlias = Callable[[str], Mapping[int, Support]]
"""A claim → for each marker the passage that supports it best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DanglingMarker:
    """A marker that resolves to nothing that was shown, and why."""

    text: str
    span: Span
    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence that makes a statement, with its citations.

    `support`: the best passage among its markers; None without a shown one. `elsewhere`: a
    passage of another marker that supports it clearly better. `over_cited`: markers whose blocks
    say nothing about it. `figures`: numbers that are neither in its sources nor in the question,
    and those that its sources have with another unit, sign or bound; names of one letter too.
    `spoken`: no marker was asked for; `markers` are those of the block with the best passage.
    """

    text: str
    span: Span
    markers: tuple[int, ...]
    support: Support | None = None
    elsewhere: Support | None = None
    over_cited: tuple[int, ...] = ()
    figures: tuple[str, ...] = ()
    quotations: tuple[Quotation, ...] = ()
    spoken: bool = False

    @property
    def supported(self) -> bool:
        """Whether a passage that it cites scores enough; one found by words alone needs more."""
        least = FOUND_THRESHOLD if self.spoken else SUPPORT_THRESHOLD
        return self.support is not None and self.support.score >= least

    @property
    def faults(self) -> tuple[str, ...]:
        """The names of its faults."""
        found = []
        if not self.markers and not self.spoken:
            found.append("uncited")
        elif not self.supported:
            found.append("unsupported")
        if self.elsewhere is not None and self.markers:
            found.append("other_source")
        if self.over_cited:
            found.append("over_cited")
        if self.figures:
            found.append("unsupported_figures")
        if any(quotation.verdict == "altered" for quotation in self.quotations):
            found.append("altered_quotation")
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCheck:
    """An answer, checked. Spans are character ranges of the answer."""

    answer: str
    claims: tuple[Claim, ...]
    dangling: tuple[DanglingMarker, ...]
    cited: tuple[int, ...]
    uncited: tuple[Claim, ...] = field(default=())
    unused: tuple[int, ...] = ()

    @property
    def no_fault_found(self) -> bool:
        """Whether no marker dangles and no claim has a fault: what was found, not what is true."""
        return not self.dangling and not any(claim.faults for claim in self.claims)

    @property
    def support(self) -> float | None:
        """The mean support of the citing claims; None without any."""
        scores = [claim.support.score for claim in self.claims if claim.support is not None]
        return sum(scores) / len(scores) if scores else None


@check_arguments("answer", "context")
def check_answer(
    answer: str,
    context: Context,
    *,
    scorer: Scorer | None = None,
    language: str = "en",
    channel: Channel = "text",
) -> AnswerCheck:
    """Check an answer against its context; raises `BadInput` if the answer is no text.

    >>> from foveate import assemble
    >>> found = [{"text": "The mill was built in 1880.", "source": "mill.md"}]
    >>> context = assemble("When was the mill built?", found, budget=99)
    >>> checked = check_answer("It was built in 1881 [1]. It has a red roof [2].", context)
    >>> [claim.faults for claim in checked.claims], [one.name for one in checked.dangling]
    ([('unsupported', 'unsupported_figures'), ('uncited',)], ['2'])

    `scorer`: says of a claim and passages how far each supports it, 0 to 1, in place of the words:
    an entailment model, or an embedder.
    `channel`: in `voice` no marker is asked for, so nothing is uncited; sources are found by what
    is said. What a model thought aloud before its answer (`<think>` and the like) is not checked.
    """
    if not isinstance(answer, str):
        raise BadInput(f"must be a string, not {type(answer).__name__}", field="answer")
    check_context(context)
    first, last = split_reasoning(answer)
    said = "\n" * first + answer[first:last]  # so that places stay places of the answer
    pieces = list(PlainBracketFilter(context)(scan_markers(said, names_from_context(context))))
    grounds = SourceIndex(context, language=language)
    shown = set(grounds.markers)
    asked = number_spellings(context.query)
    sentences = sentences_from_pieces(pieces, language, asked)
    find_support = cache(partial(grounds.best_support, scorer=scorer))  # sentences may repeat
    hold = _check_spoken_claim if channel == "voice" else _check_claim
    claims = tuple(
        hold(sentence, grounds, asked, find_support) for sentence in sentences if sentence.is_claim
    )
    marked = {n for piece in _select_marks(pieces) for n in piece.numbers if n in shown}
    cited = marked.union(*(claim.markers for claim in claims))
    return AnswerCheck(
        answer=answer,
        claims=claims,
        dangling=tuple(_find_dangling_markers(_select_marks(pieces), shown, context)),
        cited=tuple(sorted(cited)),
        uncited=tuple(claim for claim in claims if not (claim.markers or claim.spoken)),
        unused=tuple(n for n in grounds.markers if n not in cited),
    )


def _select_marks(pieces: Iterable[AnswerPiece]) -> list[CitationMark]:
    return [piece for piece in pieces if isinstance(piece, CitationMark)]


def _check_claim(
    sentence: Sentence,
    grounds: SourceIndex,
    asked: set[str],
    find_support: FindSupport,
) -> Claim:
    named = [n for mark in sentence.marks for n in mark.numbers]
    markers = tuple(n for n in dict.fromkeys(named) if n in grounds.markers)
    found = find_support(sentence.text)
    support = max((found[n] for n in markers if n in found), key=_support_order, default=None)
    others = (one for n, one in found.items() if n not in markers)
    other = max(others, key=_support_order, default=None)
    floor = max(support.score + CLEAR_MARGIN if support else 0.0, FOUND_THRESHOLD)
    cited = markers or grounds.markers
    quotes = sentence.has_quotation_mark
    texts = [text for n in cited for text in grounds.texts(n)] if quotes else []
    otherwise = contradicted(sentence.text, (one for n in cited for one in grounds.stated(n)))
    figures = missing_numbers(sentence.text, asked.union(*(grounds.numbers(n) for n in cited)))
    return Claim(
        text=sentence.text,
        span=sentence.span,
        markers=markers,
        support=support,
        elsewhere=other if other is not None and other.score >= floor else None,
        over_cited=_over_cited(markers, found),
        figures=tuple(dict.fromkeys((*figures, *otherwise))),
        quotations=check_quotations(sentence.text, sentence.span[0], texts),
    )


def _over_cited(markers: Sequence[int], found: Mapping[int, Support]) -> tuple[int, ...]:
    """The markers, if several, whose best passage says nothing about the claim."""
    if len(markers) < 2:
        return ()
    return tuple(n for n in markers if n not in found or found[n].score < UNRELATED)


def _check_spoken_claim(
    sentence: Sentence,
    grounds: SourceIndex,
    asked: set[str],
    find_support: FindSupport,
) -> Claim:
    """The claim with its best source; markers that are written anyway count."""
    claim = _check_claim(sentence, grounds, asked, find_support)
    if claim.markers:
        return replace(claim, spoken=True)
    found = find_support(sentence.text)
    best = max(found.values(), key=_support_order, default=None)
    held = best is not None and best.score >= FOUND_THRESHOLD
    return replace(
        claim,
        spoken=True,
        markers=(best.marker,) if best is not None and held else (),
        support=best,
        elsewhere=None,
    )


def _support_order(support: Support) -> tuple[float, int]:
    return (support.score, -support.marker)


def _format_source_count(sources: int) -> str:
    if not sources:
        return "the context shows no source"
    return "there is 1 source" if sources == 1 else f"there are {sources} sources"


def _find_dangling_markers(
    marks: Iterable[CitationMark], shown: set[int], context: Context
) -> Iterable[DanglingMarker]:
    gone = left_out_reasons(context)
    last = max(shown, default=0)
    for mark in marks:
        span = (mark.start, mark.end)
        for number in mark.numbers:
            if number not in shown:
                reason = _format_source_count(last)
                yield DanglingMarker(text=mark.text, span=span, name=str(number), reason=reason)
        for name in mark.unknown:
            left = gone.get(name.casefold())
            reason = f"left out by {left}" if left else "no such source in the context"
            yield DanglingMarker(text=mark.text, span=span, name=name, reason=reason)
