"""Known vulnerabilities of what the locks pin, asked of a service that speaks OSV's protocol.

    python -m tools.audit                       the public service
    python -m tools.audit --url URL             another one: a mirror inside a company
    python -m tools.audit --lock FILE           another lock than that of everything

`pip-audit` asks, for every pin, those for other machines and other Pythons too, and installs
nothing. One question more is about a release that is known to be unsafe: a service that has heard
nothing of it knows nothing. Exit 0 where nothing is known, 1 where something is, 3 where no answer
was to be had: then nothing was found out, and that is no pass.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import Version
from tools.locks import pins

ROOT = Path(__file__).resolve().parent.parent
NO_ANSWER = 3
UNSAFE = ("jinja2", "2.4.1")
"""The example of the protocol's own documentation."""


def rounds(asked: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Name → version, so often that each version of each name has its turn.

    `pip-audit` passes over what is for another machine, and takes one version of a package only.
    """
    made: list[dict[str, str]] = []
    for name, version in dict.fromkeys(asked):
        free = next((one for one in made if name not in one), None)
        if free is None:
            made.append(free := {})
        free[name] = version
    return made


def answered(asked: dict[str, str], url: str) -> tuple[list[dict[str, Any]], str]:
    """What is known of each; and why there is no answer, or ""."""
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder, "asked.txt")
        lock.write_text("".join(f"{n}=={v}\n" for n, v in asked.items()), encoding="utf-8")
        words = [sys.executable, "-m", "pip_audit", "--requirement", str(lock), "--no-deps"]
        words += ["--disable-pip", "--strict", "--format", "json", "--progress-spinner", "off"]
        words += ["--vulnerability-service", "osv", "--cache-dir", folder]
        words += ["--osv-url", url] if url else []
        done = subprocess.run(
            words, capture_output=True, text=True, encoding="utf-8", check=False, cwd=folder
        )
    try:
        found: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
        return [], lines[-1]
    known = {_plain(one["name"], one["version"]) for one in found if "vulns" in one}
    left_out = [f"{n} {v}" for n, v in asked.items() if _plain(n, v) not in known]
    return found, f"left out: {', '.join(left_out)}" if left_out else ""


def _plain(name: str, version: str) -> tuple[str, str]:
    """However both are written."""
    return canonicalize_name(name), str(Version(version))


def known_of(lock: Path, url: str) -> tuple[list[dict[str, Any]], str]:
    """Each pin of the lock with what is known of it; and why there is no answer, or ""."""
    wanted = [(pin.name, pin.version) for pin in pins(lock)]
    found: list[dict[str, Any]] = []
    for asked in rounds([UNSAFE, *wanted]):
        more, why = answered(asked, url)
        if why:
            return [], why
        found += more
    unsafe = [one for one in found if (one["name"], one["version"]) == UNSAFE]
    if not any(one["vulns"] for one in unsafe):
        return [], f"the service has not heard of what is known of {' '.join(UNSAFE)}"
    return [one for one in found if one not in unsafe or UNSAFE in wanted], ""


def main() -> int:
    """0, 1 or 3, as above."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--url", default="")
    parser.add_argument("--lock", type=Path, default=ROOT / "requirements" / "dev.lock")
    options = parser.parse_args()
    found, why = known_of(options.lock.resolve(), options.url)
    if why:
        print(f"no answer: {why}\nset AUDIT_URL to a service that can be reached from here")
        return NO_ANSWER
    known = [(one, each) for one in found for each in one["vulns"]]
    for one, each in known:
        mended = ", ".join(each["fix_versions"]) or "nowhere yet"
        print(f"{one['name']} {one['version']}: {each['id']}, mended in {mended}")
    print(f"{len(found)} packages, {len(known)} known vulnerabilities")
    return int(bool(known))


if __name__ == "__main__":
    sys.exit(main())
