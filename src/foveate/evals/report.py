"""Writes a summary as `summary.json`, `report.md`, `recall.png` and `report.html`.

The page includes its chart and style and loads nothing. Without matplotlib (extra `eval`) there is
no chart and no page. The same figures give the same bytes.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from io import BytesIO
from math import ceil, floor
from pathlib import Path
from statistics import fmean
from typing import Any

from foveate.core.errors import MissingExtra
from foveate.evals.figures import Summary, summary_to_json
from foveate.evals.tables import (
    LEGEND,
    format_count,
    literal,
    summary_lines,
    summary_tables,
    table_to_html,
    table_to_markdown,
)

COLOURS = ("#6b7280", "#2563eb", "#d97706", "#059669", "#9333ea", "#dc2626", "#0891b2", "#65a30d")
"""The baseline is grey; the others differ in lightness too."""
MARKERS = "osD^vP*X"
_PANELS_PER_ROW = 3


def require_matplotlib() -> None:
    """Raise `MissingExtra` if charts cannot be drawn."""
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", "eval")


def render_png(summary: Summary) -> bytes:
    """The chart as a PNG."""
    require_matplotlib()
    from matplotlib import rc_context

    file = BytesIO()
    with rc_context({"font.size": 9}):
        build_chart(summary).savefig(file, format="png", dpi=150, metadata={"Software": None})
    return file.getvalue()


def build_chart(summary: Summary) -> Any:
    """The chart as a matplotlib `Figure`."""
    from matplotlib import rc_context

    with rc_context({"text.parse_math": False}):  # a dollar sign in a name begins no formula
        return _chart(summary)


def _chart(summary: Summary) -> Any:
    from matplotlib.figure import Figure

    names = list(summary.datasets)
    down = ceil((len(names) + 1) / _PANELS_PER_ROW)
    figure = Figure(figsize=(10, 2.8 * down + 0.5), layout="constrained")
    panels = figure.subplots(down, _PANELS_PER_ROW, sharex=True, sharey=True, squeeze=False).ravel()
    _draw_panel(panels[0], f"mean of {len(names)} sets", summary, names)
    for panel, name in zip(panels[1:], names, strict=False):
        pool = next((p.mean("recall") for p in summary.pools if p.dataset == name), None)
        _draw_panel(panel, name, summary, [name], ceiling=pool)
    for panel in panels[len(names) + 1 :]:
        panel.set_visible(False)
    lowest = min(cell.mean("recall") for cell in summary.cells)
    panels[0].set_ylim(floor(lowest * 10) / 10, 1.02)  # all panels share one scale
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    figure.supxlabel(f"budget in tokens ({summary.tokenizer})")
    figure.supylabel("evidence recall")
    return figure


def _draw_panel(
    panel: Any,
    title: str,
    summary: Summary,
    names: Sequence[str],
    *,
    ceiling: float | None = None,
) -> None:
    """One line a recipe; the dashed line is the recall of all candidates."""
    panel.set_title(title, fontsize=9, loc="left")
    others = (name for name in summary.recipes if name != summary.baseline)
    for i, recipe in enumerate([summary.baseline, *others]):
        panel.plot(
            range(len(summary.budgets)),
            [
                fmean(fmean(summary.recalls[name][recipe][budget]) for name in names)
                for budget in summary.budgets
            ],
            marker=MARKERS[i % len(MARKERS)],
            color=COLOURS[i % len(COLOURS)],
            markersize=4,
            linewidth=1.6,
            label=recipe,
        )
    if ceiling is not None:
        panel.axhline(ceiling, color="#9ca3af", linestyle="--", linewidth=0.8)
    panel.set_xticks(range(len(summary.budgets)), [f"{b:,}" for b in summary.budgets])
    panel.grid(axis="y", color="#e5e7eb", linewidth=0.8)
    panel.spines[["top", "right"]].set_visible(False)
    panel.tick_params(labelbottom=True, labelleft=True)


SUMMARY_FILE, REPORT_FILE, RESULTS_FILE = "summary.json", "report.md", "results.jsonl"
CHART_FILE, PAGE_FILE = "recall.png", "report.html"
ANSWERS_FILE = "answers.jsonl"
"""Of a model that was asked: what it said, so that it is not asked again."""

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem;
       color: #111827; background: #fff }
img { max-width: 100%; height: auto }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px }
th, td { padding: .25rem .6rem; text-align: left; white-space: nowrap }
th { border-bottom: 1px solid #111827 } td { border-bottom: 1px solid #e5e7eb }
"""


def write_report(summary: Summary, folder: Path, *, plot: bool = True) -> MissingExtra | None:
    """Write the files; the reason why there is no chart, if so."""
    folder.mkdir(parents=True, exist_ok=True)
    data = json.dumps(summary_to_json(summary), ensure_ascii=False, allow_nan=False)
    _write_text(folder / SUMMARY_FILE, f"{data}\n")
    picture = missing = None
    try:
        if plot:
            picture = render_png(summary)
    except MissingExtra as error:
        missing = error
    _write_text(folder / REPORT_FILE, render_report(summary, chart=CHART_FILE if picture else ""))
    if picture is None:
        for name in (CHART_FILE, PAGE_FILE):  # one of an earlier run would tell another story
            (folder / name).unlink(missing_ok=True)
    else:
        (folder / CHART_FILE).write_bytes(picture)
        _write_text(folder / PAGE_FILE, render_page(summary, picture))
    return missing


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def format_heading(summary: Summary) -> str:
    """The evaluation in one sentence."""
    questions = sum(len(ids) for ids in summary.ids.values())
    embedder = f", vectors of {summary.embedder}" if summary.embedder else ""
    return (
        f"foveate {summary.version}: {format_count(questions, 'question')} of "
        f"{format_count(len(summary.ids), 'set')}, "
        f"{', '.join(summary.recipes)} at {', '.join(f'{b:,}' for b in summary.budgets)} tokens "
        f"of {summary.tokenizer}{embedder}; compared with {summary.baseline}."
    )


def render_report(summary: Summary, *, chart: str = "") -> str:
    """The chart, if there is one, and the tables in Markdown."""
    said = [*summary_lines(summary), format_heading(summary)]
    parts = ["# Evaluation", *map(literal, said)]
    if chart:
        parts.append(f"![Evidence recall over the budget]({chart})")
    for i, table in enumerate(summary_tables(summary)):
        parts += [f"## {literal(table.title)}", table_to_markdown(table)]
        if i == 0:
            parts.append(LEGEND)
    return "\n\n".join(parts) + "\n"


def render_page(summary: Summary, picture: bytes) -> str:
    """The same as one HTML page, which has the chart in it and fetches nothing."""
    said = [*summary_lines(summary), format_heading(summary)]
    source = f"data:image/png;base64,{b64encode(picture).decode()}"
    parts = [f"<p>{escape(line)}</p>" for line in said]
    parts.append(f"<figure><img alt='Evidence recall over the budget' src='{source}'></figure>")
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
