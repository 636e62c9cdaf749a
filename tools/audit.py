"""Known vulnerabilities of what the locks pin, asked of a service that speaks OSV's protocol.

    python -m tools.audit                       the public service
    python -m tools.audit --url URL             another one: a mirror inside a company
    python -m tools.audit --lock FILE           another lock than that of everything

`pip-audit` asks, for every pin, and installs nothing. Exit 0 where nothing is known, 1 where
something is, 3 where no answer was to be had: then nothing was found out, and that is no pass.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NO_ANSWER = 3


def asked(lock: Path, url: str) -> tuple[list[dict[str, Any]], str]:
    """The pins with what is known of each; and why there is no answer, or ""."""
    with tempfile.TemporaryDirectory() as cache:
        words = [sys.executable, "-m", "pip_audit", "--requirement", str(lock), "--require-hashes"]
        words += ["--disable-pip", "--strict", "--format", "json", "--progress-spinner", "off"]
        words += ["--vulnerability-service", "osv", "--cache-dir", cache]
        words += ["--osv-url", url] if url else []
        done = subprocess.run(
            words, capture_output=True, text=True, encoding="utf-8", check=False, cwd=cache
        )
    try:
        found: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
        return [], lines[-1]
    skipped = [one["name"] for one in found if "vulns" not in one]
    return found, f"left out: {', '.join(skipped)}" if skipped else ""


def main() -> int:
    """0, 1 or 3, as above."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--url", default="")
    parser.add_argument("--lock", type=Path, default=ROOT / "requirements" / "dev.lock")
    options = parser.parse_args()
    found, why = asked(options.lock.resolve(), options.url)
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
