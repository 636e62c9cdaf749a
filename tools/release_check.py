"""What must be so before a release, item by item, each with what to do where it is not.

    python -m tools.release_check            all of it: some minutes
    python -m tools.release_check --quick    without what takes minutes (tests, each extra)

Every item is `ok`, `failed`, `not here` (it cannot be found out on this machine, which is no pass:
find it out elsewhere) or `left out` (--quick). Exit 0 where all is ok, 1 where something failed,
3 where nothing failed and something could not be found out. Files for the release are in dist/ and
build/release/.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OK, FAILED, NOT_HERE, LEFT_OUT = "ok", "failed", "not here", "left out"
NO_ANSWER = 3
"""The exit code of our own tools for what could not be found out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one item stands. `said`: the figure where it is well, else what was found."""

    state: str
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item of the list. `mend`: what to do where it is not ok."""

    name: str
    mend: str
    look: Callable[[Path], Outcome]
    slow: bool = False


def run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A program's exit code and what it printed."""
    return subprocess.run(
        words,
        cwd=root,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        env={**os.environ, "PYTHONPATH": str(root / "src"), "NO_COLOR": "1"},
    )


def last(text: str, lines: int = 1) -> str:
    """The end of what was printed."""
    return " | ".join(line.strip() for line in text.strip().splitlines()[-lines:])


def version(root: Path) -> str:
    """The version, as the package will say it."""
    text = (root / "src/foveate/_version.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    assert found, text
    return found[1]


def clean(root: Path) -> Outcome:
    """Nothing is changed and nothing lies about."""
    done = run(root, "git", "status", "--porcelain", "--untracked-files=all")
    if done.returncode:
        return Outcome(state=FAILED, said=last(done.stderr))
    changed = done.stdout.splitlines()
    more = f", {changed[0].strip()} …" if changed else ""
    return Outcome(state=FAILED if changed else OK, said=f"{len(changed)} changed files{more}")


def changelog(root: Path) -> Outcome:
    """The newest release listed is this one, it has its date, and no change waits in a file."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(r"^## (.+)$", text, re.MULTILINE)
    newest = found[1] if found else "missing"
    dated = re.fullmatch(re.escape(version(root)) + r" \(\d{4}-\d\d-\d\d\)", newest)
    waiting = [p.name for p in (root / "changelog.d").iterdir() if p.name != "README.md"]
    said = f"newest is {newest}, {len(waiting)} files in changelog.d"
    return Outcome(state=OK if dated and not waiting else FAILED, said=said)


def tag(root: Path) -> Outcome:
    """This commit has the version's tag, and no other commit has it."""
    wanted = f"v{version(root)}"
    tagged = run(root, "git", "rev-list", "-n1", f"refs/tags/{wanted}")
    here = run(root, "git", "rev-parse", "--verify", "HEAD")
    if here.returncode:
        return Outcome(state=FAILED, said=last(here.stderr))
    if tagged.returncode:
        return Outcome(state=FAILED, said=f"no tag {wanted}")
    at = tagged.stdout.strip()
    if at != here.stdout.strip():
        return Outcome(state=FAILED, said=f"{wanted} is at {at[:9]}, not here")
    return Outcome(state=OK, said=wanted)


def program(*words: str, lines: int = 1, no_answer: int | None = None) -> Callable[[Path], Outcome]:
    """An item that a command decides, by its exit code; `no_answer`: the one for "not here"."""

    def look(root: Path) -> Outcome:
        done = run(root, *words)
        state = {0: OK, no_answer: NOT_HERE}.get(done.returncode, FAILED)
        text = done.stdout if done.stdout.strip() and state != FAILED else done.stdout + done.stderr
        return Outcome(state=state, said=last(text, 1 if state == OK else lines))

    return look


def ours(tool: str, *options: str, lines: int = 1) -> Callable[[Path], Outcome]:
    """The same of a tool of ours."""
    words = (sys.executable, "-m", f"tools.{tool}", *options)
    return program(*words, lines=lines, no_answer=NO_ANSWER)


def supported(root: Path) -> Outcome:
    """Nothing says that this version is of another kind than its number."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (status,) = [c for c in project["classifiers"] if c.startswith("Development Status")]
    early = version(root).startswith("0.")
    fits = ("Alpha" in status or "Beta" in status) if early else "Stable" in status
    return Outcome(state=OK if fits else FAILED, said=f"{version(root)} is {status}")


MAKE = "make"
ITEMS: tuple[Item, ...] = (
    Item(name="clean tree", look=clean, mend="commit or remove what is listed"),
    Item(
        name="changelog",
        look=changelog,
        mend="python -m towncrier build --version X.Y.Z (for 0.1.0: put the date for `unreleased`)",
    ),
    Item(name="status", look=supported, mend="say in pyproject.toml what the number says"),
    Item(name="tag", look=tag, mend="git tag -s vX.Y.Z, last of all, on the commit that is built"),
    Item(name="style", look=program(MAKE, "-s", "check", lines=3), mend="make check"),
    Item(
        name="docs",
        look=program(sys.executable, "tools/docs.py", "--check", lines=2),
        mend="make docs",
    ),
    Item(name="site", look=program(MAKE, "-s", "site", lines=3), mend="make site"),
    Item(name="artefacts", look=program(MAKE, "-s", "dist", lines=3), mend="make dist; read why"),
    Item(name="contents", look=program(MAKE, "-s", "contents", lines=3), mend="make contents"),
    Item(name="install", look=program(MAKE, "-s", "smoke", lines=3), mend="make smoke"),
    Item(name="bills", look=ours("sbom", lines=3), mend="make sbom; read what the schema says"),
    Item(
        name="licences",
        look=ours("licences", "--out", "build/release/licences.md", lines=3),
        mend="read the licence; then allow it in tools/licences.py, or leave the package out",
    ),
    Item(
        name="audit",
        look=ours("audit", "--url", os.environ.get("AUDIT_URL", ""), lines=3),
        mend="upgrade (make lock); or AUDIT_URL=, where the public service is not reached",
    ),
    Item(
        name="each extra",
        look=ours("wheels", lines=4),
        mend="make wheels; a Python that is not to be had: where it is",
        slow=True,
    ),
    Item(name="tests", look=program(MAKE, "-s", "test", lines=3), mend="make test", slow=True),
)


def main() -> int:
    """0, 1 or 3, as above."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    return through(ITEMS, ROOT, quick=asked.quick)


def through(items: Sequence[Item], root: Path, *, quick: bool) -> int:
    """Look at each; one line an item, and one more where it is not ok."""
    states = []
    for item in items:
        left_out = quick and item.slow
        found = Outcome(state=LEFT_OUT) if left_out else item.look(root)
        states.append(found.state)
        print(f"{found.state:9} {item.name:11} {found.said}", flush=True)
        if found.state not in {OK, LEFT_OUT}:
            print(f"{'':21} -> {item.mend}", flush=True)
    counts = [f"{states.count(one)} {one}" for one in dict.fromkeys(states)]
    print(f"foveate {version(root)}: {', '.join(counts)}")
    if FAILED in states:
        return 1
    return NO_ANSWER if {NOT_HERE, LEFT_OUT} & set(states) else 0


if __name__ == "__main__":
    sys.exit(main())
