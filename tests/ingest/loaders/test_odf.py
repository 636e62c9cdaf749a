"""OpenDocument: headings, lists, tables and notes of a text; rows of a spreadsheet."""

from __future__ import annotations

from documents import odf, read

P = "<text:p>{}</text:p>"


def test_headings_lists_tables_and_notes() -> None:
    """T2: headings are sections, notes stand where they are referred to, comments are left out."""
    item = f"<text:list-item>{P.format('Gloves')}</text:list-item>"
    body = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        '<text:h text:outline-level="1">Pressure</text:h>'
        "<text:p>Keep<text:s text:c='2'/>it<text:note><text:note-citation>1</text:note-citation>"
        "<text:note-body><text:p>Not more.</text:p></text:note-body></text:note> low."
        "<office:annotation><text:p>comment</text:p></office:annotation></text:p>"
        '<text:h text:outline-level="2">Valve</text:h>'
        f"<text:list>{item}<text:list-item>{P.format('Pump')}<text:list>{item}</text:list>"
        "</text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>Part</text:p><text:p>No</text:p>"
        "</table:table-cell><table:table-cell><text:p>3</text:p></table:table-cell>"
        "</table:table-row><table:table-row><table:table-cell><text:p>Seal</text:p>"
        "</table:table-cell></table:table-row></table:table>"
    )
    meta = "<dc:title>Boiler</dc:title><dc:creator>Anna</dc:creator><dc:date>2024-03-01</dc:date>"

    loaded = read("a.odt", odf("text", body, meta=meta))

    assert loaded.text == (
        "# Pressure\n\nKeep  it [Not more.] low.\n\n## Valve\n\n"
        "- Gloves\n- Pump\n  - Gloves\n\n| Part No | 3 |\n| Seal |"
    )
    assert [section.path for section in loaded.sections] == ["Pressure", "Pressure > Valve"]
    assert (loaded.title, loaded.metadata["author"]) == ("Boiler", "Anna")
    assert loaded.modified_at is not None


def test_a_row_of_a_spreadsheet_is_a_record() -> None:
    """T2: with the names of its columns, its sheet and its number; repeated cells are counted."""

    def row(*cells: str, more: str = "") -> str:
        return f"<table:table-row {more}>{''.join(cells)}</table:table-row>"

    def cell(text: str, times: int = 1) -> str:
        inside = P.format(text) if text else ""
        return (
            f'<table:table-cell table:number-columns-repeated="{times}">{inside}</table:table-cell>'
        )

    rows = (
        row(cell("Part"), cell("Price"), cell("Note"), cell("", 16_000))
        + row(cell("", 16_384), more='table:number-rows-repeated="4"')
        + row(cell("valve"), cell("", 1), cell("opens"), cell("", 16_000))
        + row(cell("same", 2), more='table:number-rows-repeated="2"')
        + row(cell("", 16_384), more='table:number-rows-repeated="1048576"')
    )
    sheet = f'<table:table table:name="Parts">{rows}</table:table>'

    loaded = read("parts.ods", odf("spreadsheet", sheet))

    assert [(s.path, s.row, loaded.text[s.start : s.end]) for s in loaded.sections] == [
        ("Parts", 6, "Part: valve; Note: opens"),
        ("Parts", 7, "Part: same; Price: same"),
        ("Parts", 8, "Part: same; Price: same"),
    ]
