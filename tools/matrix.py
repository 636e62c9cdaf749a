"""The faces for frameworks, tested against the oldest and the newest release of each.

    python -m tools.matrix                      all of them
    python -m tools.matrix langchain haystack   some
    python -m tools.matrix --fresh              ask again what the newest release is

The oldest release is the one that the extra in pyproject.toml names. Each release has its own
environment under build/matrix, made with uv and kept until what is wanted of it changes. The tests
are those of the suite, and those that want more than the suite's own environment holds: the
frameworks' own suites, and their parts that are installed apart.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "matrix"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEEDED = (*PROJECT["dependencies"], "hypothesis>=6.150", "pytest>=8")
AT_ONCE = 2
TOLD = re.compile(r"\d+ (?:passed|failed|errors?)")
SILENT = {
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "LANGSMITH_TRACING": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else it asks the network when it is imported
}
PYTEST = (
    *("-m", "pytest", "-q", "-p", "no:langsmith_plugin", "-p", "no:cacheprovider"),
    # old releases warn about themselves
    *("-o", "addopts=--import-mode=importlib", "-o", "filterwarnings=default"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Framework:
    """One framework. `beside`: what its tests need of it; `old`, `newest`: with that release alone.

    `options`: pytest's.
    """

    extra: str
    tests: tuple[str, ...]
    beside: tuple[str, ...] = ()
    old: tuple[str, ...] = ()
    newest: tuple[str, ...] = ()
    newest_tests: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


FRAMEWORKS = {
    "langchain": Framework(
        extra="langchain",
        tests=("test_langchain.py", "langchain_suite.py"),
        beside=("langchain-tests", "pytest-asyncio"),
        options=("-o", "asyncio_mode=auto"),  # of a plugin that its own suite wants
        newest=("langchain", "langchain-classic", "langchain-community"),
        newest_tests=(
            "test_langchain_classic.py",
            "langchain_community_peers.py",
            "langchain_agents.py",
        ),
    ),
    "llama-index": Framework(extra="llama-index", tests=("test_llama_index.py",)),
    "haystack": Framework(extra="haystack", tests=("test_haystack.py",)),
    "tables": Framework(
        extra="tables",
        tests=("../pipeline/tables/test_rows.py", "../test_tables.py"),
        old=("pandas==2.2.2", "polars==1.4.0"),
        newest=("pandas", "polars", "duckdb"),
        newest_tests=("../pipeline/tables/duckdb_tables.py",),
    ),
    # faces for agents: without an extra, for the agent's program has the package
    "pydantic-ai": Framework(
        extra="", tests=(), newest=("pydantic-ai-slim",), newest_tests=("pydantic_ai_agents.py",)
    ),
    "openai-agents": Framework(
        extra="", tests=(), newest=("openai-agents",), newest_tests=("openai_agents.py",)
    ),
    "litellm": Framework(  # it imports mcp where tools are sent, and does not ask for it
        extra="", tests=(), newest=("litellm", "mcp"), newest_tests=("litellm_calls.py",)
    ),
    "google-genai": Framework(
        extra="", tests=(), newest=("google-genai",), newest_tests=("google_genai_types.py",)
    ),
    "dspy": Framework(extra="", tests=(), newest=("dspy",), newest_tests=("dspy_example.py",)),
    "packers": Framework(
        extra="",
        tests=(),
        newest=("context-forge-py", "entroly", "llmslim"),
        newest_tests=("packers_peers.py",),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One environment, and the tests that run in it."""

    name: str
    wanted: tuple[str, ...]
    tests: tuple[str, ...]
    options: tuple[str, ...] = ()

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return FOLDER / self.name / "bin" / "python"


def releases(names: Sequence[str]) -> Iterator[Release]:
    """The oldest, where there is one, and the newest of each framework."""
    for name in names:
        one = FRAMEWORKS[name]
        asked = PROJECT["optional-dependencies"].get(one.extra, [])
        if asked:
            yield Release(
                name=f"{name}-oldest",
                wanted=(*map(oldest, asked), *one.beside, *one.old),
                tests=one.tests,
                options=one.options,
            )
        yield Release(
            name=f"{name}-newest",
            wanted=(*asked, *one.beside, *one.newest),
            tests=(*one.tests, *one.newest_tests),
            options=one.options,
        )


def oldest(requirement: str) -> str:
    """The requirement at its lower bound.

    >>> oldest("haystack-ai>=2.9.0")
    'haystack-ai==2.9.0'
    """
    found = re.fullmatch(r"([A-Za-z0-9._-]+)>=([0-9.]+)", requirement)
    if found is None:
        sys.exit(f"matrix: {requirement!r} names no oldest release; write NAME>=VERSION")
    return f"{found[1]}=={found[2]}"


def uv() -> str:
    """The program that makes environments."""
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.exists() else shutil.which("uv")
    return found or sys.exit("matrix: uv is not installed; run: make matrix")


def make(release: Release, *, fresh: bool) -> None:
    """Make the environment, unless it is there and was made for the same."""
    stamp = FOLDER / release.name / "made-for.txt"
    wanted = "\n".join((sys.version.split()[0], *NEEDED, *release.wanted))
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted and not fresh:
        return
    where = str(FOLDER / release.name)
    subprocess.run([uv(), "venv", "-q", "--clear", "--python", sys.executable, where], check=True)
    install = [uv(), "pip", "install", "-q", "--python", str(release.python), "--only-binary"]
    install += [":all:", *(("--upgrade",) if fresh else ()), *NEEDED, *release.wanted]
    subprocess.run(install, check=True)
    stamp.write_text(wanted, encoding="utf-8")


def run(release: Release, *, fresh: bool) -> bool:
    """Make and test one; print what came of it, all at once."""
    begun = time.monotonic()
    make(release, fresh=fresh)
    tests = [str(Path("tests") / "integrations" / name) for name in release.tests]
    done = subprocess.run(
        [str(release.python), *PYTEST, *release.options, *tests],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **SILENT, "PYTHONPATH": str(ROOT / "src")},
    )
    lines = (done.stdout + done.stderr).strip().splitlines()
    told = next((line for line in reversed(lines) if TOLD.search(line)), "nothing was said")
    print(f"{release.name:20} {versions(release):40} {told}  {time.monotonic() - begun:.0f} s")
    if done.returncode:
        print("\n".join(lines[-60:]))
    return done.returncode == 0


def versions(release: Release) -> str:
    """What is installed of what it is about."""
    name = re.match(r"[A-Za-z0-9._-]+", release.wanted[0])
    assert name, release
    code = f"from importlib.metadata import version; print(version({name[0]!r}))"
    done = subprocess.run(
        [str(release.python), "-c", code], capture_output=True, text=True, check=True
    )
    return f"{name[0]} {done.stdout.strip()}"


def main() -> int:
    """1 where one release failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"of {', '.join(FRAMEWORKS)}")
    parser.add_argument("--fresh", action="store_true", help="make the environments anew")
    chosen = parser.parse_args()
    unknown = set(chosen.names) - set(FRAMEWORKS)
    if unknown:
        parser.error(f"no such framework: {', '.join(sorted(unknown))}")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        asked = list(releases(chosen.names or list(FRAMEWORKS)))
        good = list(pool.map(lambda one: run(one, fresh=chosen.fresh), asked))
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
