"""The licence of every package that foveate or one of its extras brings, and whether it may.

    python -m tools.licences                print the list, as a Markdown table
    python -m tools.licences --out FILE     write it

Read from the metadata of what is installed here, without a network: run it where all the extras
are, as in the environment of `make`. The default install takes permissive licences alone; an extra,
which one chooses, may also bring weak copyleft. A licence that is not named below, or that nobody
can tell, fails: read it, then add it, or leave the package out.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from license_expression import ExpressionError, LicenseExpression, get_spdx_licensing
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DEFAULT = "(default)"
SPDX = get_spdx_licensing()

PERMISSIVE = frozenset({
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC"),
    *("MIT", "MIT-0", "MIT-CMU", "PSF-2.0", "Zlib"),
})  # fmt: skip
# Used as they are published, imported, never changed or copied.
WEAK = frozenset({"LGPL-3.0-only", "MPL-2.0"})

# What packages wrote before there were expressions, and what is meant.
SPOKEN = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "ISC License": "ISC",
    "MIT License": "MIT",
    "PSFL": "PSF-2.0",
}
CLASSIFIED = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
# Where the metadata is no expression: read in the package, and why it is so.
READ = {
    # "BSD-3-Clause, Apache-2.0, dependency licenses": its own code and the library inside
    "pypdfium2": "BSD-3-Clause AND Apache-2.0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One installed package; `extras`: what brings it, `(default)` for the small install."""

    name: str
    version: str
    licence: str
    extras: tuple[str, ...]

    @property
    def allowed(self) -> bool:
        """Whether it may be there."""
        return is_allowed(self.licence, PERMISSIVE if DEFAULT in self.extras else PERMISSIVE | WEAK)


def is_allowed(expression: str, allowed: Iterable[str]) -> bool:
    """Whether one of the choices that a licence gives is allowed whole."""
    parsed = known(expression)
    return parsed is not None and _holds(parsed, frozenset(allowed))


def known(expression: str) -> LicenseExpression | None:
    """The expression as a tree; nothing where it is none, or names what is no licence."""
    try:
        return SPDX.parse(expression, validate=True)
    except ExpressionError:
        return None


def _holds(part: LicenseExpression, allowed: frozenset[str]) -> bool:
    if isinstance(part, SPDX.OR):
        return any(_holds(one, allowed) for one in part.args)
    if isinstance(part, SPDX.AND):
        return all(_holds(one, allowed) for one in part.args)
    return str(part) in allowed


def licence(name: str) -> str:
    """What a package says of its licence, as an SPDX expression; "" where nobody can tell."""
    said = distribution(name).metadata
    if expression := said.get("License-Expression"):
        return str(expression)
    if name in READ:
        return READ[name]
    first = (said.get("License") or "").strip().partition("\n")[0].strip()
    spoken = SPOKEN.get(first, first)
    if known(spoken) is not None:
        return spoken
    lines = [c.rpartition(" :: ")[2] for c in said.get_all("Classifier", []) if "License ::" in c]
    return " AND ".join(CLASSIFIED[line] for line in lines if line in CLASSIFIED)


def brought(requirements: Iterable[str]) -> Iterator[str]:
    """The packages that these bring on this machine, themselves included."""
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(Requirement(one), frozenset({""})) for one in requirements]
    while waiting:
        asked, extras = waiting.pop()
        if asked.marker and not any(asked.marker.evaluate({"extra": one}) for one in extras):
            continue
        name = canonicalize_name(asked.name)
        key = (name, frozenset(asked.extras))
        if key in seen:
            continue
        seen.add(key)
        if name == PROJECT["name"]:
            inner = [
                one for extra in asked.extras for one in PROJECT["optional-dependencies"][extra]
            ]
        else:
            yield name
            inner = distribution(name).requires or []
        waiting += [(Requirement(one), frozenset({"", *asked.extras})) for one in inner]


def packages() -> list[Package]:
    """All of them, by name, each with what brings it."""
    groups = {DEFAULT: PROJECT["dependencies"], **PROJECT["optional-dependencies"]}
    groups.pop("all", None)
    by: dict[str, list[str]] = {}
    for group, requirements in groups.items():
        for name in set(brought(requirements)):
            by.setdefault(name, []).append(group)
    return [
        Package(
            name=name,
            version=distribution(name).version,
            licence=licence(name),
            extras=(DEFAULT,) if DEFAULT in by[name] else tuple(sorted(by[name])),
        )
        for name in sorted(by)
    ]


def table(found: Iterable[Package]) -> str:
    """The list as Markdown."""
    head = "| package | version | licence | brought by |\n|---|---|---|---|\n"
    rows = (f"| {p.name} | {p.version} | {p.licence} | {', '.join(p.extras)} |\n" for p in found)
    return head + "".join(rows)


def main() -> int:
    """1 where a licence is not allowed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    try:
        found = packages()
    except PackageNotFoundError as error:
        sys.exit(f"licences: {error.name} is not installed here; run it where all the extras are")
    if asked.out:
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        asked.out.write_text(table(found), encoding="utf-8")
    else:
        print(table(found), end="")
    bad = [one for one in found if not one.allowed]
    for one in bad:
        print(f"not allowed: {one.name}: {one.licence or 'unknown'}", file=sys.stderr)
    print(f"{len(found)} packages, {len(bad)} with a licence that is not allowed", file=sys.stderr)
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
