"""Readers of shapes: what is one unit, what it leans on, and what is not a shape at all."""

from __future__ import annotations

import json

import pytest
from bench.lookup_texts import FORMS, make_text

from foveate import assemble
from foveate.core.text.shapes.shape import Shape
from foveate.core.text.shapes.strings import read_shapes
from foveate.testing.shapes import check_shapes


def only(text: str) -> Shape:
    """The one shape of the text."""
    (shape,) = check_shapes(text)
    return shape


def shown(text: str, shape: Shape) -> list[str]:
    """The units of the shape."""
    return [text[a:b] for a, b in shape.spans]


def chain(text: str, holds: str) -> list[str]:
    """The first unit that holds this, and all that it leans on, outermost first."""
    shape = only(text)
    units = shown(text, shape)
    at = next(n for n, unit in enumerate(units) if holds in unit)
    found = [units[at]]
    while shape.leans[at] != at:
        at = shape.leans[at]
        found.append(units[at])
    return found[::-1]


@pytest.mark.parametrize("form", FORMS)
def test_every_record_is_one_unit_and_leans_on_its_header(form: str) -> None:
    """U1, J3: in ten forms, and what is counted are the records; of code the lines."""
    made = make_text(form, 30, 3)
    shape = only(made.text)
    units = shown(made.text, shape)

    for record in made.records:
        unit = next(u for u in units if record.strip() in u)
        assert len(unit) <= len(record) + 40
    head = chain(made.text, made.records[-1].strip())[:-1]
    assert made.header in "\n".join(head)
    if form != "code":
        assert [len(c.spans) for c in shape.counted] == [30]


def test_path_of_a_record_is_what_it_leans_on() -> None:
    """U1: the keys that lead to it, one inside another, and no others."""
    rows = [{"id": f"r{n}", "text": "x" * 40} for n in range(30)]
    text = json.dumps({"page": {"at": 1}, "data": {"more": False, "rows": rows}})

    assert chain(text, '"r17"')[:-1] == ['"data": {', '"rows": [']


def test_stanzas_are_records_where_the_text_begins_inside_one() -> None:
    """U1: a stream of events that was cut: each event with its data, whatever comes first."""
    events = [f'event: step_{n}\ndata: {{"type": "step", "number": {n}}}' for n in range(6)]

    for first in ('data: {"type": "begin"}', "Answerevent: begin\ndata: {}"):
        text = "\n\n".join([first, *events])
        assert shown(text, only(text)) == [first, *events]


def test_elements_lean_on_the_tags_they_stand_in() -> None:
    """U1: with attributes or elements inside; comments and closing tags go with what is before."""
    rows = "".join(f'<row id="A-{n}" state="open"/>\n<!-- {n} -->\n' for n in range(30))
    text = f'<?xml version="1.0"?>\n<shop><about>x</about><rows of="30">\n{rows}</rows></shop>'
    found = chain(text, 'id="A-17"')

    assert found[-2:] == ['<rows of="30">', '<row id="A-17" state="open"/>\n<!-- 17 -->']
    assert found[0].endswith("<shop>")
    assert [counted.noun for counted in only(text).counted] == ["records"]


def test_long_record_is_opened_and_a_long_string_read_by_sentences() -> None:
    """U3: no unit of a search result with a page in it is the page."""
    page = "The weir was built in 1871. " * 200
    text = json.dumps([{"title": f"Weir {n}", "page": page} for n in range(3)])

    assert max(len(unit) for unit in shown(text, only(text))) < 100
    assert chain(text, '"Weir 1"') == ['{"title": "Weir 1",']


def test_rows_with_line_breaks_and_quotes_are_whole() -> None:
    """U1: a quoted line break, delimiter or quotation mark ends no row."""
    rows = ["id;note;town", *(f'A-{n};"one; ""two""\n{n}";Bern' for n in range(9))]
    text = "\n".join(rows)

    assert shown(text, only(text)) == rows


@pytest.mark.parametrize("note", ["one, two", "one,two,three", "one,\n\nand two", "one\ntwo,three"])
def test_a_first_row_with_a_quoted_delimiter_is_a_row(note: str) -> None:
    """U1, U2: a later chunk may begin with it; only what is outside of quotes parts cells."""
    rows = [f'A-1,Bern,{n}.50,"{note if not n else "none"}"' for n in range(6)]

    assert shown("\n".join(rows), only("\n".join(rows))) == rows


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_other_delimiters_are_read_from_the_rows(delimiter: str) -> None:
    """U1: commas, tabs, semicolons, pipes."""
    rows = [delimiter.join(("name", "part", "price"))]
    rows += [delimiter.join((f"n{n}", "valve", f"{n}.50")) for n in range(8)]
    shape = only("\n".join(rows))

    assert (shape.head, shape.columns, len(shape.spans)) == (0, 3, 9)


def test_pipes_with_spaces_and_no_outer_ones_are_rows() -> None:
    """U1: as tables are written out of annual reports."""
    rows = ["in millions | 2008 | 2007", "tier 1 capital | $71.0 | $82.0", "all (tiers 1 and"]
    rows[2] += " 2) | 108.4 | 121.6"
    shape = only("\n".join(rows))

    assert shown("\n".join(rows), shape) == rows
    assert (shape.head, shape.columns) == (0, 3)


def test_rows_without_names_have_no_header() -> None:
    """U2: the first row of a later chunk is no header."""
    text = "\n".join(f"A-{n},Bern,{n}.50,2024-01-0{n}" for n in range(1, 9))

    assert only(text).head == -1


def test_two_tables_in_one_text_have_their_own_headers() -> None:
    """U2: whatever is between them."""
    one = "| id | state |\n|---|---|\n" + "\n".join(f"| A-{n} | open |" for n in range(5))
    two = "| host | rack |\n|---|---|\n" + "\n".join(f"| h{n} | {n} |" for n in range(5))
    text = f"{one}\n\nHosts are listed below.\n\n{two}\n"
    found = check_shapes(text)

    heads = [text[slice(*s.spans[s.head])] for s in found]
    assert heads == ["| id | state |\n|---|---|", "| host | rack |\n|---|---|"]


@pytest.mark.parametrize("error", ["ValueError: no such account: tx_9f3a", "__main__.Refused"])
@pytest.mark.parametrize("before", ["", "2024-05-01 10:00:09 ERROR failed\n"])
@pytest.mark.parametrize("frames", [2, 40])
def test_traceback_is_one_unit_with_its_entry(error: str, before: str, frames: int) -> None:
    """U1: whatever its error is called; of a long one the lines lean on the first."""
    lines = ["Traceback (most recent call last):"]
    for number in range(frames):
        lines += [f'  File "app/pay.py", line {number}, in run', "    call(here)"]
    entries = "".join(f"2024-05-01 10:00:0{n} INFO step {n}\n" for n in range(4)) if before else ""
    text = entries + before + "\n".join([*lines, error, "", "Nothing else was said."])
    *entry, last = chain(text, error)

    assert (entry or [last])[0].startswith(before.strip() or lines[0])
    assert last.endswith(error)
    assert bool(entry) == (frames > 2)


@pytest.mark.parametrize("budget", [110, 130, 150])
@pytest.mark.parametrize("raised", ["", '    raise ConnectionError("bus not reachable")\n'])
def test_entry_that_is_asked_for_is_shown_with_its_error(budget: int, raised: str) -> None:
    """U1: before entries around it that have more words of the question."""
    lines = [f"2024-05-17 10:{n:02d}:00 INFO pump cycle {n} ok, pressure 3.{n}" for n in range(38)]
    failed = (
        "2024-05-17 10:20:00 ERROR pump stopped, reason E23\nTraceback (most recent call last):\n"
        f'  File "controller.py", line 44, in read_bus\n{raised}ConnectionError: bus not reachable'
    )
    log = {"text": "\n".join([*lines[:20], failed, *lines[20:]]), "source": "app.log"}

    assert failed in str(assemble("Why did the pump stop, E23?", [log], budget=budget))


def test_coloured_log_is_a_log() -> None:
    """U1: escape sequences around times and levels."""
    lines = [f"\x1b[32m2024-05-01T10:00:0{n}Z\x1b[0m \x1b[1mINFO\x1b[0m job-{n}" for n in range(8)]

    assert only("\n".join(lines)).name == "log"


def test_turn_is_shown_with_its_speaker_and_the_question_before() -> None:
    """U1: an answer is one unit with its question, and that with what it is about."""
    text = (
        "Ada: The pump in the cellar was taken out on Monday, for it leaked at the shaft.\n"
        "Ben: Where did they bring it after that?\n"
        "Ada: They brought it to the workshop in Graz, which has the gasket in stock.\n"
        "Ben: The invoice of the workshop came to 312 euros and has been paid since.\n"
    )

    (exchange,) = chain(text, "to the workshop")
    assert exchange.count("\n") == 2  # the question is short
    longer = text.replace("in Graz", "in Graz, " + "far behind the old mill, " * 12)
    assert len(chain(longer, "to the workshop")) == 2
    assert len(chain(text, "invoice")) == 1


def test_statement_over_several_lines_is_not_cut_and_has_its_signature() -> None:
    """J3: a call's arguments are one unit with it; a method leans on its class."""
    call = "        total = weigh(\n" + "".join(f"            part_{n}={n},\n" for n in range(20))
    body = "".join(f"        step_{n}(self)\n" for n in range(20))
    text = (
        "import scales\n\nclass Weir:\n"
        "    def open(\n        self,\n        gate: int,\n    ) -> None:\n"
        f"{call}        )\n{body}"
    )
    found = chain(text, "part_7")

    assert found[0].strip() == "class Weir:"
    assert found[1].strip().endswith(") -> None:")
    assert found[2].strip().startswith("total = weigh(")
    assert found[2].strip().endswith(")")


def test_a_part_of_a_list_of_records_is_read_from_its_first_whole_one() -> None:
    """U2: a chunk may begin and end inside of a record."""
    made = make_text("JSON, one line", 20, 1)
    text = made.text[700:-500]
    units = shown(text, only(text))
    whole = [record for record in made.records if record in text]

    assert whole
    assert all(sum(record in unit for unit in units) == 1 for record in whole)


@pytest.mark.parametrize("form", [form for form in FORMS if form != "log"])
def test_a_text_that_is_cut_anywhere_is_one_shape(form: str) -> None:
    """U1, U2: every whole record is a unit, and nothing but a part of one is in none."""
    made = make_text(form, 60, 3)
    for at in range(301, 2_500, 29):
        part = made.text[at : at + 2_000]
        shape = only(part)
        units = shown(part, shape)

        assert len(part[: shape.start]) <= max(map(len, made.records))
        assert not part[shape.end :].strip()
        for record in made.records:
            (unit,) = [unit for unit in units if record in unit] or [""]
            assert sum(own in unit for own in made.records) == (record in part)


def test_prose_before_rows_is_no_part_of_them() -> None:
    """U1: a sentence, a title or what announces them is not the rest of a row."""
    tables = [
        "\n".join(f"A-{n},Bern,{n}.50,2024-01-0{n}" for n in range(1, 9)),
        "\n".join(f"| A-{n} | Bern | {n}.50 |" for n in range(1, 9)),
        "".join(
            f'<item id="A-{n}"><state>open</state><town>Bern</town></item>\n' for n in range(9)
        ),
        "".join(f"  - id: A-{n}\n    town: Bern\n    state: open\n" for n in range(9)),
    ]
    example = '<item id="A-0"><state>open</state></item>\n'
    assert only(f"Write it so:\n\n{example}\nAnd so:\n{example}{tables[2]}").start > 20
    cut = "of the upper river, and all weirs were open in May "
    for prose in (f"{cut}\n\n{tables[0]}", f"{cut * 2}\n{tables[0]}", f"a | b |\n\n{tables[1]}"):
        assert only(prose).start > 8
    for table in tables:
        for prose in ("All weirs were open in May.", "# Weirs", "Those of the upper river:"):
            assert only(f"{prose}\n{table}").start > len(prose)


@pytest.mark.parametrize(
    "text",
    [
        "See [1], [2] and [3], or {a, b}. The set {x: x > 0} is open, and [0, 1] is closed.",
        "First, it rained, and then, as ever, it stopped.\nSo, the weir, which is old, held.\n" * 3,
        "Note: the gate is shut.\n\nWarning: never open it alone. It has no brake.",
        "- **Valve:** opens at 3 bar.\n- **Pump:** runs on Sundays.\n- **Tap:** is shut.\n" * 2,
        "49,7\n(18,3)\n35,1\n(9,1)\n35,3\n",
        "In 2024 the weir was closed.\nIn 2025 it was opened again.\nIn 2026 nobody came.",
        "He said: yes. She said: no.\nWe left at 10:30. They left at 11:45.\n",
    ],
)
def test_prose_is_no_shape(text: str) -> None:
    """U1: brackets, commas, colons and numbers of prose open nothing."""
    assert read_shapes(text) == ()


def test_json_torn_at_both_ends_has_the_unit_that_opens_its_list_as_head() -> None:
    """U1: what goes on in the next chunk needs the opening of the list, not the record before."""
    rows = ",\n".join(f'{{"part": "P-{n}", "note": "some longer words of it"}}' for n in range(12))
    text = f'"kg": 1}}\n{{"id": "B", "rows": [\n{rows},\n{{"part": "P-1'
    (shape,) = read_shapes(text)

    first, last = shape.spans[shape.head]
    assert text[first:last].strip() == '"rows": ['


def html_rows(*rows: str) -> str:
    """A table of cells, the row of names included."""
    cells = ("</td><td>".join(row.split("|")) for row in rows)
    return "<table>" + "\n".join(f"<tr><td>{row}</td></tr>" for row in cells) + "</table>"


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        (("part|town|price", *(f"valve {n}|Bern|{n}.20" for n in range(1, 6))), 0),
        (("name|town|trade", "Ada|Bern|miller", "Bo|Graz|smith", "Cy|Cork|baker"), 0),
        (("<b>part</b>|<strong>town</strong>", "valve|Bern", "pipe|Graz"), 0),
        (("Prices of 2024", "part|town|price", *(f"valve {n}|Bern|{n}" for n in range(1, 6))), 0),
        (("Name|Ada", "Born|1815", "Trade|miller"), -1),
        ((*(f"valve {n}|Bern|{n}.20" for n in range(1, 6)),), -1),
        ((*(f"<b>valve {n}</b>|<b>Bern</b>" for n in range(1, 6)),), -1),
    ],
)
def test_names_of_html_columns_may_stand_in_cells_like_others(rows: tuple[str, ...], names: int):
    """U1 U2: read from the values below them, as those of a CSV file are, or in bold."""
    text = html_rows(*rows)
    (shape,) = check_shapes(text)

    assert shape.head == names
    assert shape.counted[0].noun == "rows"
    if names == 0:
        assert rows[1 if "Prices" in rows[0] else 0].split("|")[0] in text[slice(*shape.spans[0])]
        assert set(shape.leans) == {0}
        assert len(shape.counted[0].spans) == len(rows) - 1 - ("Prices" in rows[0])
        later = check_shapes(text[text.rindex("<tr>", 0, text.rindex("<tr>") - 1) :])
        assert all(part.head == -1 for part in later)
