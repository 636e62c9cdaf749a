"""How often a test repeats itself: briefly in every run, and as often as promised with FULL=1."""

from __future__ import annotations

import os


def count(brief: int, full: int) -> int:
    """The number of repetitions of this run."""
    return full if os.environ.get("FULL") else brief
