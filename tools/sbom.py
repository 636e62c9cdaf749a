"""A bill of materials of each lock that something is installed from, as CycloneDX 1.6 JSON.

    python -m tools.sbom [FOLDER]     default: build/release

Packages, versions and hashes are the lock's, by `cyclonedx-py`; what that cannot know is added here
from the metadata of what is installed: our version, licences, what depends on what. The finished
file is held against the schema. The same lock gives the same bytes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tools.licences import PROJECT, ROOT, known, licence

from foveate._version import __version__

LOCKS = {
    "base": "what `pip install foveate` brings",
    "local": "the same with the extra `local`, as `make demo` installs it",
    "image": "what the container image holds",
}
ROOT_REF = "root-component"


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


def completed(bill: dict[str, Any]) -> dict[str, Any]:
    """The bill with our version, licences and the graph."""
    refs: dict[str, list[str]] = {}
    for part in bill["components"]:
        refs.setdefault(canonicalize_name(part["name"]), []).append(part["bom-ref"])
    graph = {ROOT_REF: _refs(PROJECT["dependencies"], refs)}
    for part in bill["components"]:
        name = canonicalize_name(part["name"])
        # the line of the lock, hashes and all, is said in full by what stands beside it
        part.pop("description", None)
        for place in part.get("externalReferences", []):
            place.pop("comment", None)
        try:
            asked, said = distribution(name).requires or [], licence(name)
        except PackageNotFoundError:  # for another platform or another Python
            continue
        graph[part["bom-ref"]] = _refs(asked, refs)
        if known(said) is not None:
            part["licenses"] = [{"expression": said, "acknowledgement": "declared"}]
    bill["metadata"]["component"]["version"] = __version__
    bill["metadata"]["component"]["purl"] = f"pkg:pypi/{PROJECT['name']}@{__version__}"
    bill["dependencies"] = [{"ref": r, "dependsOn": on} for r, on in sorted(graph.items())]
    return bill


def _refs(requirements: list[str], refs: dict[str, list[str]]) -> list[str]:
    """The components that fulfil these on some Python, by their names in the bill."""
    names = {
        canonicalize_name(asked.name)
        for asked in map(Requirement, requirements)
        if asked.marker is None or not re.search(r"\bextra\b", str(asked.marker))
    }
    return sorted(ref for name in names for ref in refs.get(name, []))


def faults(text: str) -> str:
    """What the schema of CycloneDX 1.6 says against it; "" where nothing."""
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    return "" if error is None else str(error)


def main() -> int:
    """1 where a bill is not valid."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "release"
    folder.mkdir(parents=True, exist_ok=True)
    bad = 0
    for lock, what in LOCKS.items():
        bill = completed(listed(lock))
        text = json.dumps(bill, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        path = folder / f"foveate-{__version__}.{lock}.cdx.json"
        path.write_text(text, encoding="utf-8")
        said = faults(text)
        bad += bool(said)
        print(f"{path.name}: {len(bill['components'])} components, {said or 'valid'}; {what}")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
