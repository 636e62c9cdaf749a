"""A model's offer → a rendition, if it is what it says that it is (SPEC S8).

An extract is made here from the text's own spans, so that it is verbatim whatever the offer says.
An abstract is held against the text. Both must be shorter than the text, and not under the floor.
"""

from __future__ import annotations

from foveate.core.compressed_text import Offer
from foveate.core.text.rewrite_check import check_rewrite
from foveate.core.text.salience import join_spans
from foveate.core.token_counter import TokenCounter
from foveate.core.types import Candidate, Rendition, Span

ABRIDGED_MARK = "[Abridged, not verbatim] "
"""What a reader sees before a rewritten text."""
EXTRACT_VALUE, ABSTRACT_VALUE = (
    0.95,
    0.9,
)  # of a text's worth: what answers is in it, what is around it is not


def rendition_from_compressed_text(
    offer: Offer, candidate: Candidate, *, gauge: TokenCounter, least: int
) -> Rendition | str:
    """The rendition that is offered; or, in words, why it cannot be.

    `least`: tokens under which nothing is offered.
    """
    if offer.why:
        return offer.why
    made = (
        _build_extract(offer, candidate)
        if offer.way == "llm_extract"
        else _build_abstract(offer, candidate)
    )
    if isinstance(made, str):
        return made
    tokens, size = gauge.count_text(made.text), gauge.count_passage(candidate)
    if tokens >= size or len(made.text) >= len(candidate.text.strip()):
        return f"what the model wrote is no shorter: {tokens} tokens, and the text {size}"
    if tokens < least:
        return f"what the model wrote has {tokens} tokens, fewer than {least}"
    return made


def _build_extract(offer: Offer, candidate: Candidate) -> Rendition | str:
    """The text's own spans; those of an offer that was tampered with are no spans of it."""
    if not offer.spans:
        return "no sentence that the model wrote is the text's"
    reached = 0
    for start, end in offer.spans:
        if not reached <= start < end <= len(candidate.text):
            return "its spans are not the text's"
        reached = end
    text, ranges = join_spans(candidate.text, offer.spans)
    return Rendition(kind="extract", text=text, spans=ranges, value=EXTRACT_VALUE)


def _build_abstract(offer: Offer, candidate: Candidate) -> Rendition | str:
    """The model's words, with the mark that says so."""
    said = offer.text.strip()
    if not said:
        return "the model wrote nothing"
    if why := check_rewrite(said, candidate.text):
        return f"not the text's: {why}"
    whole: tuple[Span, ...] = ((0, len(candidate.text)),)
    text = ABRIDGED_MARK + said
    return Rendition(kind="abstract", text=text, spans=whole, value=ABSTRACT_VALUE, verbatim=False)
