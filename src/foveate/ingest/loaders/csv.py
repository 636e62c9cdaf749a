"""CSV and TSV: a record a row. The standard library reads it and finds out the separator."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from foveate.core.errors import BadInput
from foveate.ingest.loaders.blocks import Blocks
from foveate.ingest.loaders.decode import decode
from foveate.ingest.loaders.limits import DEFAULT_LIMITS, Limits
from foveate.ingest.loaders.records import Records
from foveate.ports import LoadedDocument

_SAMPLE = 4096  # the sniffer's patterns are not linear
_SEPARATORS = ",;\t|"


def load_csv(data: bytes, path: Path, *, limits: Limits = DEFAULT_LIMITS) -> tuple[LoadedDocument]:
    r"""The file as one document; rows are counted from 1, the one with the names included.

    >>> loaded = load_csv(b"part;price\nvalve;3,20\n", Path("prices.csv"))[0]
    >>> loaded.text, loaded.sections[0].row
    ('part: valve; price: 3,20', 2)
    """
    text = decode(data)
    blocks = Blocks(limits)
    records = Records(limits, blocks)
    reader = csv.reader(io.StringIO(text, newline=""), _detect_dialect(text, path))
    try:
        for row, cells in enumerate(reader, 1):
            records.add_row(row, dict(enumerate(cells)))
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


def _detect_dialect(text: str, path: Path) -> type[csv.Dialect]:
    """The dialect of the first rows; that of the suffix if they do not show it, or are of it.

    The sniffer takes a comma at the end of each row for the separator of a file with tabs.
    """
    sample = text[:_SAMPLE]
    whole = sample if len(text) <= _SAMPLE else sample.rpartition("\n")[0] or sample
    usual = csv.excel_tab if path.suffix.lower() == ".tsv" else csv.excel
    if usual is csv.excel_tab and "\t" in whole.partition("\n")[0]:
        return usual
    try:
        found = csv.Sniffer().sniff(whole, delimiters=_SEPARATORS)
    except csv.Error:
        return usual
    found.doublequote = True  # what the sniffer looks for is rarely in the first rows
    return found
