"""The facts that two texts must agree on before one may replace the other, in reading order.

1. numbers  Every run with a digit, with its sign, comparison, currency, glued letters and unit:
   -5, >=5, 5mg, 5%, 12:30, 2024-01-31, B12. Case and spelling count (mW is not MW).
2. marks    Negations, words of quantity, duty and condition, months, days, spelled numbers, units.
   English, German, French, Spanish, Dutch, Italian, Portuguese, Russian, Chinese, Japanese;
   negations alone in 19 more languages. "don't", "cannot" and "not" are one mark. A question mark
   is one, with the word before it. Ambiguous month names and bounds (under, than) count beside a
   number only. In code, `!` and operators between spaces.
3. symbols  Ticks, arrows, signs of money and of mathematics, boxes ([ ], [x]), struck-out text
   (~~), figures in brackets, signs before words, letters of options (-o is not -O), and names of
   one letter (hepatitis A).

A mark too many only keeps apart two texts that could have been one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from foveate.core.text.fact_words import (
    BEFORE_NUMBER,
    BESIDE_NUMBER,
    LONE_UNIT_WORDS,
    MARK_WORDS,
    TURNING_WORDS,
    UNIT_WORDS,
)
from foveate.core.text.words import beyond_ascii, split_words

_LETTER = "A-Za-z\u00aa\u00b2\u00b3\u00b5\u00b9\u00ba\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
_CJK_UNIT = (
    "平方公里|平方米|公里|公斤|千克|毫克|毫升|厘米|毫米|小时|小時|分钟|分鐘|时间|個月|个月|百万|"
    "[年月日号號时時点點分秒元円圆米克吨噸升度万萬亿億千百个個岁歳人次倍]"
)
_FRACTION = "½¼¾⅐-⅞"
_NUMBER = re.compile(
    rf"[\d{_FRACTION}](?:[.,:/'’–-]?[\d{_FRACTION}{_LETTER}])*"
    rf"(?=[ \u00a0\u202f]?([%‰°$€£¥₹％][A-Z]?+(?!\w)|(?:{_CJK_UNIT})++|"
    r"[A-Za-zµμΩ²³]++(?:/[A-Za-zµμΩ²³]++)?+(?!\w))?)"
)
_HEAD = re.compile(r"([<>≤≥≠≈~±＜＞]=? ?)?((?<!\w)[+−-])?([$€£¥₹] ?)?\Z")
_PRIMES = "'\""
_HEAD_SIGNS = frozenset("<>≤≥≠≈~±＜＞=+−-$€£¥₹")
_ONE_SPELLING = str.maketrans("０１２３４５６７８９−％μ＜＞", "0123456789-%µ<>")
_BOUND_WORDS = frozenset(word.casefold() for word in BEFORE_NUMBER.split())
_MONTHS_BESIDE_NUMBER = frozenset(word.casefold() for word in BESIDE_NUMBER.split())
_POLARITY_WORDS = frozenset(word.casefold() for word in TURNING_WORDS.split()) | {"t"}
_NAMED_VALUES = frozenset(word.casefold() for word in MARK_WORDS.split()) | _MONTHS_BESIDE_NUMBER
_MARKS = (
    frozenset(word.casefold() for word in MARK_WORDS.split()) - _MONTHS_BESIDE_NUMBER
    | _POLARITY_WORDS
)
_ANY_CASE = frozenset(word.casefold() for word in UNIT_WORDS.split())
_MAY_AS_MONTH = re.compile(
    r"\d(?:th|st|nd|rd|\.)? +may\b|\bmay +\d"
)  # the month; else it is a verb
_LONE_UNITS = frozenset(LONE_UNIT_WORDS.split())
_WATCHED_WORDS = _MARKS | _MONTHS_BESIDE_NUMBER | _LONE_UNITS | _BOUND_WORDS
_CANONICAL_MARKS = {"t": "not", "cannot": "not", "n": "ne"}
_CODE = re.compile(r"!=|!(?=[A-Za-z_(])|(?<=[\w)\]] )[-*/](?= [\w(])")
SIGNS = frozenset(("!=", "!", "-", "*", "/"))
_MAY_BE_CODE = ("!", " - ", " * ", " / ")
_NAME = r"(?<=[a-z\d,ß-ÿα-ωа-я] )(?!I\b)[A-ZΑ-ΩА-Я](?![\w'’])(?!\.\w)"
_SYMBOL = re.compile(
    r"[§×÷¬†‡№←-⇿∀-∑∓-≇≉-≟≡-≣≦-⋿☀-➓➕-➗➡⬀-⯿＝\U0001f000-\U0001faff]"
    r"|(?<!\d)(?<!\d )[¢-¥±‰′″₠-₿≈≠≤≥＜＞](?! ?\d)"  # else they are a part of the number
    r"|\[[ xX]\]|~~|\(\d[\d.,]*+\)|(?<=\S )(?:[<>=]=|&&|\|\||[<>=])(?= [^\W\d]| \()"
    r"|(?<=\S )[+−-](?:[A-Za-z](?!\w)|(?=[A-Za-z]))|(?<=[:=] )[+−-](?=\s|\Z)"
    rf"|{_NAME}"
)
_LETTER_NAME = re.compile(_NAME)
_KOREAN_TURNING = ("않", "없", "못", "아니")
"""How negated forms begin; of the short 안 alone, for 안전 is safety."""
_HANGUL_FIRST = "\uac00"
_HANGUL = re.compile("[\u1100-\u11ff\uac00-\ud7a3]")  # also in parts; words put them together
_QUESTION_MARKS = "?？؟"
_QUESTION_MARK = re.compile(rf"(?<![{_QUESTION_MARKS}])[{_QUESTION_MARKS}]++(?!\w)")
_QUESTION_CONTEXT = 64  # characters in which the word before a sign is looked for
_HAN_TURNING = "不没沒非无無未勿别別莫否禁都只仅僅每必须須应應可能若"
_HAN = re.compile(
    f"[{_HAN_TURNING}两兩二三四五六七八九十百千万萬亿億半]|ない|なく|ません|今天|明天|昨天|谣言|謠言|谎言|误传|誤傳|废止|撤销|ไม่|มิได้|ห้าม"
)


def extract_facts(text: str, spelled: Sequence[str] | None = None) -> tuple[str, ...]:
    """The text's numbers, then its marks; `spelled` is `split_words(text)` where the caller has it.

    >>> extract_facts("Do not take 5 mg before 12 May 2024.")
    ('5mg', '12', '2024', 'not', 'before', 'may')
    """
    spelled = split_words(text) if spelled is None else spelled
    marks = tuple(_extract_marks(spelled)) if not _WATCHED_WORDS.isdisjoint(spelled) else ()
    rest = "" if text.isascii() else beyond_ascii(text)
    han = tuple(_HAN.findall(text)) if _HAN.search(rest) else ()
    if _HANGUL.search(rest):
        han = (*han, *filter(_is_korean_negation, spelled))
    code = tuple(_CODE.findall(text)) if any(sign in text for sign in _MAY_BE_CODE) else ()
    asked = _QUESTION_MARK.finditer(text) if any(mark in text for mark in _QUESTION_MARKS) else ()
    questions = [f"{word}?" for mark in asked if (word := _word_before(text, mark.start()))]
    symbols = (sign[0].replace(" ", "_") for sign in _SYMBOL.finditer(text))
    return (*_extract_numbers(text), *marks, *han, *code, *questions, *symbols)


def extract_values(text: str) -> frozenset[str]:
    """Numbers as they are spelled, with sign and unit; spelled numbers, months and days.

    >>> sorted(extract_values("Take 5 mg on Monday, not on 2 March, for three weeks."))
    ['2', '5mg', 'march', 'monday', 'three']
    """
    found = {
        *_extract_numbers(text),
        *_NAMED_VALUES.intersection(_extract_marks(split_words(text))),
    }
    if _MAY_AS_MONTH.search(text.casefold()):
        found.add("may")
    if not text.isascii():
        found.update(sign for sign in _HAN.findall(text) if not polarity_mark(sign[0]))
    return frozenset(found)


def polarity_mark(word: str) -> str:
    """The mark that the word is where it negates, counts, obliges or conditions; else empty.

    >>> polarity_mark("cannot"), polarity_mark("only"), polarity_mark("blue")
    ('not', 'only', '')
    """
    if word in _POLARITY_WORDS or word in _HAN_TURNING:
        return _CANONICAL_MARKS.get(word, word)
    return word if word >= _HANGUL_FIRST and _is_korean_negation(word) else ""


def _is_korean_negation(word: str) -> bool:
    return word == "안" or word.startswith(_KOREAN_TURNING)


def _word_before(text: str, at: int) -> str:
    """The last word before this place; empty if none is near."""
    return next(reversed(split_words(text[max(0, at - _QUESTION_CONTEXT) : at])), "")


class Quantity(NamedTuple):
    """A number with what stands around it: `bound` is a sign of comparison, `unit` in its case."""

    start: int
    end: int
    bound: str
    sign: str
    digits: str
    unit: str
    currency: str


def quantities(text: str) -> Iterator[Quantity]:
    """Every number of the text, in order.

    >>> [one[2:] for one in quantities("under ≤ -5 mg or $7")]
    [('≤', '-', '5', 'mg', ''), ('', '', '7', '', '$')]
    """
    end = 0
    for found in _NUMBER.finditer(text):
        start = _run_start(text, found.start(), end)
        before = text[max(end, start - 6) : start]
        end = found.end()
        unit = found[1] or _prime(text, end)
        if (
            unit[:1].isalpha()
            and unit[0] < "\u0400"
            and unit.partition("/")[0].casefold() not in _ANY_CASE
        ):
            unit = ""
        head = _HEAD.search(before) if before.rstrip(" ")[-1:] in _HEAD_SIGNS else None
        bound, sign, currency = head.groups(default="") if head else ("", "", "")
        yield Quantity(start, end, bound.rstrip(), sign, text[start:end], unit, currency.rstrip())


def names_of_one_letter(text: str) -> set[tuple[str, str]]:
    """Such letters with the word before each, in small letters.

    >>> names_of_one_letter("Hepatitis A. A dog has it.")
    {('hepatitis', 'A')}
    """
    found = ((_word_before(text, sign.start()), sign[0]) for sign in _LETTER_NAME.finditer(text))
    return {(before, letter) for before, letter in found if before}


def _extract_numbers(text: str) -> Iterator[str]:
    for one in quantities(text):
        number = f"{one.bound}{one.sign}{one.digits}{one.unit}{one.currency}"
        yield number if number.isascii() else number.translate(_ONE_SPELLING)


def _prime(text: str, end: int) -> str:
    """The sign of feet or inches there; none where it may close a quotation."""
    mark = text[end : end + 1]
    is_open = mark in _PRIMES and text.count(mark, max(0, end - _QUESTION_CONTEXT), end) % 2
    return mark if mark in _PRIMES and not is_open else ""


def _run_start(text: str, start: int, floor: int) -> int:
    """Where the run begins whose first digit is at `start`: the B of B12."""
    while start > floor and text[start - 1].isalpha() and text[start - 1] < "\u0500":
        start -= 1
    return start


def _extract_marks(spelled: Sequence[str]) -> Iterator[str]:
    """The watched words; `t` behind a negated verb, months beside and bounds before a number."""
    for i, word in enumerate(spelled):
        if word not in _WATCHED_WORDS:
            continue
        before = spelled[i - 1] if i else ""
        after = spelled[i + 1] if i + 1 < len(spelled) else ""
        if word == "t" and not before.endswith("n"):
            continue
        if word in _MONTHS_BESIDE_NUMBER and not (before[:1].isdigit() or after[:1].isdigit()):
            continue
        if word in _BOUND_WORDS and not after[:1].isdigit():
            continue
        if word in _ANY_CASE and before[-1:].isdigit():
            continue  # it already stands with its number
        yield _CANONICAL_MARKS.get(word, word)
