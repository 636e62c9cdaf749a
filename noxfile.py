"""The oldest and the newest releases of each framework, in environments of their own.

    nox -s frameworks                     the oldest and the newest release of each framework
    nox -s "frameworks(langchain-oldest)"

Packages come from where pip's settings say. `nox -r` keeps the environments of an earlier run.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from tools.install import uv_environment  # noqa: E402

os.environ.update(uv_environment())
os.environ.pop("PYTHONPATH", None)
nox.needs_version = ">=2026.10"
nox.options.default_venv_backend = "uv"
nox.options.error_on_missing_interpreters = True
PROJECT = nox.project.load_toml("pyproject.toml")["project"]
EXTRAS = PROJECT["optional-dependencies"]


def named(*names: str) -> list[object]:
    """Parameters that `nox -s "session(NAME)"` chooses."""
    return [nox.param(name, id=name) for name in names]


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
