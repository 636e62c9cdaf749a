"""Puts an evaluation's tables and chart into docs/evaluation.md, between its marks.

    foveate eval --dataset F... --out build/eval
    foveate eval --dataset F... --scores given,oracle,noisy:0.6 --out build/scores
    python tools/evaluation.py build/eval "foveate eval --dataset F..." build/scores

The text in quotes is the command that is shown beside the figures. The table by scores comes from
the second folder, if there is one. The figures over the sets on which no weight was fitted lead.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from foveate.evals.measures import Measures
from foveate.evals.report import REPORT_FILE, RESULTS_FILE
from foveate.evals.rows import Row
from foveate.evals.summary import summarise
from foveate.evals.tables import context_table, overall_table, reachable_tables, table_to_markdown

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "evaluation.md"
CHART = Path("figures") / "evidence-recall.png"
BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"


HELD_OUT = (
    *("clapnq", "code_libafl", "evinf", "fetaqa"),
    *("jaquad", "mtragun", "qmsum", "tatqa"),
)
"""The sets on which no weight was fitted."""
_SCORES = re.compile(r"^## Evidence missed, by the scores.*?(?=^## )", re.MULTILINE | re.DOTALL)


def body(folder: Path, command: str, scores: Path | None = None) -> str:
    """The report as a part of the page: headings one level down, the chart where docs keep it."""
    report = _read(folder)
    _, _, rest = report.partition("\n\n")
    heading, _, tables = rest.partition("\n\n## ")
    by_scores = _SCORES.search(_read(scores)) if scores is not None else None
    parts = [heading, held_out(folder), by_scores[0].strip() if by_scores else "", f"## {tables}"]
    text = "\n\n".join(part for part in parts if part)
    text = re.sub(r"^##", "###", text, flags=re.MULTILINE)
    text = text.replace("(recall.png)", f"({CHART.as_posix()})").strip()
    return f"Made by `{command}`.\n\n{text}"


def held_out(folder: Path) -> str:
    """The overall table over the sets on which no weight was fitted; empty without them."""
    rows = [row for row in _rows(folder / RESULTS_FILE) if row.dataset in HELD_OUT]
    if not rows:
        return ""
    summary = summarise(rows)
    names = ", ".join(sorted({row.dataset for row in rows}))
    parts = [f"## Over the sets on which no weight was fitted: {names}"]
    parts += map(
        table_to_markdown,
        (overall_table(summary), *reachable_tables(summary), context_table(summary)),
    )
    return "\n\n".join(parts)


def _rows(path: Path) -> Iterator[Row]:
    """The rows of an evaluation, as `write_rows` wrote them; none without the file."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    for line in text.splitlines():
        record = json.loads(line)
        measures = {field.name: record.pop(field.name) for field in fields(Measures)}
        yield Row(measures=measures, **record)


def _read(folder: Path) -> str:
    return (folder / REPORT_FILE).read_text(encoding="utf-8")


def placed(page: str, text: str) -> str:
    """The page with the text between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Rewrite the page; 2 if the arguments are not folders and a command."""
    folders = [Path(name) for name in arguments[::2]]
    if len(arguments) not in (2, 3) or not all((f / REPORT_FILE).is_file() for f in folders):
        print("give the folder of an evaluation and the command that made it", file=sys.stderr)
        return 2
    folder, command, scores = folders[0], arguments[1], folders[1] if folders[1:] else None
    if (folder / "recall.png").is_file():
        (DOCS / CHART).parent.mkdir(exist_ok=True)
        shutil.copyfile(folder / "recall.png", DOCS / CHART)
    page = placed(PAGE.read_text(encoding="utf-8"), body(folder, command, scores))
    PAGE.write_text(page, encoding="utf-8", newline="\n")
    print(f"wrote {PAGE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
