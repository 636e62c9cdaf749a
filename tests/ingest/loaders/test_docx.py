"""Word: headings, lists, tables; what is not shown is not read. python-docx writes and compares."""

from __future__ import annotations

import io
from typing import Any

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents import part_of, read, repacked, word
from foveate.ports import LoadedDocument

MAIN = "word/document.xml"
WORDS = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=8)


def _file(body: str) -> bytes:
    """A Word file with this in its main part, before what python-docx put there."""
    empty = word(lambda document: None)
    main = part_of(empty, MAIN).replace("<w:body>", f"<w:body>{body}")
    return repacked(empty, {MAIN: main.encode()})


def _of(body: str) -> LoadedDocument:
    return read("manual.docx", _file(body))


def _run(text: str, told: str = "") -> str:
    return f"<w:r><w:rPr>{told}</w:rPr><w:t>{text}</w:t></w:r>"


def test_headings_lists_and_tables() -> None:
    """T2: headings are sections with their path, lists have their marks, tables their rows."""

    def write(document: Any) -> None:
        document.add_heading("The boiler", 0)
        document.add_heading("Pressure", 1)
        document.add_paragraph("Keep it at one bar.")
        document.add_heading("Valve", 2)
        for text in ("Close it.", "Wait."):
            document.add_paragraph(text, style="List Number")
        document.add_paragraph("Gloves", style="List Bullet")
        table = document.add_table(2, 2)
        for i, cell in enumerate(cell for row in table.rows for cell in row.cells):
            cell.text = f"cell {i}"
        document.add_heading("Filter", 1)
        document.add_paragraph("Clean it.")

    loaded = read("manual.docx", word(write))

    assert loaded.title == "The boiler"
    assert [section.path for section in loaded.sections] == [
        "Pressure",
        "Pressure > Valve",
        "Filter",
    ]
    assert loaded.text == (
        "# The boiler\n\n## Pressure\n\nKeep it at one bar.\n\n### Valve\n\n1. Close it.\n"
        "2. Wait.\n- Gloves\n\n| cell 0 | cell 1 |\n| cell 2 | cell 3 |\n\n## Filter\n\nClean it."
    )


def test_headings_of_level_1_are_the_highest_where_no_paragraph_is_the_title() -> None:
    """T2: one whose properties have a title, or none at all."""

    def write(document: Any) -> None:
        document.core_properties.title = "Boilers"
        document.add_heading("Pressure", 1)
        document.add_heading("Valve", 2)

    loaded = read("manual.docx", word(write))

    assert (loaded.title, loaded.text) == ("Boilers", "# Pressure\n\n## Valve")
    assert [section.path for section in loaded.sections] == ["Pressure", "Pressure > Valve"]


@settings(max_examples=25)  # each one writes a whole file
@given(texts=st.lists(WORDS, max_size=6))
def test_paragraphs_are_those_that_python_docx_reads(texts: list[str]) -> None:
    """T2: paragraph for paragraph what another reader finds."""

    def write(document: Any) -> None:
        for text in texts:
            document.add_paragraph(text)

    data = word(write)
    others = [p.text for p in docx.Document(io.BytesIO(data)).paragraphs if p.text]
    assert read("manual.docx", data).text.split("\n\n") == (others or [""])


@pytest.mark.parametrize(
    "body",
    [
        f"<w:p>{_run('seen')}<w:del>{_run('gone')}</w:del></w:p>",
        f"<w:p>{_run('seen')}<w:moveFrom>{_run('gone')}</w:moveFrom></w:p>",
        f"<w:p>{_run('gone', '<w:vanish/>')}{_run('seen')}</w:p>",
        f"<w:p><w:r><w:instrText>PAGE</w:instrText></w:r>{_run('seen')}</w:p>",
        "<w:p>" + _run("seen", '<w:vanish w:val="0"/>') + "</w:p>",
        f"<w:p><w:ins>{_run('seen')}</w:ins></w:p>",
    ],
)
def test_what_is_not_shown_is_left_out(body: str) -> None:
    """T2: deleted, moved and hidden texts and codes of fields are not read; inserted ones are."""
    assert _of(body).text == "seen"


def test_notes_stand_where_they_are_referred_to() -> None:
    """T2, V1: a note is said once, in brackets, at its first reference; its powers are powers."""
    up = '<w:vertAlign w:val="superscript"/>'
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    refers = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    body = f"<w:p>{_run('Boil it')}{refers}{_run(', wait')}{refers}</w:p>"
    note = f"<w:p>{_run('to 10')}{_run('6', up)}</w:p>"
    told = f'<w:f {space}><w:footnote w:id="2">{note}</w:footnote></w:f>'
    empty = word(lambda document: None)
    name = "word/_rels/document.xml.rels"
    relation = '<Relationship Id="r9" Type="x/footnotes" Target="footnotes.xml"/></Rel'
    changes = {
        MAIN: part_of(empty, MAIN).replace("<w:body>", f"<w:body>{body}"),
        name: part_of(empty, name).replace("</Rel", relation),
        "word/footnotes.xml": told,
    }
    packed = {part: text.encode() for part, text in changes.items()}
    assert read("manual.docx", repacked(empty, packed)).text == "Boil it [to 10⁶], wait"


def test_a_table_in_a_cell_is_the_cells_text() -> None:
    """T2, V1: nothing of a nested table is lost, its cells stay apart, the outer row is one row."""
    cells = "".join(f"<w:tc><w:p>{_run(text)}</w:p></w:tc>" for text in ("2023", "3.20"))
    inner = f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>"
    cell = f"<w:tc><w:p>{_run('out')}</w:p>{inner}<w:p/></w:tc>"
    row = f"<w:tr>{cell}{cell}</w:tr>"
    shown = "| out; 2023; 3.20 | out; 2023; 3.20 |"
    assert _of(f"<w:tbl>{row}{row}</w:tbl>").text == f"{shown}\n{shown}"


def test_a_style_takes_its_level_over() -> None:
    """T2: a style that is based on a heading is one; an earlier format of it does not count."""

    def write(document: Any) -> None:
        style = document.styles.add_style("Chapter", 1)
        style.base_style = document.styles["Heading 2"]
        document.add_paragraph("Valve", style="Chapter")

    assert [section.path for section in read("manual.docx", word(write)).sections] == ["Valve"]


def test_content_controls_and_insertions_are_read() -> None:
    """T2: text that python-docx leaves out, which is one reason why it is not what reads here."""
    control = f"<w:sdt><w:sdtContent><w:p>{_run('control')}</w:p></w:sdtContent></w:sdt>"
    body = f"{control}<w:p><w:ins>{_run('inserted')}</w:ins>{_run(' plain')}</w:p>"
    data = _file(body)

    assert read("manual.docx", data).text == "control\n\ninserted plain"
    assert [p.text for p in docx.Document(io.BytesIO(data)).paragraphs] == [" plain"]


def test_cells_with_a_text_of_their_own_keep_it() -> None:
    """T2: where they were merged before a tracked change, and where they go on with one above."""
    before = (
        "<w:tcPrChange><w:tcPr><w:gridSpan w:val='3'/><w:vMerge/></w:tcPr></w:tcPrChange>",
        "<w:vMerge/>",
    )
    rows = "".join(
        f"<w:tr><w:tc><w:tcPr>{told}</w:tcPr><w:p>{_run(text)}</w:p></w:tc>"
        f"<w:tc><w:p>{_run(value)}</w:p></w:tc></w:tr>"
        for told, text, value in zip(("", *before), "abc", "123", strict=True)
    )

    assert _of(f"<w:tbl>{rows}</w:tbl>").text == "| a | 1 |\n| b | 2 |\n| c | 3 |"


def test_a_table_of_one_row_is_text() -> None:
    """T2: a box around a note, or the head of a letter, has no rows."""

    def write(document: Any) -> None:
        cells = document.add_table(1, 2).rows[0].cells
        cells[0].text, cells[1].text = "Mill Ltd", "1 Weir Road"

    assert read("letter.docx", word(write)).text == "Mill Ltd\n\n1 Weir Road"


def test_ticks_are_signs_of_a_font() -> None:
    """T2, V1: what a font of signs shows for a code of its own; other codes of it are marked."""
    ticks = "".join(
        f"<w:r><w:sym w:font='{font}' w:char='{char}'/></w:r>"
        for font, char in (
            *(("Wingdings", "F0FC"), ("Wingdings 2", "f04f")),
            *(("Symbol", "F0A3"), ("Webdings", "F0FC")),
        )
    )

    assert _of(f"<w:p>{_run('SSO: ')}{ticks}</w:p>").text == "SSO: ✓✗≤�"
