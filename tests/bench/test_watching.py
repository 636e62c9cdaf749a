"""The benchmark of watching: it runs, and its counts say what watching costs."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from source_tree import ROOT


def test_counts_of_work_say_what_watching_costs():
    """F7: of the same assembly, none costs least, and each watcher its own calls on top."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.bench_watching", "--rounds", "2", "--size", "6"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )

    rows = re.findall(r"^(\S.*?)\s{2,}[\d.]+ +([\d.]+) .* ([\d,]+)$", done.stdout, re.MULTILINE)
    ratio = {name: float(figure) for name, figure, _ in rows}
    calls = {name: int(count.replace(",", "")) for name, _, count in rows}
    assert ratio["none"] == 1
    least, *_, most = sorted(calls, key=calls.__getitem__)
    assert (least, most) == ("none", "metrics and OpenTelemetry")
    assert calls["none"] < calls["metrics"] < calls["metrics and OpenTelemetry"]
    assert "around a request, log line included:" in done.stdout
