"""Writes a summary as `summary.json`, `recall.png` and `report.html`.

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
from typing import Any

from foveate.core.errors import MissingExtra
from foveate.evals.figures import Summary, summary_to_json
from foveate.evals.tables import (
    LEGEND,
    format_count,
    full_tables,
    overall_table,
    summary_lines,
    table_to_html,
)

COLOURS = ("#6b7280", "#2563eb", "#d97706", "#059669", "#9333ea", "#dc2626", "#0891b2", "#65a30d")
"""The baseline is grey; the others differ in lightness too."""
MARKERS = "osD^vP*X"
_PANELS_PER_ROW = 3


def render_png(summary: Summary) -> bytes:
    """The chart as a PNG. Raises `MissingExtra` without matplotlib."""
    try:
        from matplotlib import rc_context
    except ImportError:
        raise MissingExtra("matplotlib", "eval") from None
    file = BytesIO()
    # a dollar sign in a name begins no formula
    with rc_context({"font.size": 9, "text.parse_math": False}):
        build_chart(summary).savefig(file, format="png", dpi=150, metadata={"Software": None})
    return file.getvalue()


def build_chart(summary: Summary) -> Any:
    """The chart as a matplotlib `Figure`."""
    from matplotlib.figure import Figure

    names = [*summary.questions]
    down = ceil((len(names) + 1) / _PANELS_PER_ROW)
    figure = Figure(figsize=(10, 2.8 * down + 0.5), layout="constrained")
    panels = figure.subplots(down, _PANELS_PER_ROW, sharex=True, sharey=True, squeeze=False).ravel()
    _draw_panel(panels[0], f"mean of {len(names)} sets", summary, names)
    for panel, name in zip(panels[1:], names, strict=False):
        _draw_panel(panel, name, summary, [name])
    for panel in panels[len(names) + 1 :]:
        panel.set_visible(False)
    lowest = min(cell.mean("recall") for cell in summary.cells)
    panels[0].set_ylim(floor(lowest * 10) / 10, 1.02)  # all panels share one scale
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    figure.supxlabel(f"budget in tokens ({summary.tokenizer})")
    figure.supylabel("evidence recall")
    return figure


def _draw_panel(panel: Any, title: str, summary: Summary, names: Sequence[str]) -> None:
    """One line a recipe."""
    panel.set_title(title, fontsize=9, loc="left")
    others = (name for name in summary.recipes if name != summary.baseline)
    for i, recipe in enumerate([summary.baseline, *others]):
        panel.plot(
            range(len(summary.budgets)),
            [summary.recall(recipe, budget, names) for budget in summary.budgets],
            marker=MARKERS[i % len(MARKERS)],
            color=COLOURS[i % len(COLOURS)],
            markersize=4,
            linewidth=1.6,
            label=recipe,
        )
    panel.set_xticks(range(len(summary.budgets)), [f"{b:,}" for b in summary.budgets])
    panel.grid(axis="y", color="#e5e7eb", linewidth=0.8)
    panel.spines[["top", "right"]].set_visible(False)
    panel.tick_params(labelbottom=True, labelleft=True)


SUMMARY_FILE, RESULTS_FILE = "summary.json", "results.jsonl"
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
    (folder / SUMMARY_FILE).write_text(f"{data}\n", encoding="utf-8", newline="\n")
    picture = missing = None
    try:
        if plot:
            picture = render_png(summary)
    except MissingExtra as error:
        missing = error
    if picture is None:
        for name in (CHART_FILE, PAGE_FILE):  # one of an earlier run would tell another story
            (folder / name).unlink(missing_ok=True)
    else:
        (folder / CHART_FILE).write_bytes(picture)
        page = render_page(summary, picture)
        (folder / PAGE_FILE).write_text(page, encoding="utf-8", newline="\n")
    return missing


def format_heading(summary: Summary) -> str:
    """The evaluation in one sentence."""
    questions = summary.questions
    embedder = f", vectors of {summary.embedder}" if summary.embedder else ""
    return (
        f"foveate {summary.version}: {format_count(sum(questions.values()), 'question')} of "
        f"{format_count(len(questions), 'set')}, "
        f"{', '.join(summary.recipes)} at {', '.join(f'{b:,}' for b in summary.budgets)} tokens "
        f"of {summary.tokenizer}{embedder}; compared with {summary.baseline}."
    )


def render_page(summary: Summary, picture: bytes) -> str:
    """The sentences, the chart and all tables as one HTML page, which fetches nothing."""
    said = [*summary_lines(summary), format_heading(summary)]
    source = f"data:image/png;base64,{b64encode(picture).decode()}"
    parts = [f"<p>{escape(line)}</p>" for line in said]
    parts.append(f"<figure><img alt='Evidence recall over the budget' src='{source}'></figure>")
    parts.append(f"<p>{escape(LEGEND)}</p>")
    parts += (
        f"<h2>{escape(table.title)}</h2>\n<div class='wide'>{table_to_html(table)}</div>"
        for table in (overall_table(summary), *full_tables(summary))
    )
    body = "\n".join(parts)
    return (
        "<!doctype html>\n<html lang='en'>\n<meta charset='utf-8'>\n"
        "<meta name='viewport' content='width=device-width'>\n"
        f"<title>Evaluation</title>\n<style>{_STYLE}</style>\n<h1>Evaluation</h1>\n"
        f"{body}\n</html>\n"
    )
