"""CSV and TSV: a record a row."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

from foveate.core.errors import BadInput
from foveate.ingest.loaders.blocks import Blocks
from foveate.ingest.loaders.decode import decode
from foveate.ingest.loaders.limits import DEFAULT_LIMITS, Limits
from foveate.ingest.loaders.records import Records
from foveate.ingest.loaders.table_heads import contrast, is_figure
from foveate.ports import LoadedDocument

_SAMPLE = 4096
_SEPARATORS = "\t;|,"
"""Of two that part as many rows alike, the first: cells have commas more often than tabs."""
_SAID = re.compile(r'"?sep=([^"\r\n])"?\r?\n', re.IGNORECASE)


def load_csv(data: bytes, path: Path, *, limits: Limits = DEFAULT_LIMITS) -> tuple[LoadedDocument]:
    r"""The file as one document; rows are counted from 1, the one with the names included.

    >>> loaded = load_csv(b"part;price\nvalve;3,20\n", Path("prices.csv"))[0]
    >>> loaded.text, loaded.sections[0].row
    ('part: valve; price: 3,20', 2)
    """
    text = decode(data)
    said = _SAID.match(text)
    text, separator = (text[said.end() :], said[1]) if said else (text, "")
    blocks = Blocks(limits)
    records = Records(limits, blocks)
    form = _form(text, path, separator)
    reader = csv.reader(io.StringIO(text, newline=""), **form)
    comments = _comments(text, form)
    try:
        for row, cells in enumerate(reader, 1):
            shown = [comments[row - 1]] if row <= len(comments) else cells
            records.add_row(row, dict(enumerate(shown)))
    except csv.Error as error:
        raise BadInput(f"row {reader.line_num}: {error}") from None
    records.end_sheet()
    return (
        LoadedDocument(
            text=blocks.text(),
            title=path.stem,
            sections=records.sections,
            lines=False,
        ),
    )


def _form(text: str, path: Path, separator: str) -> dict[str, Any]:
    """How cells are parted and quoted, by the first rows: in one way, most of these are as wide."""
    whole = text[:_SAMPLE] if len(text) <= _SAMPLE else text[:_SAMPLE].rpartition("\n")[0]
    lines = [line for line in (whole or text[:_SAMPLE]).splitlines(keepends=True) if line.strip()]
    plain = [line for line in lines if not line.startswith("#")] or lines
    quote = "'" if all(line.strip()[:1] == line.strip()[-1:] == "'" for line in plain) else '"'
    best, most = "\t" if path.suffix.lower() == ".tsv" else ",", 0
    for each in separator or _SEPARATORS:
        rows = csv.reader(plain, delimiter=each, quotechar=quote, skipinitialspace=True)
        try:
            widths = Counter(len(cells) for cells in rows)
        except csv.Error:
            continue
        count = max((count for width, count in widths.items() if width > 1), default=0)
        best, most = (each, count) if count > most else (best, most)
    return {"delimiter": separator or best, "quotechar": quote, "skipinitialspace": True}


def _comments(text: str, form: Mapping[str, Any]) -> list[str]:
    """The first lines that begin with `#`, unless the last of them has the names of columns."""
    lines = text[:_SAMPLE].splitlines()
    found = [*takewhile(lambda line: line.startswith("#"), lines)]
    below = [*csv.reader(lines[len(found) : len(found) + 2], **form)]
    for last in csv.reader(found[-1:], **form):
        head, *others = [dict(enumerate(cells)) for cells in below] or [{}]
        is_read = len(last) == len(head) > 1 and not (others and contrast(head, others[0]))
        if is_read and (any(map(is_figure, head.values())) or not last[0][1:2].isspace()):
            return found[:-1]
    return found
