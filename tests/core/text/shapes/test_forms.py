"""Logs and lists in forms that programs write: each entry or item is one unit."""

from __future__ import annotations

import pytest

from foveate.core.text.shapes.find import find_shapes

MINUTES = range(40)
BODY = "by the north gate, signed for by clerk"
LOGS = {
    "lines below": "2024-05-01 10:{n:02}:00 INFO order {n} packed\n  for: Bern\n  {body}\n   {n}\n",
    "fields below": "[2024-05-01T10:{n:02}:00.0Z] [INFO] packed {n}\n\tBern\n\t{body}\n\ta\n\tb\n",
    "JSON below": '2024-05-01 10:{n:02}:00 INFO packed\n{{\n  "id": {n},\n  "town": "Bern"\n}}\n',
    "logfmt": 'ts=2024-05-01T10:{n:02}:00Z level=info id={n} msg="{body}"\n',
    "logfmt, level first": 'level=info ts=2024-05-01T10:{n:02}:00Z id={n} msg="{body}"\n',
    "kernel": "[   {n}.123456] usb 1-{n}: new device, {body}\n",
    "day and month": "5/1/2024 10:{n:02}:00 AM Information order {n}, {body}\n",
}


def many(form: str, ends: str = "\n") -> str:
    """Forty entries or items."""
    text = "".join(form.format(n=n, body=BODY) for n in MINUTES)
    return text.replace("\n", ends)


@pytest.mark.parametrize("form", LOGS)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_an_entry_of_a_log_is_one_unit(form: str, ends: str) -> None:
    """U1: with the lines below it, however many."""
    (shape,) = find_shapes(many(LOGS[form], ends))

    assert (shape.name, len(shape.spans)) == ("log", len(MINUTES))


@pytest.mark.parametrize("mark", ["|", ">", ">-", "|+"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_an_item_with_a_text_of_several_lines_is_one_unit(mark: str, ends: str) -> None:
    """U1: below a key of YAML; its lines need not look like keys."""
    form = "- id: V-{n}\n  note: " + mark + "\n    Sent {body}\n    and put away\n    in May\n"

    (shape,) = find_shapes(many(form, ends))

    assert (shape.name, len(shape.spans)) == ("indented", len(MINUTES))


@pytest.mark.parametrize(
    "form",
    [
        "# Day {n}\n\n2024-05-{n:02} 10:00:00 INFO packed\n2024-05-{n:02} 11:00:00 INFO sent\n\n",
        "# Gate {n}\nname: gate {n}\nport: {n}\nclerk: Kim\n\n",
        "# Gate {n}\n## At the front\n- name: gate {n}\n  port: {n}\n",
    ],
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_heading_or_comment_is_in_one_unit_with_what_is_below_it(form: str, ends: str) -> None:
    """J3: not with what is above it, which would be read as of the wrong day."""
    text = "".join(form.format(n=n) for n in range(1, 9)).replace("\n", ends)
    (shape,) = find_shapes(text)
    units = [text[slice(*span)] for span in shape.spans]

    assert sum("#" in unit for unit in units) >= 7
    assert all(unit.rindex("#") < 30 for unit in units if "#" in unit)


def test_lines_that_look_like_comments_belong_to_the_entry_above_them() -> None:
    """U1: a program that crashes writes them below its error, without an empty line."""
    dump = "# A fatal error has been detected:\n# SIGSEGV at pc=0x7f"
    entries = [f"2024-05-01 10:{n:02}:00 INFO packed order {n}" for n in MINUTES]
    entries[20] = f"2024-05-01 10:20:00 ERROR the program crashed\n{dump}"
    text = "\n".join(entries)
    (shape,) = find_shapes(text)

    assert [text[slice(*span)] for span in shape.spans] == entries


def test_a_line_of_a_cell_that_looks_like_a_heading_stays_in_its_row() -> None:
    """U2: it may be the name of a column."""
    rows = "".join(f"<tr>\n<td>bolt {n}\n<td>{n}\n" for n in range(9))
    text = f"<table>\n<tr>\n<th>item\n<th>\n# of units\n{rows}</table>"
    (shape,) = find_shapes(text)

    assert text[slice(*shape.spans[0])].endswith("# of units")


@pytest.mark.parametrize(
    "text",
    [
        "He came at 10:15 and left at noon.\n" * 20,
        "On 5/1/2024 the well was dry.\n\nOn 6/1/2024 it rained.\n\n" * 9,
        "She said: |\n   so it was told,\n   and so it is.\n\nAnd then: >\n   a line of verse.\n"
        * 3,
        "level=of the sea\nt=time of day, as it is written here.\n" * 9,
    ],
)
def test_prose_with_times_and_marks_is_no_log_or_list(text: str) -> None:
    """U1: it is read by its sentences."""
    assert {shape.name for shape in find_shapes(text)}.isdisjoint({"log", "indented"})
