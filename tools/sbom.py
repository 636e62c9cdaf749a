"""A bill of materials of each lock that something is installed from, as CycloneDX 1.6 JSON.

    python -m tools.sbom [FOLDER]     default: build/release

Packages, versions and hashes are the lock's, by `cyclonedx-py`; what that cannot know is added here
from the metadata of what is installed: our version, licences, what depends on what. The finished
file is held against the schema and against the lock: every pin is in it, and stands somewhere below
what was asked for. The same lock gives the same bytes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tools.licences import PROJECT, ROOT, known, package
from tools.locks import extras_of, pins

from foveate._version import __version__

GROUPS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
ROOT_REF = "root-component"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What a bill is of, and what its lock was resolved from: extras and groups of ours."""

    what: str
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    @property
    def asked(self) -> list[str]:
        """The requirements that the lock fulfils."""
        extras = [f"{PROJECT['name']}[{','.join(self.extras)}]"] if self.extras else []
        return [*PROJECT["dependencies"], *extras, *(r for g in self.groups for r in GROUPS[g])]


IMAGE = ("local", "documents", "fast", "postgres", "redis", "models", "serve", "mcp", "otel")
LOCKS = {
    "base": Bill(what="what `pip install foveate` brings"),
    "local": Bill(
        what="the same with the extra `local`, as `make demo` installs it",
        extras=("local",),
        groups=("build",),
    ),
    "image": Bill(what="what the container image holds", extras=IMAGE),
}


def listed(lock: str) -> dict[str, Any]:
    """The lock, as the generator sees it."""
    done = subprocess.run(
        [
            *(sys.executable, "-W", "ignore", "-m", "cyclonedx_py", "requirements"),
            *("--output-reproducible", "--no-validate", "--spec-version", "1.6"),
            *("--pyproject", "pyproject.toml", "--mc-type", "library"),
            f"requirements/{lock}.lock",
        ],
        cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=True,
    )  # fmt: skip
    bill: dict[str, Any] = json.loads(done.stdout)
    return bill


def completed(bill: dict[str, Any], asked: Iterable[str]) -> dict[str, Any]:
    """The bill with our version, licences and the graph, from what was `asked` for on."""
    refs: dict[str, list[str]] = {}
    for part in bill["components"]:
        refs.setdefault(canonicalize_name(part["name"]), []).append(part["bom-ref"])
    for part in bill["components"]:
        name = canonicalize_name(part["name"])
        # the line of the lock, hashes and all, is said in full by what stands beside it
        part.pop("description", None)
        for place in part.get("externalReferences", []):
            place.pop("comment", None)
        said = package(name).licence
        if known(said) is not None:
            part["licenses"] = [{"expression": said, "acknowledgement": "declared"}]
    bill["metadata"]["component"]["version"] = __version__
    bill["metadata"]["component"]["purl"] = f"pkg:pypi/{PROJECT['name']}@{__version__}"
    bill["dependencies"] = [
        {"ref": ref, "dependsOn": sorted(one for name in on for one in refs.get(name, []))}
        for by, on in sorted(graph(asked).items())
        for ref in refs.get(by, [ROOT_REF] if by == PROJECT["name"] else [])
    ]
    return bill


def graph(asked: Iterable[str]) -> dict[str, set[str]]:
    """Name → the names that it needs on some Python, with the extras it is asked for with.

    Ours stands for what is asked for. What is not installed here has no entry: nobody knows.
    """
    found: dict[str, set[str]] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(PROJECT["name"], Requirement(one)) for one in asked]
    while waiting:
        by, one = waiting.pop()
        name = canonicalize_name(one.name)
        found.setdefault(by, set()).update({name} - {by})
        for extra in {"", *map(canonicalize_name, one.extras)} - {e for n, e in seen if n == name}:
            seen.add((name, extra))
            if (needed := _needed(name, extra)) is not None:
                found.setdefault(name, set())
                waiting += [(name, more) for more in needed]
    return found


def _needed(name: str, extra: str) -> list[Requirement] | None:
    """What a package requires; with an extra, what that adds. None where it is not installed."""
    if name == PROJECT["name"]:
        lines = PROJECT["optional-dependencies"][extra] if extra else []
        return [Requirement(line) for line in lines]
    try:
        required = [Requirement(line) for line in distribution(name).requires or []]
    except PackageNotFoundError:
        return None
    return [one for one in required if extra in (extras_of(one) or {""})]


def gaps(bill: Mapping[str, Any], lock: Path) -> Iterator[str]:
    """What the bill does not say: a pin, what leads to a component, what it needs, its licence."""
    parts = {one["bom-ref"]: one for one in bill["components"]}
    listed = {(canonicalize_name(one["name"]), one["version"]) for one in parts.values()}
    pinned = pins(lock)
    for pin in pinned:
        if (pin.name, pin.version) not in listed:
            yield f"{pin.name} {pin.version} is pinned, and not in the bill"
    needs = {one["ref"]: one["dependsOn"] for one in bill["dependencies"]}
    reached, waiting = set(), [ROOT_REF]
    while waiting:
        ref = waiting.pop()
        if ref not in reached:
            reached.add(ref)
            waiting += needs.get(ref, [])
    yield from (f"nothing leads to {parts[ref]['name']}" for ref in sorted(parts.keys() - reached))
    described = {canonicalize_name(parts[ref]["name"]) for ref in needs if ref in parts}
    yield from (
        f"nobody knows the licence of {part['name']}"
        for part in parts.values()
        if "licenses" not in part
    )
    for name in sorted({pin.name for pin in pinned if pin.here} - described):
        yield f"{name} is not installed here, so nobody knows what it needs"


def faults(text: str) -> str:
    """What the schema of CycloneDX 1.6 says against it; "" where nothing."""
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    return "" if error is None else str(error)


def main() -> int:
    """1 where a bill is not valid, or not whole."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "release"
    folder.mkdir(parents=True, exist_ok=True)
    bad = 0
    for lock, about in LOCKS.items():
        bill = completed(listed(lock), about.asked)
        text = json.dumps(bill, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        path = folder / f"foveate-{__version__}.{lock}.cdx.json"
        path.write_text(text, encoding="utf-8")
        missing = "; ".join(gaps(bill, ROOT / "requirements" / f"{lock}.lock"))
        said = faults(text) or missing
        bad += bool(said)
        count = len(bill["components"])
        print(f"{path.name}: {count} components, {said or 'valid'}; {about.what}")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
