"""The licence of every package that foveate or one of its extras brings, and whether it may.

    python -m tools.licences                print the list, as a Markdown table
    python -m tools.licences --out FILE     write it

Read from the metadata of what is installed here, without a network: run it where all the extras
are, as in the environment of `make`; what is for other machines alone is named below. The default
install takes permissive licences alone; an extra, which one chooses, may also bring weak copyleft.
A licence that is not named below, or that nobody can tell, fails: read it, then add it, or leave
the package out.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path

from license_expression import ExpressionError, LicenseExpression, get_spdx_licensing
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tools.locks import extras_of, pins

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = ROOT / "requirements" / "dev.lock"
DEFAULT = "(default)"
SPDX = get_spdx_licensing()

PERMISSIVE = frozenset({
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "HPND"),
    *("ISC", "MIT", "MIT-0", "MIT-CMU", "PSF-2.0", "Zlib"),
})  # fmt: skip
# Used as they are published, imported, never changed or copied.
WEAK = frozenset({"LGPL-2.1-or-later", "LGPL-3.0-only", "MPL-2.0"})

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
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
# Where the metadata is no expression: read in the package, and why it is so.
READ = {
    # "MIT License", and a classifier of the other one: one may choose
    "dirtyjson": "AFL-2.1 OR MIT",
    # "BSD-3-Clause, Apache-2.0, dependency licenses": its own code and the library inside
    "pypdfium2": "BSD-3-Clause AND Apache-2.0",
}
# What the locks pin for other machines and other Pythons alone: read in the packages for those.
ELSEWHERE = {
    "async-timeout": "Apache-2.0",  # Python 3.11.0 to 3.11.2
    "httpx2-jsfetch": "BSD-3-Clause",  # in a browser
    # Windows; the last but one is that of `adodbapi`, of which its metadata says nothing
    "pywin32": "PSF-2.0 AND BSD-3-Clause AND HPND AND LGPL-2.1-or-later AND MIT",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One package; `extras`: what brings it, `(default)` for the small install."""

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
    """What a package says of its licence, as an SPDX expression; "" where nobody can tell.

    Where old metadata says it in two ways both hold, and a classifier that is not known is as if
    nothing had been said: it may be the one that matters.
    """
    said = distribution(name).metadata
    if expression := said.get("License-Expression"):
        return str(expression)
    if name in READ:
        return READ[name]
    lines = [c.rpartition(" :: ")[2] for c in said.get_all("Classifier", []) if "License ::" in c]
    lines = [line for line in lines if line != "OSI Approved"]  # which says that, and no name
    if any(line not in CLASSIFIED for line in lines):
        return ""
    classified = [CLASSIFIED[line] for line in lines]
    first = (said.get("License") or "").strip().partition("\n")[0].strip()
    spoken = SPOKEN.get(first, first)
    if (parsed := known(spoken)) is not None:
        more = [one for one in classified if one not in SPDX.license_keys(parsed)]
        return " AND ".join((f"({spoken})", *more)) if more else spoken
    return " AND ".join(classified)


def brought(requirements: Iterable[str]) -> Iterator[str]:
    """The packages that these bring, themselves included.

    Also those that are not for this machine or this Python, where the locks have them.
    """
    pinned = {pin.name for pin in pins(LOCK)}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(Requirement(one), frozenset({""})) for one in requirements]
    while waiting:
        asked, extras = waiting.pop()
        name = canonicalize_name(asked.name)
        if asked.marker and not any(asked.marker.evaluate({"extra": one}) for one in extras):
            wanted = not extras_of(asked) or extras_of(asked) & extras
            if wanted and name in pinned and not is_installed(name):
                yield name
            continue
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


def is_installed(name: str) -> bool:
    """Whether it is here, so that its metadata can be read."""
    return bool(next(iter(distributions(name=name)), None))


def package(name: str, extras: Iterable[str] = ()) -> Package:
    """One of them: as it is installed, or as the lock has it and as it was read elsewhere."""
    if is_installed(name):
        version, said = distribution(name).version, licence(name)
    else:
        version = ", ".join(pin.version for pin in pins(LOCK) if pin.name == name)
        said = ELSEWHERE.get(name, "")
    return Package(name=name, version=version, licence=said, extras=tuple(extras))


def packages() -> list[Package]:
    """All of them, by name, each with what brings it."""
    groups = {DEFAULT: PROJECT["dependencies"], **PROJECT["optional-dependencies"]}
    groups.pop("all", None)
    by: dict[str, list[str]] = {}
    for group, requirements in groups.items():
        for name in set(brought(requirements)):
            by.setdefault(name, []).append(group)
    return [
        package(name, (DEFAULT,) if DEFAULT in by[name] else sorted(by[name]))
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
