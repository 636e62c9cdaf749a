"""How much memory a script takes at the most, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src"
PRINT_PEAK = """
try:  # what `getrusage` says of a process began in its parent
    lines = open("/proc/self/status").read().splitlines()
    print(next(int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM")))
except OSError:
    import resource
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
"""


def peak_mib(script: str, *words: object) -> int:
    """MiB at the most of a Python script with these words in `sys.argv`."""
    ran = subprocess.run(
        [sys.executable, "-c", script + PRINT_PEAK, *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        capture_output=True,
        check=True,
        timeout=600,
    )
    return int(ran.stdout)
