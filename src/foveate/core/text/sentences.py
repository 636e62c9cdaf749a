"""The sentences of a text as exact spans, for any language, in linear time.

Blocks and lines are split first (`blocks`), then prose by `sentencex`. Spans are trimmed, ordered
and disjoint; every character that is not white space is in one; none is longer than
`MAX_SENTENCE_LENGTH`. Nothing here raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import repeat
from string import ascii_uppercase

from foveate.core.text.blocks import BlockKind, block_spans, line_spans, trim_span
from foveate.core.text.graphemes import is_inside_run, last_grapheme_boundary, last_word_boundary
from foveate.core.text.terms import STOP_WORDS
from foveate.core.types import Span

MAX_SENTENCE_LENGTH = 4_000
"""Characters; longer runs without a sentence end are cut between words. It also bounds what the
splitter sees at once: it is quadratic in unpaired quotation marks."""

_TAIL = 24
"""Characters that are looked at before an end, and behind a beginning."""
_SHORT = re.compile(r"(?:.*[^\w'\u2019\u00b0])?[^\W\d_]\.|[A-Z][a-z]\.")
"""A letter, as in "U.S. Army" and "M. Dupont", or a short title, as in "an Hr. Weber"."""
_SHORT_NUMBER = re.compile(r"\d{1,2}\.")
_BRIEF = re.compile(r"\W*[^\W\d_]{1,6}\.")
_QUANTITY = re.compile(r"\d(?!\d*+(?:[.)]\s|,\s?\d))")  # but not "it. 2. Go" and "rates. 1, 2 We"
_LIGHT = STOP_WORDS["en"] | STOP_WORDS["de"]
"""What begins sentences, and is no name: "room 12. The key", "Es sind nur 12. Die Pumpe"."""
_MONTHS = "januar februar märz april mai juni juli august september oktober november dezember"
_GERMAN_MONTHS = frozenset(_MONTHS.split())
_BEFORE_ORDINAL = STOP_WORDS["de"] - STOP_WORDS["en"] - {"bin", "hat", "man", "war"} | {"am"}
"""What stands before an ordinal in German, and hardly before a last number in English."""
_LIST_NUMBER = re.compile(r"\d{1,9}\.")
_DECIMAL = re.compile(r"(?<=\d\uff0e)\d")
"""Behind the decimal point of Chinese and Japanese figures."""
_LEADER = re.compile(r"(?<!\.)(?<!\. )\.(?: ?\.){2}[ .]*+(?=[\d\[$\u20ac\u00a3])")
"""The dots between a name and its price, page or count."""
_WORD = re.compile(r"[^\W\d_]++")
# What ends an ASCII sentence in some language; without it, but at the end, there is nothing to ask.
_STOP = re.compile(r"[.!?:;](?=.)", re.DOTALL)
# Ends that sentencex does not know: of Khmer (but not in the middle of its "etc."), Tibetan and
# Mongolian, and Lao's full stop without a space.
_MORE_ENDS = re.compile(
    r"(?:[\u17d4\u17d5\u0f0d\u0f0e\u1803]++(?:\s++[\u0f0d\u0f0e]++)*+(?!\s?(?:\u179b|\u1794\u17c1)\u17d4)"
    r"|(?<=[\u0e80-\u0eff])[.](?=\s*[\u0e80-\u0eff]))[\u00bb\u201d\"')\]]*\s*(?=\S)"
)
_LETTERS = re.compile(r"[A-Za-z\u00c0-\u024f]")
_BY_SCRIPT = (
    (
        "ru",
        re.compile(r"[\u0400-\u052f]"),
        ["ru", "uk", "be", "bg", "sr", "mk", "kk", "ky", "mn", "tg"],
    ),
    ("el", re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]"), ["el"]),
)
"""A language whose rules are those of a script, and the languages that have rules of their own."""
# sentencex 1.0.32 panics on a capital, a white space of several bytes and a full stop.
_WIDE_SPACE = re.compile(r"[^\S\x00-\x7f]")


def base_language(language: str) -> str:
    """The language of a code that also names a country.

    >>> base_language("pt-BR"), base_language("nl_BE")
    ('pt', 'nl')
    """
    return language.replace("_", "-").partition("-")[0].lower()


def sentence_spans(text: str, language: str = "en") -> list[Span]:
    r"""The text's sentences in order: verbatim half-open spans, trimmed, none overlapping.

    `language` is an ISO 639-1 code; unknown ones are split as English is.

    >>> text = "Dr. Ames came.  He left.\n\n- one\n- two"
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['Dr. Ames came.', 'He left.', '- one', '- two']
    """
    return [
        unit for span, kind in block_spans(text) for unit in unit_spans(text, span, kind, language)
    ]


def unit_spans(text: str, span: Span, kind: BlockKind, language: str = "en") -> list[Span]:
    """The units of one block: sentences of prose, lines of code and tables, a heading whole."""
    start, end = span
    if kind == "paragraph" and has_leaders(text, span):
        return list(_lines(text, start, end))
    if kind == "paragraph" and end - start <= MAX_SENTENCE_LENGTH:  # as nearly all are
        return _trimmed(text, start, _sentence_ends(text, start, end, language))
    return list(each_unit(text, span, kind, language))


def has_leaders(text: str, span: Span) -> bool:
    r"""Whether at least two lines of a paragraph, and half of them, have dots before a figure.

    >>> has_leaders("Soup ..... 5.10\nCutlet ... 14.20", (0, 32)), has_leaders("So... 5", (0, 7))
    (True, False)
    """
    piece = text[slice(*span)]
    if "..." not in piece and ". ." not in piece:
        return False
    found = sum(1 for _ in _LEADER.finditer(text, *span))
    return found > 1 and 2 * found > text.count("\n", *span)


def each_unit(text: str, span: Span, kind: BlockKind, language: str = "en") -> Iterator[Span]:
    """The same units one by one: a block may be as long as the text."""
    start, end = span
    if kind == "heading" and end - start <= MAX_SENTENCE_LENGTH:
        return iter((span,))
    if kind in ("code", "table"):
        return _lines(text, start, end)
    return _prose_spans(text, start, end, language)


def _lines(text: str, start: int, end: int) -> Iterator[Span]:
    for first, last in line_spans(text[start:end]):
        yield from _split_long_span(text, *trim_span(text, start + first, start + last))


def _split_long_span(text: str, start: int, end: int) -> Iterator[Span]:
    """The trimmed span in pieces of at most `MAX_SENTENCE_LENGTH` characters."""
    while end - start > MAX_SENTENCE_LENGTH:
        cut = last_word_boundary(text, start + MAX_SENTENCE_LENGTH, start)
        cut = cut if cut > start else start + MAX_SENTENCE_LENGTH
        yield trim_span(text, start, cut)
        start = trim_span(text, cut, end)[0]
    if end > start:
        yield (start, end)


def _prose_spans(text: str, start: int, end: int, language: str) -> Iterator[Span]:
    """Sentences of one block, seen through a window of `MAX_SENTENCE_LENGTH` characters."""
    while start < end:
        stop = min(end, start + MAX_SENTENCE_LENGTH)
        bounds = _sentence_ends(text, start, stop, language)
        if stop < end and len(bounds) > 1:
            bounds.pop()  # the window may have cut it; the next window starts with it
        elif stop < end:
            bounds = [last_word_boundary(text, stop, start)]
            bounds = bounds if bounds[0] > start else [stop]
        yield from _trimmed(text, start, bounds)
        start = bounds[-1]


def _trimmed(text: str, start: int, ends: list[int]) -> list[Span]:
    """What stands between these places and is not white space alone."""
    spans = map(trim_span, repeat(text), [start, *ends], ends)
    return [span for span in spans if span[1] > span[0]]


def _sentence_ends(text: str, start: int, stop: int, language: str) -> list[int]:
    """Where sentences of `text[start:stop]` end, the last at `stop`; never inside a grapheme."""
    bounds: list[int] = []
    last = offset = start
    for size in _split_sentences(text[start:stop], language):
        bound = offset = offset + size
        if bound == stop or text[bound - 1] != " " or text[bound] not in ascii_uppercase:
            pair = text[bound - 1 : bound + 1]
            if pair == "\r\n" or not pair.isascii():
                bound = last_grapheme_boundary(text, bound, last)
            is_end = last < bound < stop and not _is_abbreviation(text, last, bound)
        else:  # most ends: behind three letters, a capital begins a sentence
            is_word = text[bound - 5 : bound - 2].isalpha()
            is_end = is_word or not _is_abbreviation(text, last, bound)
        if is_end:
            bounds.append(bound)
            last = bound
    return [*bounds, stop]


def _is_abbreviation(text: str, start: int, bound: int) -> bool:
    """Whether the sentence goes on behind what looks like its end, for texts of any language.

    In doubt it does: a sentence that is too long costs tokens, a cut one loses what it says.
    """
    if text[bound - 1] == "\uff0e":
        return _DECIMAL.match(text, bound) is not None
    if text[bound - 1].isascii() and is_inside_run(text, bound):
        return True  # "object.__exit__", "1.5", "conf.Name"
    words = text[max(start, bound - _TAIL) : bound].split()
    word, following = words[-1] if words else "", text[bound]
    if not word.endswith("."):
        return False
    if len(words) == 1 and _LIST_NUMBER.fullmatch(word):
        return True
    if text[bound - 1] == "\n":
        return False
    if following.isdigit():
        is_brief = _BRIEF.fullmatch(word) and _QUANTITY.match(text, bound)  # "max. 3 bar"
        return bool(is_brief or _SHORT_NUMBER.fullmatch(word))  # "14. 9. 2031"
    if following.islower():
        return next(filter(str.isalpha, text[start : start + _TAIL]), "").isupper()
    behind = _WORD.match(text, bound)
    if behind is None or behind[0].lower() in _LIGHT:
        return False
    if _SHORT_NUMBER.fullmatch(word):
        return _is_german_ordinal(words[:-1], behind[0].lower())
    return _SHORT.fullmatch(word) is not None


def _is_german_ordinal(before: list[str], behind: str) -> bool:
    """Whether a number with a full stop is one, as in "am 8. Juni", before a capital."""
    if behind in _GERMAN_MONTHS:
        return True
    return before[-1].lower() in _BEFORE_ORDINAL and [*map(str.lower, before[-2:])] != ["i", "am"]


def _language_by_script(piece: str, language: str) -> str:
    """The language, unless most of the letters are of a script that it is not written in."""
    for of_script, letters, own in _BY_SCRIPT:
        count = 0 if language in own else len(letters.findall(piece))
        if count and count > len(_LETTERS.findall(piece)):
            return of_script
    return language


def _split_further(found: Iterable[str]) -> Iterator[str]:
    for sentence in found:
        start = 0
        for match in _MORE_ENDS.finditer(sentence):
            yield sentence[start : match.end()]
            start = match.end()
        yield sentence[start:]


def _split_sentences(piece: str, language: str) -> list[int]:
    """How long each sentence is, with the white space behind it.

    `sentencex.segment` takes half as long as `get_sentence_boundaries`.
    """
    if piece.isascii() and not _STOP.search(piece):
        return [len(piece)]
    import sentencex

    language = base_language(language)
    if piece.isascii():
        plain, more = piece, None
    else:
        plain, more = _WIDE_SPACE.sub(" ", piece), _MORE_ENDS.search(piece)
        language = _language_by_script(piece, language)
    try:
        found = sentencex.segment(language, plain)
        return [*map(len, found if more is None else _split_further(found))]
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException:  # noqa: BLE001 - a panic of the engine is a BaseException; the piece stays whole
        return [len(piece)]
