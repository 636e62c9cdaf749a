"""PDF pages as they are read: columns, tables, raised figures, form fields, cut words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents import Placed, pdf, placed_pdf, read
from foveate.ingest.loaders.pdf_layout import Glyph, arrange, page_pieces
from foveate.ingest.loaders.pdf_lines import Hyphens

LEFT = ("Article 1. The fee is due on", "the first of May. It is paid", "at the office.")
RIGHT = ("Article 2. Boats without a", "mark pay double. The keeper", "writes a receipt.")
TABLE = (
    ("Region", "2023", "2024", "Change"),
    ("North", "", "14", ""),
    ("South", "9", "", "-9"),
    ("East", "", "", "0"),
)
SHOWN = "| Region | 2023 | 2024 | Change |\n| North |  | 14 |  |\n| South | 9 |  | -9 |"


def _rows(gutter: float = 320) -> list[Placed]:
    both = enumerate(zip(LEFT, RIGHT, strict=True))
    return [
        each
        for line, (a, b) in both
        for each in ((60, 700 - 14 * line, 11, a), (gutter, 700 - 14 * line, 11, b))
    ]


def _table(top: float = 700) -> list[Placed]:
    return [
        (60 + 100 * column, top - 16 * row, 11, text)
        for row, cells in enumerate(TABLE)
        for column, text in enumerate(cells)
        if text
    ]


def _text(placed: list[Placed], turn: int = 0) -> str:
    return read("a.pdf", placed_pdf([placed], turn=turn)).text


TITLE: Placed = (60, 740, 11, "Rules of the harbour for every boat and every keeper of a boat")


@pytest.mark.parametrize(
    "placed",
    [
        _rows(), _rows(235), [TITLE, *_rows()], _rows()[::2] + _rows()[1::2],
        [*_rows(), (60, 600, 11, "All boats of the harbour pay at the office of the keeper now.")],
        [TITLE, *_rows(), *_table(600)],
    ],
    ids=["rows", "narrow", "title", "columns", "below", "table"],
)  # fmt: skip
@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_two_columns_are_read_one_after_the_other(placed: list[Placed], turn: int) -> None:
    """V1: however the file was written, and however its pages are turned."""
    text = " ".join(_text(placed, turn).split())
    assert " ".join(LEFT) in text
    assert " ".join(RIGHT) in text
    assert text.index("Article 1") < text.index("Article 2")
    assert text.startswith("Rules" if TITLE in placed else "Article 1")
    assert ("| North |  | 14 |  |" in _text(placed, turn)) == (len(placed) > 10)


def test_a_table_has_its_empty_cells() -> None:
    """V1: a value stands under its name, whichever cells before it are empty."""
    assert _text(_table()).startswith(SHOWN)
    around = [TITLE, *_table(), (60, 630, 11, "All in thousands of euros.")]
    assert _text(around).split("\n\n") == [
        TITLE[3], f"{SHOWN}\n| East |  |  | 0 |", "All in thousands of euros.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "marks", [("-", "-", "-"), ("1.", "2.", "3."), ("\\(a\\)", "b\\)", "c\\)")]
)
def test_marks_of_items_are_no_column(marks: tuple[str, str, str]) -> None:
    """V1: a mark stands apart from its text, and the text goes on below its own beginning."""
    texts = ("Close the valve of the boiler and", "wait for the pressure to fall below", "one bar.")
    placed: list[Placed] = []
    for number, mark in enumerate(marks):
        top = 700 - 42 * number
        placed += [(60, top, 11, mark), (85, top, 11, texts[0])]
        placed += [(85, top - 14 * n, 11, text) for n, text in enumerate(texts[1:], 1)]
    lines = _text(placed).split("\n")
    shown = [mark.replace("\\", "") for mark in marks]
    assert lines == [line for mark in shown for line in (f"{mark} {texts[0]}", texts[1], texts[2])]


@pytest.mark.parametrize(
    ("placed", "shown"),
    [
        ([(60, 700, 11, "Flow of 10"), (113, 704, 7, "3"), (120, 700, 11, "litres")],
         "Flow of 10\u00b3 litres"),
        ([(60, 700, 11, "5x10"), (83, 704, 7, "-6"), (91, 700, 11, "bar")],
         "5x10\u207b\u2076 bar"),
        ([(60, 700, 11, "water H"), (99, 698, 7, "2"), (103, 700, 11, "O")], "water H2O"),
        ([(60, 700, 11, "see note"), (104, 704, 7, "12")], "see note\u00b9\u00b2"),
        ([(60, 700, 11, "see note"), (108, 700, 8, "12")], "see note 12"),
        ([(60, 700, 7, "all 10 of it is small")], "all 10 of it is small"),
    ],
)  # fmt: skip
def test_figures_that_are_raised(placed: list[Placed], shown: str) -> None:
    """V1: a smaller figure above the line is a power or the mark of a note, and no digit."""
    assert _text(placed) == shown


def test_form_fields_stand_where_they_are_shown() -> None:
    """V1: texts, choices and ticks of a filled form; what is hidden or empty is not shown."""
    labels = [
        (60.0, 700.0 - 30 * n, 11.0, text)
        for n, text in enumerate(["Name", "Member", "Diver", "Boat", "Note"])
    ]
    field = "/T ({}) /Rect [160 {} 300 {}] {}"
    fields = [
        field.format(name, 698 - 30 * n, 712 - 30 * n, told)
        for n, (name, told) in enumerate([
            ("n", "/FT /Tx /V (Alice Smith)"), ("m", "/FT /Btn /V /Yes /AS /Yes"),
            ("d", "/FT /Btn /V /Off /AS /Off"), ("b", "/FT /Ch /Ff 131072 /V (Sloop)"),
            ("e", "/FT /Tx /V ()"),
        ])
    ]  # fmt: skip
    fields.append("/T (h) /F 2 /FT /Tx /V (hidden) /Rect [160 500 300 520]")
    text = read("a.pdf", placed_pdf([labels], fields=fields)).text
    for label, value in [("Name", "Alice Smith"), ("Diver", "☐"), ("Boat", "Sloop")]:
        assert f"| {label} | {value} |" in text
    assert "hidden" not in text
    assert "Note" in text


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ("valve A\ufffe100", "valve A-100"), ("in UTF\ufffe8", "in UTF-8"),
        ("by Smith\ufffeJones", "by Smith-Jones"), ("a well\ufffeknown one", "a well-known one"),
        ("non\ufffenegative", "non-negative"), ("is contin\ufffeued", "is continued"),
        ("long\ufffer", "longr"), ("state-of-the\ufffeart", "state-of-the-art"),
        ("a re-entry; its re\ufffeentry", "a re-entry; its re-entry"),
        ("selfish; self\ufffeish", "selfish; selfish"), ("Schiff\u00ad\nfahrt", "Schifffahrt"),
        ("contin-\nued here", "continued here"), ("10-\n20", "10-\n20"), ("end\ufffe", "end"),
    ],
)  # fmt: skip
def test_hyphens_at_the_ends_of_lines(lines: str, shown: str) -> None:
    """V1: a hyphen stays in names, figures and compounds, and goes from a word that was cut."""
    assert Hyphens([lines]).join_lines(lines) == shown


def test_very_long_words_are_read_in_linear_time() -> None:
    """V1: a word of a million letters, cut or not, or cut a hundred thousand times."""
    for text in ("a" * 1_000_000, "a" * 1_000_000 + "\ufffe", "a\ufffe" * 100_000, "-" * 500_000):
        assert Hyphens([text]).join_lines(text).count("a") == text.count("a")


def test_a_cut_word_is_joined_in_a_page() -> None:
    """V1: PDFium marks it; a compound stays one."""
    text = _text(
        [(60, 700, 11, "Valve A-"), (60, 686, 11, "100 is contin-"), (60, 672, 11, "ued.")]
    )
    assert " ".join(text.split()) == "Valve A-100 is continued."


GLYPHS = st.builds(
    lambda sign, x, y, w, h: Glyph(sign, x, y, x + w, y + h, x + w, x),
    st.sampled_from("ab12.-"), st.floats(0, 600), st.floats(0, 800), st.floats(0.1, 30),
    st.floats(0.1, 40),
)  # fmt: skip
ANY = st.lists(st.one_of(GLYPHS, GLYPHS, st.sampled_from([Glyph(" "), Glyph("\n")])), max_size=60)


@given(ANY)
def test_no_character_is_lost_or_said_twice(glyphs: list[Glyph]) -> None:
    """V1: wherever characters stand, the texts have each of them once."""
    plain = str.maketrans("\u2070\u00b9\u00b2\u207b", "012-", "^()_")
    said = "".join(
        text if isinstance(text, str) else " ".join(cell for row in text for cell in row)
        for text in arrange(page_pieces(glyphs))
    ).translate(plain)
    assert sorted("".join(said.split())) == sorted(
        glyph.sign for glyph in glyphs if not glyph.sign.isspace()
    )


def test_pages_that_would_take_for_ever() -> None:
    """V1: thousands of scattered characters are read in the order of the file."""
    scattered = [
        Glyph("x", x, y, x + 5, y + 8, x + 5, x)
        for x, y in ((7 * (n * 37 % 97), 9 * (n * 53 % 89)) for n in range(20_001))
    ]
    assert sum(str(text).count("x") for text in arrange(page_pieces(scattered))) == 20_001


def test_sections_are_pages_of_several_texts() -> None:
    """V1: the columns and the tables of a page stand in its section."""
    loaded = read("a.pdf", placed_pdf([[TITLE, *_rows()], [], _table()]))
    assert [section.page for section in loaded.sections] == [1, 3]
    first, second = (loaded.text[section.start : section.end] for section in loaded.sections)
    assert first.startswith("Rules")
    assert first.endswith("receipt.")
    assert second.startswith("| Region |")
    assert read("b.pdf", pdf(["One line."])).text == "One line."
