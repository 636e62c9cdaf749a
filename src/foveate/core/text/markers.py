"""The grammar of citation markers, for formats, parsers and guards.

A marker is a bracket around numbers, a range, a list of both, or a name:
`[1]`, `[1, 3]`, `[2-4]`, `[^1]`, `[-1]`, `[source 2]`, `【1†a.md】`, `［２］`, `[②]`,
`[ID:3]`, `[cite: 3]`, `[#3]`, `[3, p. 4]`, `[3: a.md]`, `[DOC: a.md]`, `[a.md]`. Any of the
brackets in `OPENINGS` goes with any in `CLOSINGS`.

- Zero and signed numbers behind a word or a bracket are an index: `a[0]`, `f(x)[-1]`.
- A name counts if a shown source has it. In texts everything with the shape of a name is
  neutralised: `DOC:` and its kin, addresses, names of files.
- No pattern contains a bracket, a backslash or a line break inside of a marker (see `escape.py`).
"""

from __future__ import annotations

import re
import unicodedata

from foveate.core.text.escape import Rule, inline_rule

OPENINGS = "[［【〔❲〖〘〚⟦⁅﹇﹝︗︹︻"
CLOSINGS = "]］】〕❳〗〙〛⟧⁆﹈﹞︘︺︼"
WORDS = (
    *("source", "sources", "doc", "docs", "document", "documents", "chunk", "chunks", "passage"),
    *("passages", "ref", "refs", "reference", "references", "citation", "citations", "bron"),
    *("bronnen", "quelle", "quellen", "fuente", "fuentes"),
)
"""What may stand before a number."""
SHORT = ("id", "cite", "n", "no", "nr")
"""The same with a full stop or a colon behind it."""
PAGES = ("p", "pp", "page", "pages", "s", "seite", "seiten", "blz", "pagina")
"""What may stand between the number of a source and that of a page."""
LEADS = ("document", "doc", "source", "file", "bron", "quelle")
"""What stands before a name, with a colon."""
JOINERS = (",", ";", "&", "+", "，", "；", "、", "and", "en", "und", "et")
DASHES = "-–—‐‑‒−～－"
SIGNS = "+＋" + DASHES
BLANKS = "".join(c for c in map(chr, range(0x3001)) if c.isspace() and c != "\n") + "^"
"""Spaces of every width, and the mark of a footnote, `[^1]`."""
FILES = (
    *("md", "markdown", "txt", "text", "rst", "adoc", "tex", "log", "html", "htm", "xhtml", "xml"),
    *("pdf", "doc", "docx", "odt", "rtf", "epub", "ppt", "pptx", "odp", "xls", "xlsx", "ods"),
    *("csv", "tsv", "json", "jsonl", "yaml", "yml", "toml", "eml", "msg", "ipynb", "py"),
)
"""Endings of what is a file's name for certain; `[self.size]` is code."""
NUMERALS = (
    # Circled and bracketed, Roman, Suzhou, dingbats, ideographs in circles; each a number alone.
    "\u2460-\u249b\u24ea-\u24ff\u2160-\u2182\u2185-\u2188\u3021-\u3029\u2776-\u2793"
    "\u3220-\u3229\u3248-\u324f\u3251-\u325f\u3280-\u3289\u32b1-\u32bf\U0001f100-\U0001f10c"
)
DIGITS = r"\d\u2070\u00b9\u00b2\u00b3\u2074-\u2079\u2080-\u2089"
"""Of every script, raised and lowered ones too; several are one number."""
WRITTEN = r"-?\d+"
"""A marker's number as formats write it, and as their parsers read it."""

LONGEST = 6
"""Digits; a longer number names nothing."""
MOST = 200
"""Sources that one marker may name: `[1-100000]` names none."""


def _class(characters: str) -> str:
    return f"[{re.escape(characters)}]"


def _any(words: tuple[str, ...]) -> str:
    return f"(?i:{'|'.join(map(re.escape, words))})"


_B = f"{_class(BLANKS)}*+"
_OPEN = _class(OPENINGS)
_CLOSE = _class(CLOSINGS)
_EDGES = re.escape(OPENINGS + CLOSINGS) + r"\n"
_INSIDE = rf"[^{_EDGES}\\]"

_NUMBER = f"(?:[{DIGITS}]++|[{NUMERALS}])"
_TO = f"{_B}{_class(DASHES)}{_B}"
_WORD = f"(?:{_any(WORDS)}{_class('#:.：' + BLANKS)}*+|{_any(SHORT)}[:.：]{_B}|#)?"
_PAGE = f"[,，]{_B}{_any(PAGES)}(?:[.]{_B}|{_class(BLANKS)}++){_NUMBER}(?:{_TO}{_NUMBER})?"
_ONE = f"{_WORD}{_B}{_NUMBER}(?:{_TO}{_NUMBER})?(?:{_PAGE})?"
_SIGNED = f"{_WORD}{_B}{_class(SIGNS)}{_NUMBER}"
_LISTED = f"{_ONE}(?:{_B}{_any(JOINERS)}{_B}{_ONE})*+"
_DAGGER = rf"(?:(?::[{DIGITS}]++)?†|:{_class(BLANKS)}++(?=[^\W\d_]))"
_NUMBERS = f"{_B}(?:{_SIGNED}|{_LISTED}){_B}(?:{_DAGGER}{_INSIDE}*+)?"
_INDEX = f"{_B}(?:{_class(DASHES)}{_NUMBER}|0++){_B}"
_LEAD = f"{_any(LEADS)}{_B}[:：]{_B}"
_FILE = rf"(?:[^.;{_EDGES}\\]*+\.)++{_any(FILES)}{_B}"
_NAMES = (
    f"{_B}{_LEAD}{_INSIDE}++",
    f"{_B}(?i:https?)://{_INSIDE}++",
    rf"(?:[^;{_EDGES}\\]*+;)*{_FILE}(?:;{_INSIDE}*+)?",
)

BRACKET = re.compile(f"{_OPEN}([^{_EDGES}]*){_CLOSE}")
"""A bracket that is closed on its line, whatever it says."""
BEGUN = re.compile(rf"{_OPEN}[^{_EDGES}]*\Z")
"""A bracket that may be closed yet."""
OPENED, UNCLOSED = _OPEN, rf"{_INSIDE}*+\Z"
"""A bracket that nothing closes, as place and tail of a rule."""
LEAD = re.compile(_LEAD)

_WHOLE = re.compile(_NUMBERS)
_SIGN = re.compile(f"{_B}{_SIGNED}{_B}(?:{_DAGGER}.*)?", re.DOTALL)
_EACH = re.compile(f"({_NUMBER})(?:{_TO}({_NUMBER}))?")
_NOTE = re.compile(_DAGGER)
_PAGES = re.compile(_PAGE)

_SPELLED = (f"{_NUMBERS}{_CLOSE}", *(f"{name}{_CLOSE}" for name in _NAMES))
TAILS = (f"(?!{_INDEX}{_CLOSE}){_SPELLED[0]}", *_SPELLED[1:])
"""What follows `[` in a marker, as a rule of a guard has it."""
RULES = (
    Rule(r"\[(?<![\w)\]]\[)", (f"{_INDEX}{_CLOSE}",), "["),
    *(inline_rule(opening, *_SPELLED) for opening in OPENINGS[1:]),
)
"""What `TAILS` leaves: an index that stands behind no word, and every other bracket."""


def numbers_of(words: str) -> tuple[int, ...]:
    """The numbers that a bracket's words list; empty where they are no list of numbers.

    >>> numbers_of("1, 3-5"), numbers_of("SOURCE 2; SOURCE 4"), numbers_of("see 1")
    ((1, 3, 4, 5), (2, 4), ())
    >>> numbers_of("-1"), numbers_of("②, １２"), numbers_of("4:0†a.md")
    ((-1,), (2, 12), (4,))
    >>> numbers_of("ID:3"), numbers_of("1, p. 4; 2, pp. 7-9"), numbers_of("3: pump.md")
    ((3,), (1, 2), (3,))
    """
    if not _WHOLE.fullmatch(words):
        return ()
    minus = _SIGN.fullmatch(words) and not words.lstrip(BLANKS).startswith(("+", "＋"))
    found: dict[int, None] = {}
    for first, last in _EACH.findall(_NOTE.split(_PAGES.sub("", words), maxsplit=1)[0]):
        low = _value(first)
        high = _value(last) if last else low
        if low is None or high is None or not low <= high < low + MOST:
            return ()
        found.update(dict.fromkeys([-low] if minus else range(low, high + 1)))
    return tuple(found) if len(found) <= MOST else ()


def _value(number: str) -> int | None:
    """What a run of digits or a single numeral stands for; None where it is too long."""
    if len(number) > LONGEST:
        return None
    digits = [unicodedata.digit(one, -1) for one in number]
    if len(number) == 1 or min(digits) < 0:
        return int(unicodedata.numeric(number))
    return int("".join(map(str, digits)))


def is_index(before: str, numbers: tuple[int, ...]) -> bool:
    """Whether a bracket of these numbers is an index, by the text before it: `a[0]`, `a[-1]`."""
    attached = before[-1:].isalnum() or before[-1:] in ("_", ")", "]")
    return attached and len(numbers) == 1 and numbers[0] <= 0
