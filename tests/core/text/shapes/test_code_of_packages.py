"""Code as it is written: no statement is cut, no part of a function lacks its signature."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from random import Random

import click
import httpx
import pytest
import rich

from foveate.core.text.shapes.code import LONGEST_STATEMENT, LONGEST_STRING
from foveate.core.text.shapes.find import find_shapes
from foveate.core.text.shapes.shape import Shape
from source_tree import ROOT

COMMENTS = 400  # characters that stand before a statement, in one unit with it
SAMPLED = 30
FOLDERS = {
    "foveate": ROOT / "src" / "foveate",
    "tools": ROOT / "tools",
    **{package.__name__: Path(package.__file__).parent for package in (click, httpx, rich)},
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Source:
    """A file, its statements, and the units that it is read into."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines(keepends=True)
        self.text, self.nodes = (
            text,
            [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.stmt)],
        )
        self.offsets = [0]
        for line in self.lines:
            self.offsets.append(self.offsets[-1] + len(line))
        self.units = [(one, n) for one in find_shapes(text) for n in range(len(one.spans))]
        self.starts = [shape.spans[n][0] for shape, n in self.units]

    def place(self, line: int, column: int = 0) -> int:
        """Where that column of UTF-8 bytes is."""
        return self.offsets[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def end(self, node: ast.stmt) -> int:
        """Where the statement ends; one with a body, where its first lines do."""
        body = getattr(node, "body", None)
        if not body:
            assert node.end_lineno is not None
            return self.place(node.end_lineno, node.end_col_offset or 0)
        first = min([body[0].lineno, *(d.lineno for d in getattr(body[0], "decorator_list", ()))])
        lines = self.text[self.place(node.lineno) : self.place(first)].rstrip().split("\n")
        while len(lines) > 1 and lines[-1].lstrip()[:1] in ("", "#"):
            lines.pop()
        return self.place(node.lineno) + len("\n".join(lines))

    def cut_statements(self) -> Iterator[str]:
        """Those in which a unit begins, but for the longest, and for long strings."""
        for node in self.nodes:
            start, end = self.place(node.lineno, node.col_offset), self.end(node)
            strings = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
            longest = max((len(one) for one in strings if isinstance(one, str)), default=0)
            if isinstance(node, ast.Match) or end - start > LONGEST_STATEMENT - COMMENTS:
                continue
            if not hasattr(node, "body") and longest > LONGEST_STRING - 50:
                continue
            following = bisect_right(self.starts, start)
            if following < len(self.starts) and self.starts[following] < end:
                yield f"line {node.lineno}: {self.text[start:end][:60]!r}"

    def unsigned_parts(self) -> Iterator[str]:
        """Units in a function that do not lean on the unit of its signature."""
        for node in self.nodes:
            if not isinstance(node, FUNCTIONS):
                continue
            first = bisect_right(self.starts, self.place(node.lineno, node.col_offset)) - 1
            last = bisect_right(self.starts, self.end(node) - 1)
            assert node.end_lineno is not None
            end = self.place(node.end_lineno)
            while last < len(self.starts) and self.starts[last] < end:
                if first < 0 or first not in self.chain(last):
                    yield f"line {node.lineno}: {self.text[self.starts[last] :][:60]!r}"
                last += 1

    def chain(self, unit: int) -> Iterator[int]:
        """The numbers of the unit and of all that it leans on."""
        shape, own = self.units[unit]
        yield unit
        while shape.leans[own] != own:
            unit, own = unit - own + shape.leans[own], shape.leans[own]
            yield unit


def sampled(folder: Path) -> list[Path]:
    """Some of the files, the same each time; those that hold more than a text alone."""
    files = sorted(folder.rglob("*.py"))
    some = Random(7).sample(files, min(SAMPLED, len(files)))
    return [f for f in some if len(ast.parse(f.read_text(encoding="utf-8")).body) > 1]


@pytest.mark.parametrize("name", FOLDERS)
def test_no_statement_is_cut_and_every_function_has_its_signature(name: str) -> None:
    """U1, J3: in this project's files and in those of three packages, thirty of each."""
    files = sampled(FOLDERS[name])
    shapes: list[Shape] = []
    for path in files:
        source = Source(path.read_text(encoding="utf-8"))
        shapes += {id(shape): shape for shape, _ in source.units}.values()
        assert not list(source.cut_statements()), path
        assert not list(source.unsigned_parts()), path
    assert sum(shape.name == "code" for shape in shapes) > len(files) // 2


@pytest.mark.parametrize("quotes", ['"""', "'''"])
def test_string_over_several_lines_is_one_unit_with_its_statement(quotes: str) -> None:
    """U1: also where it looks like code, and where the text begins in the middle of one."""
    string = f"    query = {quotes}\nselect *\nfrom orders\nwhere id = 7\n{quotes}\n"
    text = "import db\n\ndef find(id):\n" + string * 19 + "    return db.run(query)\n"
    (shape,) = find_shapes(text)
    units = [text[a:b] for a, b in shape.spans]
    assert sum("from orders" in unit for unit in units) == 19
    assert all("query =" in unit for unit in units if "from orders" in unit)

    torn = f"where id = 7\n{quotes}\n{text}"
    found = [torn[a:b] for one in find_shapes(torn) for a, b in one.spans]
    assert all("query =" in unit for unit in found if "from orders" in unit)
