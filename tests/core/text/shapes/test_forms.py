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
