"""Writes formulas of Office files (OMML) and of MathML on a line: `P/(A+B)`, `10³`, `√(2gh)`.

Elements are written as they end, so that nesting costs no recursion.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from foveate.ingest.loaders.inline import write_superscript

_DEPTH = 200  # elements in one another; deeper ones are text of the last
_ACCENTS = {
    **dict.fromkeys("^\u02c6\u0302", "\u0302"),
    **dict.fromkeys("~\u02dc\u223c\u0303", "\u0303"),
    **dict.fromkeys("\u00af\u02c9\u203e\u0304\u0305_", "\u0304"),
    **dict.fromkeys("\u2192\u20d7", "\u20d7"),
    **dict.fromkeys("\u02d9.\u0307", "\u0307"),
}
"""What stands over a letter, by what a file may have for it."""
_TEXTS = frozenset({"t", "mi", "mn", "mo", "ms", "mtext"})
_SKIPPED = frozenset({"annotation", "annotation-xml", "mphantom", "instrText", "delText"})
_INVISIBLE = dict.fromkeys(range(0x2061, 0x2065))
_ONE = re.compile(
    r"(?:[^\W\d_]|[^\W\d_]{3,}|[0-9]+(?:[.,][0-9]+)*)(?P<scripts>[\u2070-\u209f¹²³]*)"
)
"""A figure, a letter or a word: `10`, `x`, `speed`, and no product such as `2a`."""
_FIGURES = re.compile(r"[0-9]+/[0-9]+")
_SPACED = frozenset("=<>≤≥≈≠≡→⇒±∈")

Parts = Mapping[str, str]
"""The parts of an element by their names in OMML."""


def _bracket(text: str, *, is_base: bool = False) -> str:
    """The text in brackets, unless it is one figure or word, or has some."""
    if len(text) < 2 or _is_bracketed(text):
        return text
    found = _ONE.fullmatch(text)
    return f"({text})" if found is None or (is_base and found["scripts"]) else text


def _is_bracketed(text: str) -> bool:
    if text[0] not in "([{|" or text[-1] not in ")]}|":
        return False
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if depth <= 0 and place < len(text) - 1 and text[0] != "|":
            return False
    return True


def _fraction(parts: Parts) -> str:
    if parts.get("type") == "noBar":
        return f"{parts['num']} choose {parts['den']}"
    return f"{_bracket(parts['num'])}/{_bracket(parts['den'])}"


def _raise(base: str, text: str) -> str:
    if not text:
        return base
    raised = write_superscript(text)
    return base + (f"^{_bracket(text)}" if raised == text else raised)


def _scripts(parts: Parts) -> str:
    base, below, above = parts["e"], parts.get("sub", ""), parts.get("sup", "")
    if above in _ACCENTS and not below:
        return _accent({"e": base, "chr": above})
    if above in ("′", "″", "'", "*"):
        return f"{_bracket(base, is_base=True)}{above}" + (f"_{_bracket(below)}" if below else "")
    return _raise(_bracket(base, is_base=True) + (f"_{_bracket(below)}" if below else ""), above)


def _before(parts: Parts) -> str:
    below, above = parts.get("sub", ""), parts.get("sup", "")
    return _raise("", above) + (f"_{_bracket(below)} " if below else "") + parts["e"]


def _sum(parts: Parts) -> str:
    sign = parts.get("chr", "∫")
    return f"{_scripts({**parts, 'e': sign})} {parts['e']}"


def _root(parts: Parts) -> str:
    degree = parts.get("deg", "") if parts.get("degHide") not in ("1", "on", "true") else ""
    raised = write_superscript(degree)
    inner = parts["e"] if _is_bracketed(parts["e"] or " ") else f"({parts['e']})"
    return f"{raised if raised != degree or not degree else f'[{degree}]'}√{inner}"


def _delimited(parts: Parts) -> str:
    ends = parts.get("begChr", "("), parts.get("endChr", ")")
    return f"{ends[0]}{parts['e']}{ends[1]}"


def _accent(parts: Parts) -> str:
    sign = parts.get("chr", "^")
    if len(parts["e"]) != 1:
        return f"{_bracket(parts['e'])}{sign}"
    return parts["e"] + _ACCENTS.get(sign, sign)


def _function(parts: Parts) -> str:
    inner = parts["e"]
    return f"{parts['fName']}{inner if _is_bracketed(inner or ' ') else f'({inner})'}"


def _limit(parts: Parts) -> str:
    return f"{parts['e']}_{_bracket(parts['lim'])}"


_WRITERS: dict[str, tuple[tuple[str, ...], Callable[[Parts], str]]] = {
    "acc": (("e",), _accent),
    "bar": (("e",), lambda parts: _accent({"e": parts["e"], "chr": "¯"})),
    "d": (("e",), _delimited),
    "f": (("num", "den"), _fraction),
    "func": (("fName", "e"), _function),
    "limLow": (("e", "lim"), _limit),
    "limUpp": (("e", "sup"), lambda parts: _raise(parts["e"], parts.get("lim", ""))),
    "nary": (("sub", "sup", "e"), _sum),
    "rad": (("deg", "e"), _root),
    "sPre": (("sub", "sup", "e"), _before),
    "sSub": (("e", "sub"), _scripts),
    "sSubSup": (("e", "sub", "sup"), _scripts),
    "sSup": (("e", "sup"), _scripts),
    "mfenced": (("e",), _delimited),
    "mfrac": (("num", "den"), _fraction),
    "mover": (("e", "sup"), _scripts),
    "mroot": (("e", "deg"), _root),
    "msqrt": (("e",), _root),
    "msub": (("e", "sub"), _scripts),
    "msubsup": (("e", "sub", "sup"), _scripts),
    "msup": (("e", "sup"), _scripts),
    "munder": (("e", "sub"), _scripts),
    "munderover": (("e", "sub", "sup"), _scripts),
}
"""By element: the names of its children in order, as far as they have no names of their own."""
_ROLES = frozenset(role for roles, _ in _WRITERS.values() for role in roles)
_JOINED = {
    **dict.fromkeys(("m", "eqArr", "mtable"), "; "),
    **dict.fromkeys(("mr", "mtr", "mlabeledtr", "d", "mfenced"), ", "),
}
_GROUPS = frozenset({"mrow", "mstyle", "mtd", "mpadded", "menclose", "semantics", "merror", "box"})
_OPTIONS = frozenset({"begChr", "endChr", "chr", "type", "degHide"})


@dataclass(slots=True)
class _Element:
    name: str = ""
    options: dict[str, str] = field(default_factory=dict)
    children: list[tuple[str, str]] = field(default_factory=list)  # their names and texts


@dataclass(slots=True)
class Formula:
    """A formula as its elements come, without the element that is all of it."""

    _open: list[_Element] = field(default_factory=lambda: [_Element()])
    _deeper: int = 0
    _skipped: int = 0

    def read(self, kind: str, name: str, given: Mapping[str, str]) -> None:
        """One event: a start, an end or a text, which is its name."""
        if kind == "text":
            self.add_text(name)
        else:
            (self.start(name, given) if kind == "start" else self.end(name))

    def start(self, name: str, given: Mapping[str, str]) -> None:
        """An element begins."""
        if name in _SKIPPED or self._skipped:
            self._skipped += 1
        elif name in _OPTIONS and self._open[-1].name in _WRITERS:
            self._open[-1].options[name] = given.get("val", given.get("m:val", ""))
        elif (
            name in _WRITERS
            or name in _ROLES
            or name in _JOINED
            or name in _GROUPS
            or name in _TEXTS
        ):
            if len(self._open) >= _DEPTH:
                self._deeper += 1
                return
            options = {"begChr": given["open"]} if "open" in given else {}
            options |= {"endChr": given["close"]} if "close" in given else {}
            if given.get("linethickness", "")[:1] == "0":
                options["type"] = "noBar"
            self._open.append(_Element(name, options))
        elif name == "mspace":
            self._open[-1].children.append(("", " "))

    def add_text(self, text: str) -> None:
        """A text; that of elements which hold none is white space."""
        last = self._open[-1]
        if not self._skipped and (last.name in _TEXTS or self._deeper):
            said = " ".join(text.translate(_INVISIBLE).split()) if last.name != "t" else text
            last.children.append(("", said))

    def end(self, name: str) -> None:
        """An element ends."""
        if self._skipped:
            self._skipped -= 1
        elif self._deeper and name not in _OPTIONS:
            self._deeper -= 1
        elif len(self._open) > 1 and self._open[-1].name == name:
            done = self._open.pop()
            self._open[-1].children.append((done.name, _write(done)))

    def text(self) -> str:
        """All of it."""
        while len(self._open) > 1:
            self.end(self._open[-1].name)
        return _write(self._open[0]).strip()


Event = tuple[str, str, dict[str, str]]
"""As `archive` gives them."""


def write_formulas(events: Iterable[Event], element: str) -> Iterator[Event]:
    """The events, with ("formula", its text, {}) for each element of that name."""
    formula: Formula | None = None
    for event in events:
        if event[1] == element and event[0] != "text":
            if formula is not None and event[0] == "end":
                yield "formula", formula.text(), {}
            formula = Formula() if event[0] == "start" else None
        elif formula is None:
            yield event
        else:
            formula.read(*event)


def _write(element: _Element) -> str:
    if element.name in _TEXTS:
        text = "".join(said for _, said in element.children)
        return f" {text} " if text in _SPACED else text
    if element.name in _JOINED:
        joined = _JOINED[element.name].join(said.strip() for _, said in element.children)
        if element.name not in _WRITERS:
            return joined
        return _WRITERS[element.name][1](element.options | {"e": joined})
    if element.name not in _WRITERS:
        return _join(element.children)
    roles, write = _WRITERS[element.name]
    if element.name == "msqrt":
        return write({"e": _join(element.children)})
    parts = dict.fromkeys(roles, "") | element.options
    unnamed = iter(roles)
    for name, said in element.children:
        role = name if name in _ROLES else next(unnamed, roles[-1])
        parts[role] = parts.get(role, "") + said.strip()
    return write(parts)


def _join(children: list[tuple[str, str]]) -> str:
    """The texts in order; a fraction beside a figure or a letter stays apart from it."""
    parts: list[str] = []
    for place, (name, said) in enumerate(children):
        before = parts[-1][-1:] if parts else ""
        follows = "".join(text for _, text in children[place + 1 : place + 2])[:1]
        parts.append(_separate(name, said, before, follows))
    return "".join(parts)


def _separate(name: str, said: str, before: str, follows: str) -> str:
    """The text of an element, so written that it is not one with what is beside it."""
    if name in ("f", "mfrac") and said:
        if before.isdigit() and _FIGURES.fullmatch(said):
            return f" {said}"
        is_beside = before.isalnum() or before == ")" or follows.isalnum()
        return f"({said})" if is_beside or (follows and follows in "(√") else said
    if before.isdigit() and said[:1].isdigit() and name not in ("r", "t", "mn", ""):
        return f"·{said}"
    return said
