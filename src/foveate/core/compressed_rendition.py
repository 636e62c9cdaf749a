"""A model's compressed text becomes a rendition if it passes the checks (SPEC S8).

An extract is made from the spans of the text's own sentences: a sentence that a model copied is
found by its characters without white space, and only whole sentences count. An abstract is checked
against the text. Both must be shorter than the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from foveate.core.renditions import join_chunk_spans
from foveate.core.request import Offer
from foveate.core.text.facts import extract_values
from foveate.core.text.sentences import sentence_spans
from foveate.core.text.words import split_words
from foveate.core.token_counter import TokenCounter
from foveate.core.types import Candidate, Rendition, Span

ABRIDGED_MARK = "[Abridged, not verbatim] "
"""What a reader sees before a rewritten text."""
EXTRACT_VALUE, ABSTRACT_VALUE = (
    0.95,
    0.9,
)  # of a text's worth: what answers is in it, what is around it is not


def rendition_from_compressed_text(
    offer: Offer, candidate: Candidate, *, counter: TokenCounter, least: int
) -> Rendition | str:
    """The rendition of an offer, of at least `least` tokens; or the reason why there is none."""
    if offer.why:
        return offer.why
    made = (
        _build_extract(offer, candidate)
        if offer.way == "llm_extract"
        else _build_abstract(offer, candidate)
    )
    if isinstance(made, str):
        return made
    tokens, size = counter.count_text(made.text), counter.count_passage(candidate)
    if tokens >= size or len(made.text) >= len(candidate.text.strip()):
        return f"what the model wrote is no shorter: {tokens} tokens, and the text {size}"
    if tokens < least:
        return f"what the model wrote has {tokens} tokens, fewer than {least}"
    return made


def _build_extract(offer: Offer, candidate: Candidate) -> Rendition | str:
    if not offer.spans:
        return "no sentence that the model wrote is the text's"
    reached = 0
    for start, end in offer.spans:
        if not reached <= start < end <= len(candidate.text):
            return "its spans are not the text's"
        reached = end
    text, ranges = join_chunk_spans(candidate.chunk, offer.spans, candidate.parts)
    return Rendition(kind="extract", text=text, spans=ranges, value=EXTRACT_VALUE)


def _build_abstract(offer: Offer, candidate: Candidate) -> Rendition | str:
    said = offer.text.strip()
    if not said:
        return "the model wrote nothing"
    if why := check_rewrite(said, candidate.text):
        return f"not the text's: {why}"
    whole: tuple[Span, ...] = ((0, len(candidate.text)),)
    text = ABRIDGED_MARK + said
    return Rendition(kind="abstract", text=text, spans=whole, value=ABSTRACT_VALUE, verbatim=False)


MIN_SHARED_WORDS = 0.5  # of a text's words stand in what it is written from
STRUCTURE_PREFIXES = ("{", "[", "<", "```")
MAX_SHORT_WORD = 3  # characters; words up to that stand in every text


def check_rewrite(text: str, source: str) -> str:
    """Why the text may not stand for the source, in words; empty where nothing says so.

    >>> check_rewrite("The valve opens at 4 bar.", "At 3 bar the valve opens.")
    'it says 4bar, which the text does not'
    >>> check_rewrite("The valve opens at 3 bar.", "At 3 bar the valve opens.")
    ''
    """
    if text.lstrip().startswith(STRUCTURE_PREFIXES) and not source.lstrip().startswith(
        STRUCTURE_PREFIXES
    ):
        return "it is structure, not prose"
    if strange := extract_values(text) - extract_values(source):
        return f"it says {min(strange)}, which the text does not"
    said = frozenset(split_words(text))
    said = frozenset(word for word in said if len(word) > MAX_SHORT_WORD) or said
    if len(said & frozenset(split_words(source))) < MIN_SHARED_WORDS * len(said):
        return "most of its words are not the text's"
    return ""


MAX_LINES = 500  # of an answer are looked at
MAX_LENGTH_RATIO = 4  # times the text's length, and a little; what is longer is no copy
_LIST = re.compile(r"^\s*(?:[-*•]|\(?\d{1,3}[.)])\s+")
_QUOTES = "\"'“”‘’«»„`"


def find_copied_sentences(answer: str, text: str, language: str = "en") -> tuple[Span, ...]:
    r"""Spans of the text's sentences that the answer holds, in the order of the text.

    >>> text = "It is old.  It leaks at 3 bar. It is blue."
    >>> [
    ...     text[a:b]
    ...     for a, b in find_copied_sentences("- It leaks  at\n3 bar.\nIt is red.\nis blue.", text)
    ... ]
    ['It leaks at 3 bar.']
    """
    spans = sentence_spans(text, language)
    squeezed = "".join(text.split())
    places = _squeezed_spans(text, spans)
    found: set[int] = set()
    for piece in _answer_pieces(answer[: MAX_LENGTH_RATIO * len(text) + 1_000], language):
        bare = _LIST.sub("", piece)
        for said in dict.fromkeys((piece, bare, bare.strip().strip(_QUOTES))):
            if held := _matching_sentences("".join(said.split()), squeezed, places):
                found.update(held)
                break
    return tuple(spans[n] for n in sorted(found))


def _answer_pieces(answer: str, language: str) -> Iterator[str]:
    for line in answer.splitlines()[:MAX_LINES]:
        if not line.strip():
            continue
        yield line
        inner = sentence_spans(line, language)
        if len(inner) > 1:
            yield from (line[a:b] for a, b in inner)
    yield from (answer[a:b] for a, b in sentence_spans(answer, language)[:MAX_LINES])


def _squeezed_spans(text: str, spans: Sequence[Span]) -> list[Span]:
    """Where each sentence stands in the text without white space."""
    places, at, reached = [], 0, 0
    for start, end in spans:
        at += len("".join(text[reached:start].split()))
        size = len("".join(text[start:end].split()))
        places.append((at, at + size))
        at, reached = at + size, end
    return places


def _matching_sentences(said: str, squeezed: str, places: Sequence[Span]) -> list[int]:
    """The sentences that lie in the first place that says this; a lost full stop is forgiven."""
    at = squeezed.find(said) if said else -1
    if at < 0:
        return []
    end = at + len(said)
    return [
        n
        for n, (first, last) in enumerate(places)
        if at <= first < end and _last_alphanumeric_end(squeezed, first, last) <= end
    ]


def _last_alphanumeric_end(squeezed: str, first: int, last: int) -> int:
    """Where the sentence's last letter or digit ends; its own end where it has none."""
    end = last
    while end > first and not squeezed[end - 1].isalnum():
        end -= 1
    return end if end > first else last
