"""What a lock pins; a lock that pins nothing, or holds anything else, is no lock."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PIN = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)\s*(?:;(?P<marker>[^\\]*))?")
EXTRA = re.compile(r"""\bextra\s*==\s*["']([^"']+)["']""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One package at one version; `here`: whether it is for this Python on this machine."""

    name: str
    version: str
    here: bool


@cache
def pins(lock: Path) -> tuple[Pin, ...]:
    """All of them, for other machines too, in the lock's order.

    Ends the program where there is no such file, nothing in it, or a line that is no pin: whoever
    asks about what is pinned would else be told that all is well.
    """
    if not lock.is_file():
        sys.exit(f"{lock.name}: no such lock; run: make lock")
    text = lock.read_text(encoding="utf-8").replace("\\\n", " ")
    found = []
    for line in text.splitlines():
        words = line.partition("#")[0].partition("--hash")[0].strip()
        if not words:
            continue
        pin = PIN.fullmatch(words)
        if pin is None:
            sys.exit(f"{lock.name}: {words!r} is no pin; run: make lock")
        marker = (pin["marker"] or "").strip()
        here = not marker or Marker(marker).evaluate()
        name = canonicalize_name(pin["name"])
        found.append(Pin(name=name, version=pin["version"], here=here))
    if not found:
        sys.exit(f"{lock.name}: nothing is pinned; run: make lock")
    return tuple(found)


def extras_of(requirement: Requirement) -> set[str]:
    """The extras of which one must be asked for, for this to be required; empty where none."""
    return {canonicalize_name(one) for one in EXTRA.findall(str(requirement.marker or ""))}
