"""Fill this interpreter's environment from a lock: with uv where it can be had, else with pip.

    python tools/install.py requirements/dev.lock [--no-deps]

pip alone is enough, and uv does the same in a fraction of the time: it fetches and unpacks side by
side. Both are held to the lock's hashes and take built packages only. Where packages come from is
said once, to pip: its configuration (files and `PIP_` variables) is handed on to uv. A setting that
has no known counterpart, a uv that cannot be had, or one that fails: then pip installs, and a line
says why. `FOVEATE_INSTALLER=pip` leaves uv out.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV_LOCK = ROOT / "requirements" / "uv.lock"
PIP = (
    *(sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check"),
    *("--no-input", "--only-binary", ":all:", "--no-compile", "--require-hashes"),
)
SECTIONS = ("global", "install", ":env:")  # the later one decides
# pip's settings that say where packages come from, and what says the same to uv; with what stands
# between several values, "" where there is one.
COUNTERPARTS = {
    "index-url": ("UV_DEFAULT_INDEX", ""),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "cert": ("SSL_CERT_FILE", ""),
    "client-cert": ("SSL_CLIENT_CERT", ""),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "timeout": ("UV_HTTP_TIMEOUT", ""),
    "default-timeout": ("UV_HTTP_TIMEOUT", ""),
    "retries": ("UV_HTTP_RETRIES", ""),
    "no-cache-dir": ("UV_NO_CACHE", ""),
}
# Settings that change nothing in what is installed here, or that the command line above decides.
# Constraints are looked at here: the lock pins everything, so all they can do is contradict it.
IDLE = frozenset({
    *("break-system-packages", "cache-dir", "compile", "config-file", "constraint"),
    *("disable-pip-version-check", "log", "no-color", "no-compile", "no-input"),
    *("only-binary", "prefer-binary", "progress-bar", "quiet", "require-hashes"),
    *("no-python-version-warning", "no-warn-script-location", "require-virtualenv"),
    *("root-user-action", "upgrade-strategy", "verbose"),
})  # fmt: skip
# What a person may have told uv about this machine; the rest of what uv is told comes from here.
KEPT = frozenset({"UV_CACHE_DIR", "UV_LINK_MODE", "UV_NO_CACHE", "UV_OFFLINE"})


class NoCounterpartError(Exception):
    """A setting of pip that cannot be handed on."""


def settings(listed: str) -> dict[str, str]:
    """What pip is told for an install, from what `pip config list` prints."""
    found: dict[str, str] = {}
    lines = [line.partition("=") for line in listed.splitlines() if "=" in line]
    for wanted in SECTIONS:
        for name, _, value in lines:
            section, _, key = name.rpartition(".")
            if section == wanted:
                found[key] = str(ast.literal_eval(value))
    return {key: value for key, value in found.items() if value.strip()}


def translated(told: Mapping[str, str]) -> dict[str, str]:
    """The same for uv, as variables of its environment."""
    variables: dict[str, str] = {}
    for key, value in told.items():
        if key in IDLE:
            continue
        if key not in COUNTERPARTS:
            raise NoCounterpartError(f"pip's setting {key!r} has no counterpart")
        name, between = COUNTERPARTS[key]
        values = value.split()
        odd = value.startswith("~") or (between == "," and "," in value)
        if odd or (len(values) > 1 and not between):
            raise NoCounterpartError(f"pip's setting {key!r} cannot be handed on as it is")
        variables[name] = between.join(values)
    return variables


def contradicted(lock: str, constraints: Iterable[str]) -> str:
    """The first line of the constraints that the lock's pins do not obey, or nothing."""
    from pip._vendor.packaging.requirements import Requirement
    from pip._vendor.packaging.utils import canonicalize_name

    found = re.findall(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", lock, re.MULTILINE)
    pins = {canonicalize_name(name): version for name, version in found}
    for line in constraints:
        if wanted := line.partition("#")[0].strip():
            asked = Requirement(wanted)
            pin = pins.get(canonicalize_name(asked.name))
            if pin and not asked.specifier.contains(pin, prereleases=True):
                return wanted
    return ""


def constraint_files(told: Mapping[str, str]) -> list[Path]:
    """The files that pip's setting names."""
    return [Path(name) for name in told.get("constraint", "").split()]


def constraints(told: Mapping[str, str]) -> list[str]:
    """Their lines."""
    texts = [file.read_text(encoding="utf-8") for file in constraint_files(told)]
    return [line for text in texts for line in text.splitlines()]


def environment(told: Mapping[str, str]) -> dict[str, str]:
    """All of uv's environment. pip looks at every index alike, and so must uv."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("UV_") or k in KEPT}
    return {**kept, "UV_INDEX_STRATEGY": "unsafe-best-match", **translated(told)}


def by_uv(lock: Path, options: list[str]) -> str:
    """Install with uv; gives why that was not possible, or nothing."""
    if os.environ.get("FOVEATE_INSTALLER") == "pip":
        return "FOVEATE_INSTALLER says so"
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"],
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    try:
        told = settings(listed.stdout)
        variables = environment(told)
        if line := contradicted(lock.read_text(encoding="utf-8"), constraints(told)):
            return f"a constraint of pip's settings contradicts the lock: {line}"
    except (ImportError, NoCounterpartError, OSError, SyntaxError, ValueError) as error:
        return str(error)
    got = subprocess.run(
        [*PIP, "-r", str(UV_LOCK)], capture_output=True, text=True, encoding="utf-8", check=False
    )
    if got.returncode or listed.returncode:
        return f"uv cannot be had: {last_line(got.stderr or listed.stderr)}"
    uv = str(Path(sys.executable).with_name("uv"))
    done = subprocess.run(
        [
            *(uv, "pip", "install", "-q", "--no-config", "--python", sys.executable, "--no-build"),
            "--link-mode=copy",  # nltk refuses its own data where a file has several links
            *("--require-hashes", *options, "-r", str(lock)),
        ],
        env=variables, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    return f"uv failed: {last_line(done.stderr)}" if done.returncode else ""


def last_line(said: str) -> str:
    """The end of what a program complained of."""
    lines = said.strip().splitlines()
    return lines[-1].strip() if lines else "it said nothing"


def main() -> int:
    """The exit code of whichever installed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("lock", type=Path)
    parser.add_argument("--no-deps", action="store_true")
    asked = parser.parse_args()
    options = ["--no-deps"] if asked.no_deps else []
    reason = by_uv(asked.lock, options)
    if not reason:
        return 0
    print(f"installing {asked.lock.name} with pip ({reason})", flush=True)
    return subprocess.run([*PIP, *options, "-r", str(asked.lock)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
