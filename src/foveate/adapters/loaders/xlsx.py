"""Excel: a sheet is a section, a row a record, every value as the sheet shows it.

Formulas are read as the values that were computed last. Hidden sheets are left out, as the page
of an HTML file is without what it hides; hidden rows and columns are read, since filters hide them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from foveate.adapters.loaders.archive import Archive
from foveate.adapters.loaders.blocks import Blocks
from foveate.adapters.loaders.limits import Limits
from foveate.adapters.loaders.office import properties
from foveate.adapters.loaders.records import Records
from foveate.adapters.loaders.sheet import Values, formats, rows, strings
from foveate.ports import Loaded

__all__ = ["load_xlsx"]


def load_xlsx(data: bytes, path: Path, *, limits: Limits | None = None) -> tuple[Loaded]:
    """The file as one document, titled by its properties or its name."""
    bounds = limits or Limits()
    archive = Archive(data, bounds)
    part = archive.main("workbook")
    values = Values(
        strings=strings(archive, archive.kin(part, "sharedStrings"), bounds),
        formats=formats(archive, archive.kin(part, "styles")),
        since_1904=_since_1904(archive, part),
    )
    blocks = Blocks(bounds)
    records = Records(bounds, blocks)
    for name, sheet in _sheets(archive, part):
        records.begin(name)
        for row, cells in rows(archive, sheet, values, bounds):
            records.take(row, cells)
        records.end()
    told = properties(archive)
    loaded = Loaded(
        text=blocks.text(),
        title=told.title or path.stem,
        sections=tuple(records.sections),
        metadata={"author": told.author} if told.author else {},
        modified_at=told.modified_at,
        lines=False,
    )
    return (loaded,)


def _sheets(archive: Archive, part: str) -> Iterator[tuple[str, str]]:
    """The names and parts of the sheets that are shown, in their order."""
    known = archive.related(part)
    for kind, name, given in archive.events(part):
        if kind == "start" and name == "sheet" and given.get("state", "visible") == "visible":
            relation, target = known.get(given.get("r:id", ""), ("", ""))
            if relation == "worksheet":
                yield " ".join(given.get("name", "").split()), target


def _since_1904(archive: Archive, part: str) -> bool:
    given = (g for kind, name, g in archive.events(part) if (kind, name) == ("start", "workbookPr"))
    return any(each.get("date1904") in ("1", "true") for each in given)
