"""The environments that the systems run in: one for each requirements file, made once.

    python -m bench.peers.environments        makes those that are missing

They stand in build/bench/environments, which git ignores. Packages come from wherever pip is set
up to take them. An environment is made anew when its requirements change.

tiktoken fetches its vocabulary from the network when it is first used. llama-index-core ships
the same files, so all environments are pointed at those (`TIKTOKEN_CACHE_DIR`).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from bench.peers.adapters.registry import OWN, SYSTEMS

REQUIREMENTS = Path(__file__).parent / "requirements"
FOLDER = Path("build/bench/environments")
PINNED_TABLES = "llama_index"
TABLES = "lib/python*/site-packages/llama_index/core/_static/tiktoken_cache"
PIP = ("-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-input")


def python_of(environment: str, folder: Path = FOLDER) -> Path:
    """Its interpreter; `own` is the running one."""
    return Path(sys.executable) if environment == OWN else folder / environment / "bin" / "python"


def make(environments: Iterable[str], folder: Path = FOLDER) -> None:
    """Make what is missing or was made from other requirements."""
    for name in dict.fromkeys(environments):
        wanted = (REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8")
        stamp = folder / name / "made-from.txt"
        if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
            continue
        print(f"environment {name}: installing {', '.join(wanted.split())}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder / name], check=True)
        listed = str(REQUIREMENTS / f"{name}.txt")
        install = [str(python_of(name, folder)), *PIP, "-r", listed]
        subprocess.run(install, check=True)
        stamp.write_text(wanted, encoding="utf-8")


def needed(systems: Iterable[str]) -> list[str]:
    """The environments of these systems, and the one that has the vocabularies."""
    names = [SYSTEMS[name].environment for name in systems]
    own = [name for name in names if name != OWN]
    return list(dict.fromkeys((*own, PINNED_TABLES))) if own else []


def variables(folder: Path = FOLDER) -> dict[str, str]:
    """What a worker's process is told."""
    found = sorted((folder / PINNED_TABLES).glob(TABLES))
    tables = {"TIKTOKEN_CACHE_DIR": str(found[0].resolve())} if found else {}
    return {**os.environ, **tables, "PYTHONHASHSEED": "0"}


if __name__ == "__main__":
    make(needed(SYSTEMS))
