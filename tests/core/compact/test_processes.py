"""A message list is compacted the same in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CASES = Path(__file__).resolve().parents[2] / "support" / "fuzz_lists.py"


def test_the_order_of_a_set_decides_nothing() -> None:
    """A1: pieces are ranked by sums, which differ in their last digit with the order of adding."""
    hashes = {
        subprocess.run(
            [sys.executable, str(CASES), "1", "2143"],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("20", "21")
    }

    assert len(hashes) == 1
