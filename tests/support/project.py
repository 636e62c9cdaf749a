"""The project's own metadata and locks."""

from __future__ import annotations

import re
import tomllib

from source_tree import ROOT

DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, GROUPS = DECLARED["project"], DECLARED["dependency-groups"]


def pinned_versions(lock: str) -> dict[str, set[str]]:
    """Name → the pinned versions (one a Python version, where they differ)."""
    pins: dict[str, set[str]] = {}
    for line in (ROOT / "requirements" / f"{lock}.lock").read_text(encoding="utf-8").splitlines():
        found = re.match(r"([a-z0-9.-]+)==([^ ;\\]+)", line)
        if found:
            pins.setdefault(found[1], set()).add(found[2])
    return pins
