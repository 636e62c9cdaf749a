"""Tables with merged cells: names in two lines, and values that span rows."""

from __future__ import annotations

from foveate import assemble
from foveate.testing.shapes import check_shapes

ROWS = [[f"P-{100 + n}", f"1{n}", f"2{n}", f"3{n}", f"4{n}"] for n in range(30)]
HEAD = (
    "<tr><th rowspan=2>Region</th><th colspan=2>2024</th><th colspan=2>2025</th></tr>\n"
    "<tr><th>Q1</th><th>Q2</th><th>Q1</th><th>Q2</th></tr>"
)


def test_a_row_is_shown_with_both_lines_of_names() -> None:
    """U2: a quarter says nothing without its year, and the year not which of its columns."""
    rows = ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in ROWS]
    text = "\n".join(["<table>", HEAD, *rows, "</table>"])
    (shape,) = check_shapes(text)
    context = assemble("How much had P-127?", [{"text": text}], budget=150, tokenizer="cl100k_base")

    assert shape.counted[0].noun == "rows"
    assert len(shape.counted[0].spans) == len(ROWS)
    assert HEAD in context.text
    assert "P-127" in context.text


def test_a_row_is_shown_with_the_row_whose_cell_covers_it() -> None:
    """U2: the name of a team stands in its first row alone, and an inner span in its own."""
    rows = [
        "<tr><td rowspan=4>Billing</td><td rowspan=2>North</td><td>Ann</td></tr>",
        "<tr><td>Bob</td></tr>",
        "<tr><td rowspan='2'>South</td><td>Cy</td></tr>",
        "<tr><td>Dee</td></tr>",
        "<tr><td>Legal</td><td>East</td><td>Eve</td></tr>",
    ]
    text = "\n".join(
        ["<table><tr><th>Team</th><th>Place</th><th>Name</th></tr>", *rows, "</table>"]
    )
    (shape,) = check_shapes(text)

    assert shape.leans == (0, 0, 1, 1, 3, 0)


def test_a_title_of_names_is_no_second_line() -> None:
    """U2: a group's title over all columns may be marked as a name, too."""
    rows = "".join(f"\n<tr><td>Part {n}</td><td>{n}</td><td>{n}</td></tr>" for n in range(4))
    names = "<tr><th>Part</th><th>Length</th><th>Width</th></tr>"
    text = f"<table>{names}\n<tr><th colspan=3>Valves</th></tr>{rows}</table>"
    (shape,) = check_shapes(text)

    assert shape.head == 0
