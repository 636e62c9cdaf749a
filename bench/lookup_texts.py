"""Records with identifiers, written down in eleven forms: what the look-up measure asks about.

Everything is made from a seed. A text knows its records and its header as they stand in it, so that
a context can be held against them byte for byte.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

Record = Mapping[str, object]

STATES = ("paid", "open", "shipped", "returned", "on hold", "refused")
TOWNS = ("Leiden", "Ghent", "Lille", "Bern", "Graz", "Turku", "Porto", "Cork")
PARTS = ("gasket", "inlet valve", "pump housing", "drain tap", "pressure gauge", "float switch")
NOTES = (
    "call before delivery, the gate is locked",
    'the label says "spare", which is wrong',
    "second attempt; the first parcel came back",
    "none",
    "paid by the insurer, see the file",
)
KINDS = ("order", "payment", "host")
COLUMNS = ("id", "state", "total", "town", "part", "day", "note")
PROSE = tuple(
    """
Orders are packed in the morning and collected at noon. The state of an order is changed by the \
person who packs it, and by nobody else.
A payment is final when the bank has confirmed it. Until then its state is open, whatever the \
customer has been told on the telephone.
Every host in the hall has an address and a rack. Hosts are restarted on Sundays, one rack after \
another, and the log is kept for a month.
""".strip().splitlines()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordText:
    """A text of records. `records` and `header` are verbatim parts of `text`; a header may be ''.

    `ids`: the identifier of each record; `asked`: a question about the record `target`.
    """

    form: str
    text: str
    header: str
    records: tuple[str, ...]
    ids: tuple[str, ...]
    target: int
    asked: str


def make_records(count: int, random: Random) -> list[Record]:
    """So many records with distinct identifiers of one kind."""
    kind = random.choice(KINDS)
    numbers = random.sample(range(1_000, 9_999), count)
    return [
        {
            "id": _identifier(kind, number),
            "state": random.choice(STATES),
            "total": random.randint(100, 99_999) / 100,
            "town": random.choice(TOWNS),
            "part": random.choice(PARTS),
            "day": f"2024-0{random.randint(1, 9)}-{random.randint(10, 28)}",
            "note": random.choice(NOTES),
        }
        for number in numbers
    ]


def _identifier(kind: str, n: int) -> str:
    if kind == "order":
        return f"ORD-{n}"
    if kind == "payment":
        return f"tx_{n:x}f{n % 10}a"
    return f"10.{n // 1_000}.{n // 100 % 10}.{n % 100}"


def make_text(form: str, count: int, seed: int) -> RecordText:
    """A text of so many records in this form, and a question about one of them."""
    random = Random(f"{form} {count} {seed}")  # noqa: S311
    records = make_records(count, random)
    header, written, text = FORMS[form](records)
    target = random.randrange(count)
    ids = tuple(str(record["id"]) for record in records)
    asked = random.choice(
        (
            "What is the state of {}?",
            "When was {} entered, and for which town?",
            "Show me {}.",
            "Which note is there on {}, and what was the total?",
        )
    ).format(ids[target])
    found = RecordText(
        form=form,
        text=text,
        header=header,
        records=tuple(written),
        ids=ids,
        target=target,
        asked=asked,
    )
    assert all(own in text for own in (header, *written))
    return found


Written = tuple[str, Sequence[str], str]
"""The header, each record as it stands in the text, and the text."""


def one_line_json(records: Sequence[Record]) -> Written:
    """An array under a key, without a line break."""
    written = [json.dumps(record) for record in records]
    return '"items": [', written, f'{{"page": 1, "items": [{", ".join(written)}], "next": null}}'


def indented_json(records: Sequence[Record]) -> Written:
    """The same with two spaces of indent."""
    text = json.dumps({"page": 1, "items": list(records), "next": None}, indent=2)
    written = [json.dumps(record, indent=2).replace("\n", "\n    ").strip() for record in records]
    return '"items": [', written, text


def json_lines(records: Sequence[Record]) -> Written:
    """An object a line."""
    written = [json.dumps(record) for record in records]
    return "", written, "\n".join(written) + "\n"


def _delimited(records: Sequence[Record], delimiter: str) -> Written:
    rows = []
    for cells in (COLUMNS, *([record[name] for name in COLUMNS] for record in records)):
        out = io.StringIO()
        csv.writer(out, delimiter=delimiter, lineterminator="").writerow(cells)
        rows.append(out.getvalue())
    return rows[0], rows[1:], "\n".join(rows) + "\n"


def comma_separated(records: Sequence[Record]) -> Written:
    """CSV with a header; some cells are quoted."""
    return _delimited(records, ",")


def tab_separated(records: Sequence[Record]) -> Written:
    """TSV with a header."""
    return _delimited(records, "\t")


def html_table(records: Sequence[Record]) -> Written:
    """A table with `th` cells in its first row."""

    def row(cells: Sequence[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"

    header = row(COLUMNS, "th")
    written = [row([record[name] for name in COLUMNS], "td") for record in records]
    return header, written, "<table>\n" + "\n".join((header, *written)) + "\n</table>\n"


def markdown_table(records: Sequence[Record]) -> Written:
    """A table of pipes."""
    header = f"| {' | '.join(COLUMNS)} |"
    written = [f"| {' | '.join(str(record[name]) for name in COLUMNS)} |" for record in records]
    return header, written, "\n".join((header, "|---" * len(COLUMNS) + "|", *written)) + "\n"


def log_lines(records: Sequence[Record]) -> Written:
    """A line with a time and a level for each record."""
    written = [
        f"{record['day']}T0{n // 3_600}:{n // 60 % 60:02}:{n % 60:02}Z INFO desk {record['id']} "
        f"is {record['state']}, {record['total']} EUR, {record['town']}: {record['note']}"
        for n, record in enumerate(records)
    ]
    return "", written, "\n".join(written) + "\n"


def indented_text(records: Sequence[Record]) -> Written:
    """YAML: a list of mappings under a key."""
    written = [
        "- " + "\n  ".join(f"{name}: {record[name]}" for name in COLUMNS) for record in records
    ]
    inner = "\n".join(written).replace("\n", "\n  ")
    return "items:", [own.replace("\n", "\n  ") for own in written], f"page: 1\nitems:\n  {inner}\n"


def elements(records: Sequence[Record]) -> Written:
    """XML: an element for each record, in a list."""
    written = [
        f'<item id="{record["id"]}">'
        + "".join(f"<{name}>{record[name]}</{name}>" for name in COLUMNS[1:])
        + "</item>"
        for record in records
    ]
    inner = "\n".join(written)
    return "<items>", written, f"<page>1</page>\n<items>\n{inner}\n</items>\n"


def source_code(records: Sequence[Record]) -> Written:
    """Python: a class with a method for each record."""
    written = []
    for record in records:
        name = "".join(letter if letter.isalnum() else "_" for letter in str(record["id"]))
        written.append(
            f"    def settle_{name.lower()}(self):\n"
            f"        # {record['id']}: {record['note']}\n"
            f"        if self.state == {str(record['state'])!r}:\n"
            f"            return self.pay({record['total']}, town={str(record['town'])!r})\n"
            f"        return None"
        )
    header = "class Ledger:"
    return header, written, f"import desk\n\n\n{header}\n\n" + "\n\n".join(written) + "\n"


FORMS: Mapping[str, Callable[[Sequence[Record]], Written]] = {
    "JSON, one line": one_line_json,
    "JSON, indented": indented_json,
    "JSON Lines": json_lines,
    "CSV": comma_separated,
    "TSV": tab_separated,
    "HTML table": html_table,
    "Markdown table": markdown_table,
    "log": log_lines,
    "YAML": indented_text,
    "XML": elements,
    "code": source_code,
}
