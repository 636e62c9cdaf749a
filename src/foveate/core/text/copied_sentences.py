"""Which sentences of a text a model copied out: found in it, white space apart, or thrown away.

Rules: a line of the answer, or a sentence of it, counts where it stands in the text with the same
characters, white space left out; a list mark or quotation marks around it may be taken off. What is
given back are whole sentences of the text, as the text has them: of half a sentence nothing is
shown, for half of "not before noon" says the opposite. In linear time a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from foveate.core.text.sentences import sentence_spans
from foveate.core.types import Span

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
        for said in dict.fromkeys((piece, _LIST.sub("", piece), _strip_marks(piece))):
            if held := _matching_sentences("".join(said.split()), squeezed, places):
                found.update(held)
                break
    return tuple(spans[n] for n in sorted(found))


def _answer_pieces(answer: str, language: str) -> Iterator[str]:
    """Each line, its sentences where it has several, and those that go over several lines."""
    for line in answer.splitlines()[:MAX_LINES]:
        if not line.strip():
            continue
        yield line
        inner = sentence_spans(line, language)
        if len(inner) > 1:
            yield from (line[a:b] for a, b in inner)
    yield from (answer[a:b] for a, b in sentence_spans(answer, language)[:MAX_LINES])


def _strip_marks(piece: str) -> str:
    return _LIST.sub("", piece).strip().strip(_QUOTES)


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
