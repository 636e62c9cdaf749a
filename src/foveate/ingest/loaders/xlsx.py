"""Excel: a sheet is a section, a row a record, every value as the sheet shows it.

Formulas are read as the values that were computed last. Hidden sheets are left out, as the page
of an HTML file is without what it hides; hidden rows and columns are read, since filters hide them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from foveate.ingest.loaders.archive import Archive
from foveate.ingest.loaders.blocks import Blocks
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.loaders.office import read_properties
from foveate.ingest.loaders.records import Records
from foveate.ingest.loaders.sheet import CellValues, read_formats, read_rows, read_strings
from foveate.ports import LoadedDocument

__all__ = ["load_xlsx"]


def load_xlsx(data: bytes, path: Path, *, limits: Limits | None = None) -> tuple[LoadedDocument]:
    """The file as one document, titled by its properties or its name."""
    bounds = limits or Limits()
    archive = Archive(data, bounds)
    part = archive.main_part("workbook")
    values = CellValues(
        strings=read_strings(archive, archive.related_part(part, "sharedStrings"), bounds),
        formats=read_formats(archive, archive.related_part(part, "styles")),
        since_1904=_has_1904_dates(archive, part),
    )
    blocks = Blocks(bounds)
    records = Records(bounds, blocks)
    for name, sheet in _visible_sheets(archive, part):
        records.begin_sheet(name)
        for row, cells in read_rows(archive, sheet, values, bounds):
            records.add_row(row, cells)
        records.end_sheet()
    told = read_properties(archive)
    loaded = LoadedDocument(
        text=blocks.text(),
        title=told.title or path.stem,
        sections=records.sections,
        metadata={"author": told.author} if told.author else {},
        modified_at=told.modified_at,
        lines=False,
    )
    return (loaded,)


def _visible_sheets(archive: Archive, part: str) -> Iterator[tuple[str, str]]:
    """The names and parts of the sheets that are shown, in their order, each part once."""
    known = archive.relations(part)
    seen: set[str] = set()
    for kind, name, given in archive.events(part):
        if kind == "start" and name == "sheet" and given.get("state", "visible") == "visible":
            relation, target = known.get(given.get("r:id", ""), ("", ""))
            if relation == "worksheet" and target not in seen:
                seen.add(target)
                yield " ".join(given.get("name", "").split()), target


def _has_1904_dates(archive: Archive, part: str) -> bool:
    given = (g for kind, name, g in archive.events(part) if (kind, name) == ("start", "workbookPr"))
    return any(each.get("date1904") in ("1", "true") for each in given)
