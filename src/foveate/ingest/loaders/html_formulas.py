"""Writes what HTML says by elements as the text that a page shows: formulas and check boxes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from foveate.ingest.loaders.formulas import Formula
from foveate.ingest.loaders.tags import Tag, element_names, is_hidden, parse_attributes

_WITH_BOXES = element_names("dd label li p td th")
_BLOCKS = _WITH_BOXES | element_names("body div footer form header main nav section ul ol table tr")
"""Elsewhere a check box is a switch of the page's own menu, which its style hides."""


def write_formulas(tags: Iterable[Tag]) -> Iterator[Tag]:
    """The tags, with a text for each `math` and each check box of a list, a table or a text."""
    formula: Formula | None = None
    block = before = ""
    for tag in tags:
        if formula is not None:
            if tag.name == "math":
                yield _formula_text(formula, before)
                formula = None
            else:
                _read(formula, tag)
        elif tag.name == "math" and tag.kind == "open" and not is_hidden(tag.raw):
            formula = Formula()
        elif tag.name == "input" and block in _WITH_BOXES:
            yield _check_box(tag)
        else:
            if tag.kind == "open" and tag.name in _BLOCKS:
                block, before = tag.name, ""
            before = tag.raw[-1:] if tag.kind == "text" else before
            yield tag
    if formula is not None:
        yield _formula_text(formula, before)


def _formula_text(formula: Formula, before: str) -> Tag:
    text = formula.text()
    is_apart = not (before.isalnum() and text[:1].isalnum())
    return Tag("text", "", text if is_apart else f" {text}")


def _read(formula: Formula, tag: Tag) -> None:
    if tag.kind == "open":
        name = tag.name.rpartition(":")[2]
        formula.start(name, parse_attributes(tag.raw))
        if tag.raw.endswith("/"):
            formula.end(name)
    else:
        formula.read("text" if tag.kind == "text" else "end", tag.raw or tag.name, {})


def _check_box(tag: Tag) -> Tag:
    """The sign of a check box that is shown; else the tag."""
    given = parse_attributes(tag.raw)
    if given.get("type", "").lower() not in ("checkbox", "radio") or is_hidden(tag.raw):
        return tag
    return Tag("text", "", "☒ " if "checked" in given else "☐ ")
