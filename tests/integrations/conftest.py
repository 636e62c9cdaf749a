"""Which of the files here are for packages that `make matrix` alone installs."""

from __future__ import annotations

from importlib.util import find_spec

_WANT = {
    "langchain_suite.py": "langchain_tests",
    "dspy_example.py": "dspy",
    "langchain_agents.py": "langchain",
    "litellm_calls.py": "litellm",
    "openai_agents.py": "agents",
    "pydantic_ai_agents.py": "pydantic_ai",
}


def _is_missing(package: str) -> bool:
    try:
        return find_spec(package) is None
    except ModuleNotFoundError:  # what it is part of is missing
        return True


collect_ignore = [file for file, package in _WANT.items() if _is_missing(package)]
