"""Raised and lowered figures, formulas and fonts of signs, in each format that has them."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.parsers import expat

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont

from documents import epub, odf, part_of, read, repacked, saved, slides, word
from foveate.ingest.loaders.formulas import Formula
from foveate.ingest.loaders.symbol_fonts import count_lost_signs, read_sign, read_signs

Run = tuple[str, int, str]
"""A text, whether it is raised (1) or lowered (-1), and the font that it names."""

_MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
_SLIDE = "ppt/slides/slide1.xml"


def _in_word(runs: list[Run]) -> str:
    body = ""
    for text, place, font in runs:
        raised = {1: "superscript", -1: "subscript", 0: "baseline"}[place]
        told = f'<w:rFonts w:ascii="{font}" w:hAnsi="{font}"/>' if font else ""
        body += f'<w:r><w:rPr>{told}<w:vertAlign w:val="{raised}"/></w:rPr>'
        body += f'<w:t xml:space="preserve">{text}</w:t></w:r>'
    return _word_text(f"<w:p>{body}</w:p>")


def _word_text(body: str) -> str:
    empty = word(lambda document: None)
    main = part_of(empty, "word/document.xml").replace("<w:body>", f"<w:body>{body}", 1)
    main = main.replace("<w:document ", f"<w:document {_MATH} ", 1) if _MATH not in main else main
    return read("a.docx", repacked(empty, {"word/document.xml": main.encode()})).text


def _in_slide(runs: list[Run]) -> str:
    body = ""
    for text, place, font in runs:
        told = f'<a:latin typeface="{font}"/>' if font else ""
        body += f'<a:r><a:rPr baseline="{place * 30000}">{told}</a:rPr><a:t>{text}</a:t></a:r>'
    return _slide_text(body)


def _slide_text(runs: str) -> str:
    deck = slides([("", "SENTENCE", "")])
    main = re.sub(r"<a:r>\s*<a:t>SENTENCE</a:t>\s*</a:r>", lambda _: runs, part_of(deck, _SLIDE))
    assert runs in main
    main = main.replace("<p:sld ", f"<p:sld {_MATH} ", 1)
    return read("a.pptx", repacked(deck, {_SLIDE: main.encode()})).text


def _in_text(runs: list[Run]) -> str:
    styles, body = "", ""
    for number, (text, place, font) in enumerate(runs):
        told = f'style:font-name="{font}" ' if font else ""
        told += f'style:text-position="{("0%", "super 58%", "sub 58%")[place]}"'
        styles += (
            f'<style:style style:name="T{number}" style:family="text">'
            f"<style:text-properties {told}/></style:style>"
        )
        body += f'<text:span text:style-name="T{number}">{text}</text:span>'
    styles = f"<office:automatic-styles>{styles}</office:automatic-styles>"
    return read("a.odt", odf("text", f"<text:p>{body}</text:p>", styles=styles)).text


def _in_sheet(runs: list[Run]) -> str:
    book = openpyxl.Workbook()
    assert book.active is not None
    raised = {1: "superscript", -1: "subscript", 0: None}
    blocks = [
        TextBlock(InlineFont(rFont=font or "Arial", vertAlign=raised[place]), text)
        for text, place, font in runs
    ]
    book.active["A1"] = "Limit"
    book.active["A2"] = CellRichText(*blocks)
    return read("a.xlsx", saved(book)).text


def _html(runs: list[Run]) -> str:
    tags = {1: "sup", -1: "sub", 0: "span"}
    return "".join(f"<{tags[place]}>{text}</{tags[place]}>" for text, place, _ in runs)


def _in_page(runs: list[Run]) -> str:
    return read("a.html", f"<p>{_html(runs)}</p>").text


def _in_book(runs: list[Run]) -> str:
    return read("a.epub", epub({"one": f"<p>{_html(runs)}</p>"})).text


WRITERS: list[Callable[[list[Run]], str]] = [
    _in_word, _in_slide, _in_text, _in_sheet, _in_page, _in_book,
]  # fmt: skip
FIGURES = [
    ([("10", 0, ""), ("6", 1, ""), (" per ml", 0, "")], "10⁶ per ml"),
    ([("5·10", 0, ""), ("-6", 1, ""), (" bar", 0, "")], "5·10⁻⁶ bar"),
    ([("40 m", 0, ""), ("2", 1, "")], "40 m²"),
    ([("2", 0, ""), ("2k", 1, ""), (" steps", 0, "")], "2^(2k) steps"),
    ([("see the note", 0, ""), ("3", 1, ""), (", the 1", 0, ""), ("st", 1, "")],
     "see the note³, the 1st"),
    ([("CO", 0, ""), ("2", -1, ""), (" and log", 0, ""), ("10", -1, ""), (" 8", 0, "")],
     "CO2 and log10 8"),
    ([("101", 0, ""), ("2", -1, ""), (" is five", 0, "")], "101_2 is five"),
    ([("x", 0, ""), ("1", -1, ""), ("2", 1, ""), (" is", 0, "")], "x1² is"),
]  # fmt: skip


@pytest.mark.parametrize(("runs", "shown"), FIGURES)
@pytest.mark.parametrize("write", WRITERS)
def test_figures_that_are_raised_or_lowered(
    write: Callable[[list[Run]], str], runs: list[Run], shown: str
) -> None:
    """V1: a power, an index or the mark of a note is never more digits of the figure before it."""
    assert shown in write(runs)


@pytest.mark.parametrize("write", WRITERS[:4])
def test_a_power_in_several_runs_is_one(write: Callable[[list[Run]], str]) -> None:
    """V1: programs cut a run wherever its spelling was checked; so do those of a lowered figure."""
    assert "10⁻¹² m" in write(
        [("10", 0, ""), ("-", 1, ""), ("1", 1, ""), ("2", 1, ""), (" m", 0, "")]
    )
    found = write([("log", 0, ""), ("1", -1, ""), ("0", -1, ""), ("100 is two", 0, "")])
    assert "log_10 100 is two" in found


SIGNS = [
    ("m", "µ"), ("\uf06d", "µ"), ("\uf0a3", "≤"), ("\uf0b3", "≥"), ("\uf0b1", "±"), ("W", "Ω"),
    ("\uf0b0", "°"), ("\uf0b4", "×"), ("a", "α"), ("D", "Δ"), ("\uf0f0", "�"), ("≈", "≈"),
    ("Привет 3", "Привет 3"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "shown"), SIGNS)
@pytest.mark.parametrize("write", WRITERS[:4])
def test_signs_of_the_symbol_font(write: Callable[[list[Run]], str], code: str, shown: str) -> None:
    """V1: by Adobe's table; letters that the font has not stay, and an unknown sign is marked."""
    text = write([("5 ", 0, ""), (code, 0, "Symbol"), ("g", 0, "Arial")])
    assert f"5 {shown}g" in text
    assert count_lost_signs(text) == (shown == "�")


@pytest.mark.parametrize("font", ["Segoe UI Symbol", "Symbola", "Arial", "SYMBOL TRUE", "不明"])
def test_a_font_that_only_sounds_like_it(font: str) -> None:
    """V1: letters in another font are letters; a private character in it is marked as not read."""
    assert _in_word([("m", 0, font), ("\uf06d", 0, font)]) == "m�"


@pytest.mark.parametrize("code", ["", "zz", "F06D0000", "110000", "-1", "D800", "E000"])
def test_a_code_that_is_none(code: str) -> None:
    """V1: it is marked, and nothing is raised."""
    assert count_lost_signs(read_sign("Symbol", code)) == 1 or code == "D800"


@given(st.text(max_size=20), st.sampled_from(["Symbol", "Wingdings", "Webdings", "Arial", ""]))
def test_signs_are_one_for_one(text: str, font: str) -> None:
    """V1: no character of a text vanishes, whatever font it claims."""
    assert len(read_signs(text, font)) == len(text)


def _r(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def _f(above: str, below: str) -> str:
    return f"<m:f><m:num>{_r(above)}</m:num><m:den>{_r(below)}</m:den></m:f>"


def _sup(base: str, text: str) -> str:
    return f"<m:sSup><m:e>{_r(base)}</m:e><m:sup>{_r(text)}</m:sup></m:sSup>"


OFFICE = [
    (_f("1", "2"), "1/2"),
    (_r("2") + _f("1", "2"), "2 1/2"),
    (_f("P", "A+B"), "P/(A+B)"),
    (_f("1", "2") + _r("m") + _sup("v", "2"), "(1/2)mv²"),
    (_sup("10", "-6"), "10⁻⁶"),
    (_r("x≤") + _sup("10", "3"), "x≤10³"),
    ("<m:rad><m:radPr><m:degHide m:val='1'/></m:radPr><m:deg/><m:e>" + _r("2gh") + "</m:e></m:rad>",
     "√(2gh)"),
    (f"<m:rad><m:deg>{_r('3')}</m:deg><m:e>{_r('x')}</m:e></m:rad>", "³√(x)"),
    (f"<m:d><m:e>{_r('a+b')}</m:e></m:d>", "(a+b)"),
    (("<m:d><m:dPr><m:begChr m:val='['/><m:endChr m:val=')'/></m:dPr>"
     f"<m:e>{_r('0')}</m:e><m:e>{_r('1')}</m:e></m:d>"), "[0, 1)"),
    (("<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr>"
     f"<m:sub>{_r('i=1')}</m:sub><m:sup>{_r('n')}</m:sup><m:e>{_r('x')}</m:e></m:nary>"),
     "∑_(i=1)ⁿ x"),
    ((f"<m:func><m:fName><m:sSub><m:e>{_r('log')}</m:e><m:sub>{_r('10')}</m:sub></m:sSub></m:fName>"
     f"<m:e>{_r('100')}</m:e></m:func>"), "log_10(100)"),
]  # fmt: skip


@pytest.mark.parametrize(("formula", "shown"), OFFICE)
def test_formulas_of_office_files(formula: str, shown: str) -> None:
    """V1: on a line, with the brackets that keep its meaning, in Word and in PowerPoint."""
    in_word = f"<w:p><w:r><w:t>so </w:t></w:r><m:oMath>{formula}</m:oMath></w:p>"
    assert _word_text(in_word).removeprefix("so").strip() == shown
    assert shown in _slide_text(f"<a:r><a:t>so </a:t></a:r><m:oMath>{formula}</m:oMath>")


MATHML = [
    ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", "1/2"),
    ("<mn>2</mn><mfrac><mn>1</mn><mn>2</mn></mfrac>", "2 1/2"),
    ("<mi>x</mi><mo>&#8804;</mo><msup><mn>10</mn><mn>6</mn></msup>", "x ≤ 10⁶"),
    ("<msup><msup><mn>2</mn><mn>3</mn></msup><mn>2</mn></msup>", "(2³)²"),
    ("<mfrac><mi>P</mi><mrow><mi>A</mi><mo>+</mo><mi>B</mi></mrow></mfrac>", "P/(A+B)"),
    ("<msqrt><mn>2</mn><mi>g</mi><mi>h</mi></msqrt>", "√(2gh)"),
    ("<mover><mi>x</mi><mo>¯</mo></mover>", "x̄"),
    ("<semantics><mn>5</mn><annotation>five</annotation></semantics>", "5"),
    ("<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr></mtable>", "1, 2"),
]


@pytest.mark.parametrize(("formula", "shown"), MATHML)
def test_mathml(formula: str, shown: str) -> None:
    """V1: in pages, books and OpenDocument texts, there as an object too."""
    said = read("a.html", f"<p>so <math>{formula}</math> it is</p>").text
    assert said == f"so {shown} it is"
    assert read("a.epub", epub({"one": f"<p>so <math>{formula}</math></p>"})).text == f"so {shown}"
    inside = f"<text:p>so <draw:object><math>{formula}</math></draw:object></text:p>"
    assert read("a.odt", odf("text", inside)).text == f"so {shown}"
    apart = odf("text", "<text:p>so <draw:object xlink:href='./Formula-0/'/></text:p>")
    part = {"Formula-0/content.xml": f"<math>{formula}</math>".encode()}
    assert read("a.odt", repacked(apart, part)).text == f"so {shown}"


def test_a_formula_beside_a_figure_stays_apart() -> None:
    """V1: `2` and a half is not 21 halves."""
    half = f"<m:oMath>{_f('1', '2')}</m:oMath>"
    run = "<w:r><w:t>{}</w:t></w:r>"
    shown = _word_text(f"<w:p>{run.format('take 2')}{half}{run.format('3 times')}</w:p>")
    assert shown == "take 2 1/2 3 times"


def test_a_formula_that_is_drawn_twice_is_read_once() -> None:
    """V1: pages draw a formula beside its MathML."""
    page = (
        "<p>so <span class=katex><span class=katex-mathml><math><mn>5</mn></math></span>"
        "<span class='katex-html' aria-hidden='true'><span>5</span></span></span> it is</p>"
    )
    assert read("a.html", page).text == "so 5 it is"


def test_repeated_cells_have_their_powers() -> None:
    """V1: the value of a cell over several rows is repeated as it is shown."""
    cells = "<tr><td rowspan=2>10<sup>6</sup></td><td>x</td></tr><tr><td>y</td></tr>"
    page = f"<table><tr><th>a</th><th>b</th></tr>{cells}</table>"
    assert read("a.html", page).text.count("10⁶") == 2


def _linear(xml: str) -> str:
    formula, parser = Formula(), expat.ParserCreate()
    parser.StartElementHandler = formula.start
    parser.EndElementHandler = formula.end
    parser.CharacterDataHandler = formula.add_text
    parser.Parse(f"<x>{xml}</x>", True)
    return formula.text()


def _element(name: str, parts: int, inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    children = st.lists(inner, min_size=parts, max_size=parts)
    return children.map(lambda made: f"<{name}>{''.join(made)}</{name}>")


NODES = st.recursive(
    st.sampled_from(["<mn>12</mn>", "<mi>x</mi>", "<mo>+</mo>", "<mspace/>", "<mn></mn>"]),
    lambda inner: st.one_of(
        _element("mfrac", 2, inner), _element("msup", 2, inner), _element("mrow", 3, inner),
        _element("msqrt", 2, inner), _element("munderover", 3, inner), _element("mtable", 2, inner),
        _element("mfoo", 2, inner), _element("msub", 2, inner), _element("msup", 4, inner),
    ),
    max_leaves=12,
)  # fmt: skip


@given(NODES)
def test_a_formula_keeps_its_figures(xml: str) -> None:
    """V1: whatever its form, each figure is in the line, raised or not, and no other is."""
    plain = _linear(xml).translate(str.maketrans("\u2070¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))
    assert re.sub("[^0-9]", "", plain) == re.sub("[^0-9]", "", xml)


def test_deep_and_torn_formulas() -> None:
    """V1: nesting costs neither recursion nor the square of its depth; an open end is an end."""
    deep = "<msqrt>" * 5_000 + "<mn>7</mn>"
    assert "7" in read("a.html", f"<p><math>{deep}</math> end</p>").text
    assert read("a.html", "<p>so <math><mn>7</mn>").text == "so 7"
    assert read("a.html", "<p>so <math/> it is</p>").text
