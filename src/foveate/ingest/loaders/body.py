"""The text of a Word or OpenDocument file as its elements come: paragraphs, items and tables.

A reader says what opens and ends, and how runs look. Text boxes, notes and cells of tables have
paragraphs of their own inside of others.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from foveate.ingest.loaders.blocks import MAX_COLUMNS, Blocks
from foveate.ingest.loaders.inline import Inline
from foveate.ingest.loaders.merged_cells import Cell, MergedCells


@dataclass(slots=True)
class Body:
    """The open tables and cells; what is complete is in `blocks`."""

    blocks: Blocks
    title: str = ""
    cells: list[Cell] | None = None  # of the open row
    _tables: int = 0
    _merged: MergedCells = field(default_factory=MergedCells)  # of the open table
    _gap: str = " "  # before the next paragraph of the cell

    @property
    def is_in_table(self) -> bool:
        """Whether a table is open."""
        return self._tables > 0

    def start_table(self) -> None:
        """A table begins; one in a cell is text of that."""
        self._tables += 1

    def start_row(self) -> None:
        """A row begins."""
        if self._tables > 1:
            self._gap = "; "
        else:
            self.cells = []

    def start_cell(self, columns: int = 1, rows: int = 1) -> None:
        """A cell begins, which covers so many columns and rows."""
        if self._tables > 1:
            self._gap = "; "
        elif self.cells is not None and len(self.cells) < MAX_COLUMNS:
            self.cells.append(Cell("", columns, rows))

    def end_row(self) -> None:
        """A row ends."""
        if self._tables == 1 and self.cells is not None:
            self.blocks.add_rows(self._merged.add(self.cells))
            self.cells = None

    def end_table(self) -> None:
        """A table ends; one of a single row lays the page out."""
        self._tables -= 1
        if not self._tables:
            self.blocks.add_rows(self._merged.finish(), is_layout=self._merged.count == 1)
            self._merged = MergedCells(self._merged.allowance)
        self.blocks.end_group()

    def end_paragraph(
        self, line: Inline, *, level: int | None = None, depth: int = 0, mark: str = ""
    ) -> None:
        """Write a paragraph: a heading, the title of the file (level 0), an item, or a text.

        `mark`: its number, or `-` as an item without one.
        """
        text = line.text()
        self.blocks.leave_out("struck-out texts", line.struck)
        if not text.strip():
            return
        said = f"{mark} {text}" if mark not in ("", "-") else text
        if self.cells:
            cell = self.cells[-1]
            gap, self._gap = self._gap if cell.text.strip() else " ", " "
            self.cells[-1] = cell._replace(text=f"{cell.text}{gap}{said}")
        elif level == 0:
            self.title = self.title or " ".join(text.split())
            self.blocks.add_heading(1, text, counts=False)
        elif level is not None:
            self.blocks.add_heading(level, said, below_title=bool(self.title))
        elif mark:
            self.blocks.add_item(depth, mark, text)
        else:
            self.blocks.add_paragraph(text)
