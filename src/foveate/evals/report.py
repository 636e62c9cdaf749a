"""A summary as files in a folder: `summary.json`, `report.md`, `recall.png`, `report.html`.

The page carries its chart and its style and asks nobody for anything. Without matplotlib there is
no chart and no page, and the rest is written.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

from foveate.core.errors import MissingExtra
from foveate.evals.figures import Summary
from foveate.evals.plot import render_png, render_svg
from foveate.evals.table import literal, table_to_html, table_to_markdown
from foveate.evals.tables import LEGEND, summary_tables
from foveate.evals.wire import summary_to_json

SUMMARY_FILE, REPORT_FILE, CHART_FILE, PAGE_FILE, RESULTS_FILE = (
    "summary.json",
    "report.md",
    "recall.png",
    "report.html",
    "results.jsonl",
)
ANSWERS_FILE = "answers.jsonl"
"""Of a model that was asked: what it said, so that it is not asked again."""

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem;
       color: #111827; background: #fff }
svg { max-width: 100%; height: auto }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px }
th, td { padding: .25rem .6rem; text-align: left; white-space: nowrap }
th { border-bottom: 1px solid #111827 } td { border-bottom: 1px solid #e5e7eb }
"""


def write_report(summary: Summary, folder: Path, *, plot: bool = True) -> MissingExtra | None:
    """Write the files; gives the reason why there is no chart, where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    data = json.dumps(summary_to_json(summary), ensure_ascii=False, allow_nan=False)
    _write_text(folder / SUMMARY_FILE, f"{data}\n")
    picture = drawing = missing = None
    try:
        if plot:
            picture, drawing = render_png(summary), render_svg(summary)
    except MissingExtra as error:
        missing = error
    _write_text(folder / REPORT_FILE, render_report(summary, chart=CHART_FILE if picture else ""))
    if picture is None or drawing is None:
        for name in (CHART_FILE, PAGE_FILE):  # one of an earlier run would tell another story
            (folder / name).unlink(missing_ok=True)
    else:
        (folder / CHART_FILE).write_bytes(picture)
        _write_text(folder / PAGE_FILE, render_page(summary, drawing))
    return missing


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def format_heading(summary: Summary) -> str:
    """What was evaluated, in a sentence."""
    questions = sum(len(ids) for ids in summary.ids.values())
    embedder = f", vectors of {summary.embedder}" if summary.embedder else ""
    return (
        f"foveate {summary.version}: {questions:,} questions of {len(summary.ids)} sets, "
        f"{', '.join(summary.recipes)} at {', '.join(f'{b:,}' for b in summary.budgets)} tokens "
        f"of {summary.tokenizer}{embedder}; compared with {summary.baseline}."
    )


def render_report(summary: Summary, *, chart: str = "") -> str:
    """The tables in Markdown, after the chart where there is one."""
    parts = ["# Evaluation", literal(format_heading(summary))]
    if chart:
        parts.append(f"![Evidence recall over the budget]({chart})")
    for i, table in enumerate(summary_tables(summary)):
        parts += [f"## {literal(table.title)}", table_to_markdown(table)]
        if i == 0:
            parts.append(LEGEND)
    return "\n\n".join(parts) + "\n"


def render_page(summary: Summary, drawing: str) -> str:
    """The same as one HTML page."""
    parts = [f"<p>{escape(format_heading(summary))}</p>", f"<figure>{drawing}</figure>"]
    for i, table in enumerate(summary_tables(summary)):
        parts.append(
            f"<h2>{escape(table.title)}</h2>\n<div class='wide'>{table_to_html(table)}</div>"
        )
        if i == 0:
            parts.append(f"<p>{escape(LEGEND)}</p>")
    body = "\n".join(parts)
    return (
        "<!doctype html>\n<html lang='en'>\n<meta charset='utf-8'>\n"
        "<meta name='viewport' content='width=device-width'>\n"
        f"<title>Evaluation</title>\n<style>{_STYLE}</style>\n<h1>Evaluation</h1>\n"
        f"{body}\n</html>\n"
    )
