"""HTML tables inside one another and in one line: no row is lost."""

from __future__ import annotations

import pytest

from foveate.core.text.shapes.find import find_shapes
from foveate.testing.shapes import check_linear

NAMES = "<tr><th>name</th><th>value</th></tr>"


def rows(name: str, *, ends: bool = True) -> str:
    """Three rows of two cells, with their end tags or without."""
    row, cell = ("</tr>", "</td>") if ends else ("", "")
    return "".join(f"<tr><td>{name}{n}{cell}<td>value {n}{cell}{row}" for n in range(3))


INNER = f"<table>{NAMES}{rows('x')}"
OUTER = f"<table>{NAMES}{rows('a')}<tr><td>n</td><td>{INNER}"
OPEN = f"<table><tr><th>name<th>value{rows('a', ends=False)}<tr><td>n<td><table><tr><th>k<th>v"
X, Y = rows("x", ends=False), rows("b", ends=False)
AX = ["aaa", "xxx"]
APART = ["aaan", "xxx", "bbb"]
TEXTS = {
    "all end": (f"{OUTER}</table></td></tr>{rows('b')}</table>", APART),
    "the inner has no end": (f"{OUTER}</td></tr>{rows('b')}</table>", ["aaan", "xxxbbb"]),
    "only tables end": (f"{OPEN}{X}</table>{Y}</table>", APART),
    "nothing ends": (f"{OPEN}{X}{Y}", ["aaan", "xxxbbb"]),
    "side by side, no end": (f"<table>{NAMES}{rows('a')}{INNER}", AX),
    "side by side in a line": (
        f"<table>{NAMES}{rows('a')}</table>b: {INNER}</table>",
        ["aaa", "xxx"],
    ),
    "in one cell of a page": (f"<table><tr><td>{INNER}</table></td></tr></table>", ["xxx"]),
    "far in a line": (f"<p>{'Much was said. ' * 40}</p>{INNER}</table>", ["xxx"]),
    "a rest": (
        f"{rows('a')}<tr><td>n</td><td>{INNER}</table></td></tr>{rows('b')}</table>",
        APART,
    ),
}


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("is_in_lines", [False, True])
def test_rows_are_those_of_their_table(form: str, is_in_lines: bool) -> None:
    """U2: rows belong to the table that began last."""
    text, expected = TEXTS[form]
    text = text.replace("<t", "\n<t").lstrip() if is_in_lines else text

    shapes = find_shapes(text)

    first_cells = [
        "".join(text[a:b].partition("<td>")[2][:1] for a, b in shape.counted[0].spans)
        for shape in shapes
    ]
    assert first_cells == expected
    for shape, following in zip(shapes, [*shapes[1:], None], strict=True):
        assert following is None or shape.end <= following.start


def test_the_table_of_a_page_laid_out_by_another_gives_its_rows() -> None:
    """U2: one cell that holds most of a table is no unit; the rows of the table in it are."""
    inner = "".join(f"<tr><td>x{n}</td><td>value {n}</td></tr>" for n in range(200))
    head = "<table><tr><td>Home</td><td><table><tr><td>a</td></tr></table></td></tr><tr><td>"
    text = f"{head}<table>{NAMES}{inner}</table></td></tr><tr><td>Foot</td></tr></table>"

    (shape,) = find_shapes(text)

    read = [text[a:b].partition("</td>")[0] for a, b in shape.counted[0].spans]
    assert read == [f"<tr><td>x{n}" for n in range(200)]
    assert text[shape.start :].startswith(f"<table>{NAMES}")


@pytest.mark.parametrize(
    "menu",
    [
        "</td><tr><td>Menu</td></tr>",
        "<tr><th>Menu</th></tr>",
        "<tr><td>Menu</td></tr>" * 9,
    ],
)
@pytest.mark.parametrize("many", [3, 200])
def test_a_layout_may_have_stray_end_tags_names_and_many_rows(menu: str, many: int) -> None:
    """U2: the rows of the table in it are units, and what is said before it is none."""
    inner = "".join(f"<tr><td>x{n}</td><td>value {n}</td></tr>" for n in range(many))
    page = f"<p>{'Much was said. ' * 200}</p><table>{NAMES}{inner}</table>"

    text = f"<table>{menu}<tr><td>{page}</td></tr></table>"
    *before, shape = find_shapes(text)

    assert len(shape.counted[0].spans) == many
    assert all("Much" not in text[one.start : one.end] for one in before)


def test_a_stray_end_tag_in_the_row_of_names_loses_nothing() -> None:
    """U2: the names of the columns stay the head, and all rows are of one table."""
    text = f"<table>{NAMES.replace('name</th>', 'name</th></th>')}{rows('a')}</table>"

    (shape,) = find_shapes(text)

    assert shape.head == 0
    assert len(shape.counted[0].spans) == 3


@pytest.mark.parametrize(
    "piece",
    [
        "<table><tr><td>",
        "<table><tr><td>x<tr><td>",
        "<tr><td><table>",
        "<table><table>",
        "<table><tr><td>a<tr><td>b</table>",
        "<table><tr></table>",
        "<table></td><td>",
        "<table></td><tbody><th>",
        "<table><tr></td><td>",
        "<table><tr><td>a<tr><td>b</td></tr></td><td>",
        "<table><tr><td>a<tr><td>b<table></table></td></tr></td><td>",
        f"<tr><td><table><tr><td>{'a' * 3000}<tr><td></table>",
        "<table><tr><td></td></td></tr></tr>",
    ],
)
def test_time_is_in_proportion_to_the_text(piece: str) -> None:
    """U2: tables in tables, rows and cells that nothing ends."""
    check_linear(lambda count: piece * count, 750)
