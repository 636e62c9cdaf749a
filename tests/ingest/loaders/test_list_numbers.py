"""Numbers of lists and headings as Word, OpenDocument and PowerPoint show them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents import odf, part_of, read, repacked, slides, word
from foveate.ingest.loaders.list_numbers import write_number

NUMBERING = "word/numbering.xml"


def _level(depth: int, kind: str, text: str, more: str = "") -> str:
    told = f'{more}<w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/>'
    return f'<w:lvl w:ilvl="{depth}">{told}</w:lvl>'


def _abstract(number: int, *levels: str) -> str:
    return f'<w:abstractNum w:abstractNumId="{number}">{"".join(levels)}</w:abstractNum>'


def _list(number: int, abstract: int, more: str = "") -> str:
    return f'<w:num w:numId="{number}"><w:abstractNumId w:val="{abstract}"/>{more}</w:num>'


def _item(text: str, number: int, depth: int | None = 0, style: str = "") -> str:
    level = "" if depth is None else f'<w:ilvl w:val="{depth}"/>'
    told = f'<w:pStyle w:val="{style}"/>' if style else ""
    told += f'<w:numPr>{level}<w:numId w:val="{number}"/></w:numPr>' if number else ""
    return f"<w:p><w:pPr>{told}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def _shown(lists: str, body: str) -> list[str]:
    """The lines of a Word file with these lists."""
    empty = word(lambda document: document.add_paragraph("x", style="List Number"))
    main = re.sub(
        "<w:body>.*?<w:sectPr",
        f"<w:body>{body}<w:sectPr",
        part_of(empty, "word/document.xml"),
        flags=re.DOTALL,
    )
    numbering = re.sub(
        r"(<w:numbering[^>]*>).*</w:numbering>",
        lambda found: f"{found[1]}{lists}</w:numbering>",
        part_of(empty, NUMBERING),
        flags=re.DOTALL,
    )
    parts = {"word/document.xml": main.encode(), NUMBERING: numbering.encode()}
    text = read("a.docx", repacked(empty, parts)).text
    return [line for line in text.split("\n") if line]


ARTICLES = _abstract(
    1,
    _level(0, "decimal", "Article %1", '<w:start w:val="5"/>'),
    _level(1, "lowerLetter", "(%2)"),
    _level(2, "lowerRoman", "%1.%3)", '<w:lvlRestart w:val="0"/>'),
)


def test_articles_of_a_contract() -> None:
    """V1: start values, letters, overrides and the text of a level; a deeper level begins anew."""
    lists = (
        ARTICLES
        + ARTICLES.replace('Id="1"', 'Id="2"')
        + _list(3, 2)
        + _list(1, 1)
        + _list(2, 1, '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="12"/></w:lvlOverride>')
    )
    body = "".join(
        _item(text, number, depth)
        for text, number, depth in [
            ("Fees", 1, 0), ("paid", 1, 1), ("due", 1, 1), ("Boats", 1, 0), ("marked", 1, 1),
            ("Keeper", 2, 0), ("Office", 2, 0), ("Again", 1, 0), ("Other", 3, 1), ("End", 3, 0),
        ]
    )  # fmt: skip
    assert _shown(lists, body) == [
        "Article 5 Fees", "  (a) paid", "  (b) due", "Article 6 Boats", "  (a) marked",
        "Article 12 Keeper", "Article 13 Office", "Article 14 Again",
        "  (a) Other", "Article 6 End",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "text", "marks"),
    [
        ("decimal", "%1.", ["1.", "2.", "3."]),
        ("decimalZero", "%1", ["01", "02", "03"]),
        ("upperRoman", "§ %1", ["§ I", "§ II", "§ III"]),
        ("upperLetter", "%1)", ["A)", "B)", "C)"]),
        ("ordinal", "%1", ["1st", "2nd", "3rd"]),
        ("chineseCounting", "第%1条", ["第一条", "第二条", "第三条"]),
        ("bullet", "\uf0b7", ["-", "-", "-"]),
        ("none", "Note:", ["Note:", "Note:", "Note:"]),
        ("none", "", ["-", "-", "-"]),
        ("hebrew1", "%1.", ["1.", "2.", "3."]),
    ],
)
def test_kinds_of_numbers(kind: str, text: str, marks: list[str]) -> None:
    """V1: as the level writes them; a kind that is not known, in digits."""
    lists = _abstract(1, _level(0, kind, text)) + _list(1, 1)
    shown = _shown(lists, "".join(_item("x", 1) for _ in marks))
    assert shown == [f"{mark} x" for mark in marks]


def test_headings_have_their_numbers() -> None:
    """V1: by the list of their style, whose levels name the styles; legal levels have digits."""
    legal = '<w:pStyle w:val="Heading2"/><w:isLgl/>'
    lists = _abstract(
        1,
        _level(0, "upperRoman", "%1.", '<w:pStyle w:val="Heading1"/>'),
        _level(1, "decimal", "%1.%2", legal),
    ) + _list(1, 1)
    body = "".join(
        _item(text, 1, None, f"Heading{level}")
        for text, level in [("Scope", 1), ("Terms", 2), ("Law", 2), ("Fees", 1), ("Due", 2)]
    )
    assert _shown(lists, body) == [
        "# I. Scope", "## 1.1 Terms", "## 1.2 Law", "# II. Fees", "## 2.1 Due",
    ]  # fmt: skip


def test_empty_items_and_cells_count() -> None:
    """V1: an empty item has a number that the next one shows; so have the cells of a column."""
    lists = _abstract(1, _level(0, "decimal", "%1.")) + _list(1, 1)
    rows = "".join(
        f"<w:tr><w:tc>{_item(text, 1)}</w:tc><w:tc>{_item('y', 0)}</w:tc></w:tr>" for text in "ab"
    )
    body = f"{_item('one', 1)}{_item('', 1)}{_item('three', 1)}<w:tbl>{rows}</w:tbl>"
    assert _shown(lists, body) == ["1. one", "3. three", "| 4. a | y |", "| 5. b | y |"]


def test_hostile_lists() -> None:
    """V1: lists without kinds, endless numbers and links that lead nowhere have some mark."""
    lists = (
        '<w:abstractNum w:abstractNumId="1"><w:numStyleLink w:val="S"/></w:abstractNum>'
        + _abstract(2, _level(0, "decimal", "%9%1", f'<w:start w:val="{"9" * 40}"/>'))
        + _list(1, 1) + _list(2, 2) + _list(3, 99)
    )  # fmt: skip
    body = _item("a", 1) + _item("b", 2) + _item("c", 3) + _item("d", 77, 9)
    assert [line.strip() for line in _shown(lists, body)] == ["- a", "1 b", "- c", "- d"]


def _odt_level(depth: int, told: str) -> str:
    return f'<text:list-level-style-number text:level="{depth}" {told}/>'


ODT_LIST = (
    '<text:list-style style:name="L1">'
    + _odt_level(1, 'style:num-format="1" style:num-prefix="Article " text:start-value="5"')
    + _odt_level(2, 'style:num-format="a" style:num-prefix="(" style:num-suffix=")"')
    + _odt_level(3, 'style:num-format="i" style:num-suffix="." text:display-levels="3"')
    + "</text:list-style>"
)


def _odt(body: str, styles: str = ODT_LIST) -> list[str]:
    styles = f"<office:automatic-styles>{styles}</office:automatic-styles>"
    text = read("a.odt", odf("text", body, styles=styles)).text
    return [line for line in text.split("\n") if line]


def _li(text: str, told: str = "", inner: str = "") -> str:
    return f"<text:list-item {told}><text:p>{text}</text:p>{inner}</text:list-item>"


def _ul(items: str, told: str = 'text:style-name="L1"') -> str:
    return f"<text:list {told}>{items}</text:list>"


def test_lists_of_opendocument() -> None:
    """V1: start values, letters and levels; a list goes on where it says so."""
    deepest = _ul(_li("x"), "")
    inner = _ul(_li("paid") + _li("due", inner=deepest), "")
    first = _ul(_li("Fees", inner=inner) + _li("Boats"))
    second = _ul(_li("On"), 'text:style-name="L1" text:continue-numbering="true"')
    third = _ul(_li("New") + _li("At", 'text:start-value="9"'))
    assert _odt(f"{first}<text:p>between</text:p>{second}{third}") == [
        "Article 5 Fees", "  (a) paid", "  (b) due", "    5.b.i. x", "Article 6 Boats", "between",
        "Article 7 On", "Article 5 New", "Article 9 At",
    ]  # fmt: skip


def test_lists_that_libreoffice_wrote() -> None:
    """V1: its items that hold a list alone do not count, and its own attributes say what shows."""
    styles = ODT_LIST.replace('="1" ', '="01, 02, 03, ..." ').replace("L1", "L2")
    styles = styles.replace('display-levels="3"', 'num-list-format="%1%–%3%."')
    on = 'text:style-name="L1" text:continue-numbering="true"'
    first = _ul(_li("a") + _li("b", 'text:style-override="L2"', _ul(_li("c"), "")))
    place = f"<text:list-item>{_ul(_li('d'), '')}</text:list-item>"
    other = _ul(f"<text:list-item>{_ul(_li('f', inner=_ul(_li('g'), '')), '')}</text:list-item>",
                'text:style-name="L2"')  # fmt: skip
    body = first + "<text:p>between</text:p>" + _ul(place + _li("e"), on) + other
    body += _ul(_li("h"), 'text:style-name="L2" text:continue-numbering="true"') + _ul(_li("i"), on)
    assert [line.strip() for line in _odt(body, ODT_LIST + styles)] == [
        "Article 5 a", "Article 06 b", "(a) c", "between", "(b) d", "Article 7 e",
        "(a) f", "05–i. g", "Article 06 h", "Article 5 i",
    ]  # fmt: skip


def test_a_level_without_a_number_leaves_no_point_behind() -> None:
    """V1: but a bullet does, as in LibreOffice."""
    below = _odt_level(2, 'style:num-format="1" style:num-list-format="%1%.%2%."')
    body = _ul(f"<text:list-item>{_ul(_li('a'), '')}</text:list-item>")
    bare = '<text:list-style style:name="L1">' + _odt_level(1, "") + below + "</text:list-style>"
    assert _odt(body, bare) == ["  1. a"]
    assert _odt(body, bare.replace("number", "bullet", 1)) == ["  .1. a"]


def test_a_second_paragraph_of_an_item_has_no_mark() -> None:
    """V1: neither has a list's header."""
    item = "<text:list-item><text:p>one</text:p><text:p>more</text:p></text:list-item>"
    header = "<text:list-header><text:p>head</text:p></text:list-header>"
    shown = _odt(_ul(header + item + _li("two")))
    assert shown == ["head", "Article 5 one", "more", "Article 6 two"]


def test_numbered_headings_of_opendocument() -> None:
    """V1: by the outline; one that is a list's header, or of a style without a list, has none."""
    outline = "".join(
        f'<text:outline-level-style text:level="{n}" style:num-format="1" '
        f'text:display-levels="{n}"/>'
        for n in (1, 2)
    )
    styles = f'<text:outline-style style:name="Outline">{outline}</text:outline-style>'
    styles += '<style:style style:name="P" style:family="paragraph" style:list-style-name=""/>'
    heading = '<text:h text:outline-level="{}" {}>{}</text:h>'
    body = "".join(
        heading.format(*each)
        for each in [
            (1, "", "Scope"), (2, "", "Terms"), (2, "text:is-list-header='true'", "Plain"),
            (1, "text:style-name='P'", "Preface"), (2, "", "Law"), (1, "", "Fees"),
        ]
    )  # fmt: skip
    assert _odt(body, styles) == [
        "# 1 Scope", "## 1.1 Terms", "## Plain", "# Preface", "## 1.2 Law", "# 2 Fees",
    ]  # fmt: skip


def _slide(paragraphs: list[tuple[str, str, int]]) -> list[str]:
    body = "".join(
        f'<a:p><a:pPr lvl="{depth}">{told}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>'
        for text, told, depth in paragraphs
    )
    part = "ppt/slides/slide1.xml"
    deck = slides([("", "SENTENCE", "")])
    main = re.sub(
        r"<a:p>(?:(?!<a:p>).)*?SENTENCE.*?</a:p>",
        lambda _: body,
        part_of(deck, part),
        flags=re.DOTALL,
    )
    return read("a.pptx", repacked(deck, {part: main.encode()})).text.split("\n")


def test_numbers_of_slides() -> None:
    """V1: each kind at its depth, from where it starts; an item without a number ends a list."""
    fifth = '<a:buAutoNum type="arabicPeriod" startAt="5"/>'
    letter = '<a:buAutoNum type="alphaLcParenBoth"/>'
    roman = '<a:buAutoNum type="romanUcPlain"/>'
    shown = _slide(
        [("Fees", fifth, 0), ("paid", letter, 1), ("due", letter, 1), ("Boats", fifth, 0),
         ("marked", letter, 1), ("plain", "", 0), ("again", fifth, 0), ("Roman", roman, 0),
         ("odd", '<a:buAutoNum type="thaiNumPeriod" startAt="x"/>', 0)]
    )  # fmt: skip
    assert shown == [
        "5. Fees", "  (a) paid", "  (b) due", "6. Boats", "  (a) marked", "- plain", "5. again",
        "I Roman", "1. odd",
    ]  # fmt: skip


@given(st.integers(-5, 5_000), st.sampled_from(["1", "a", "A", "aa", "i", "I", "01", "1st", "一"]))
def test_different_numbers_are_written_differently(number: int, kind: str) -> None:
    """V1: so that a reference leads to one item."""
    assert write_number(number, kind)
    assert write_number(number, kind) != write_number(number + 1, kind)
