"""What `foveate store` prints: figures, findings, sizes. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foveate.cli.layout import format_columns, wrap_words

if TYPE_CHECKING:
    from foveate.stores.report import Report, Stats


def stats_lines(found: Stats, width: int) -> list[str]:
    """One figure a line, sizes by part at the end."""
    pairs = [
        ("documents", f"{found.documents:,}"),
        ("chunks", f"{found.chunks:,}"),
        ("vectors", f"{found.vectors:,}"),
        ("embedder", f"{found.embedder} ({found.dimensions})" if found.embedder else "none"),
        ("schema", f"{found.schema}"),
        ("state root", found.state_root),
    ]
    lines = format_columns(pairs, width, indent="")
    if found.bytes:
        total = sum(found.bytes.values())
        parts = [(name.replace("_", " "), format_bytes(size)) for name, size in found.bytes.items()]
        lines += [f"on disk: {format_bytes(total)}", *format_columns(parts, width)]
    return lines


def report_lines(report: Report, width: int) -> list[str]:
    """A line a finding, and what was looked at."""
    lines = list[str]()
    for finding in report.findings:
        lines += wrap_words(f"{finding.part}: {finding.what}", width, rest="  ")
    looked = f"{report.documents:,} documents, {report.chunks:,} chunks"
    if not report.findings:
        return [f"whole: {looked}, state root {report.state_root}"]
    many = "1 finding" if len(report.findings) == 1 else f"{len(report.findings)} findings"
    return [*lines, f"not whole: {many} in {looked}"]


def format_bytes(size: int) -> str:
    """A size for people.

    >>> format_bytes(999), format_bytes(1_500_000)
    ('999 B', '1.5 MB')
    """
    amount, units = float(size), ["B", "kB", "MB", "GB"]
    while amount >= 1000 and len(units) > 1:
        amount /= 1000
        del units[0]
    return f"{amount:.0f} B" if units[0] == "B" else f"{amount:.1f} {units[0]}"
