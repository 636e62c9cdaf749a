"""Puts an evaluation's tables and chart into docs/evaluation.md, between its marks.

    foveate eval --dataset F... --out build/eval
    foveate eval --dataset F... --scores given,oracle,noisy:0.6 --out build/scores
    python tools/evaluation.py build/eval "foveate eval --dataset F..." build/scores

The text in quotes is the command that is shown beside the figures. The table by scores comes from
the second folder, if there is one. The figures over the sets on which no weight was fitted lead.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from foveate.evals.measures import Measures
from foveate.evals.report import CHART_FILE, RESULTS_FILE, SUMMARY_FILE, format_heading
from foveate.evals.rows import Row
from foveate.evals.summary import summarise
from foveate.evals.tables import (
    LEGEND,
    Table,
    literal,
    missed_table,
    overall_table,
    reachable_table,
    scores_table,
    summary_lines,
    table_to_markdown,
)

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "evaluation.md"
CHART = Path("figures") / "evidence-recall.png"
BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"


HELD_OUT = (
    *("clapnq", "code_libafl", "evinf", "fetaqa"),
    *("jaquad", "mtragun", "qmsum", "tatqa"),
)
"""The sets on which no weight was fitted."""
SUMMARY_FIELDS = ("version", "tokenizer", "embedder", "baseline")
"""What `summary.json` says of a run beside its figures."""


def body(folder: Path, command: str, scores: Path | None = None) -> str:
    """The figures of an evaluation as a part of the page."""
    rows, about = [*_rows(folder)], _about(folder)
    summary = summarise(rows, **about)
    parts = [f"Made by `{command}`.", *map(literal, summary_lines(summary))]
    parts.append(literal(format_heading(summary)))
    if (folder / CHART_FILE).is_file():
        parts.append(f"![Evidence recall over the budget]({CHART.as_posix()})")
    parts += held_out(rows, about)
    if scores is not None:
        parts += _shown(scores_table(summarise([*_rows(scores)], **_about(scores))))
    parts += [*_shown(overall_table(summary)), LEGEND]
    for table in (missed_table(summary), reachable_table(summary)):
        parts += _shown(table)
    parts.append("`foveate eval --full` prints the tables of each set.")
    return "\n\n".join(parts)


def held_out(rows: list[Row], about: dict[str, Any]) -> Iterator[str]:
    """The figures over the sets on which no weight was fitted; nothing without them."""
    names = sorted({row.dataset for row in rows} & {*HELD_OUT})
    if names:
        own = summarise([row for row in rows if row.dataset in names], **about)
        yield f"### Over the sets on which no weight was fitted: {', '.join(names)}"
        for table in (missed_table(own), reachable_table(own), overall_table(own)):
            yield table_to_markdown(table)


def _shown(table: Table) -> tuple[str, str]:
    return f"### {literal(table.title)}", table_to_markdown(table)


def _rows(folder: Path) -> Iterator[Row]:
    """The rows of an evaluation, as `write_rows` wrote them."""
    for line in (folder / RESULTS_FILE).read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        measures = {field.name: record.pop(field.name) for field in fields(Measures)}
        yield Row(measures=measures, **record)


def _about(folder: Path) -> dict[str, Any]:
    record = json.loads((folder / SUMMARY_FILE).read_text(encoding="utf-8"))
    return {name: record[name] for name in SUMMARY_FIELDS}


def placed(page: str, text: str) -> str:
    """The page with the text between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Rewrite the page; 2 if the arguments are not folders and a command."""
    folders = [Path(name) for name in arguments[::2]]
    if len(arguments) not in (2, 3) or not all((f / SUMMARY_FILE).is_file() for f in folders):
        print("give the folder of an evaluation and the command that made it", file=sys.stderr)
        return 2
    folder, command, scores = folders[0], arguments[1], folders[1] if folders[1:] else None
    if (folder / CHART_FILE).is_file():
        (DOCS / CHART).parent.mkdir(exist_ok=True)
        shutil.copyfile(folder / CHART_FILE, DOCS / CHART)
    page = placed(PAGE.read_text(encoding="utf-8"), body(folder, command, scores))
    PAGE.write_text(page, encoding="utf-8", newline="\n")
    print(f"wrote {PAGE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
