"""Which of the files here are for packages that are in environments of their own."""

from __future__ import annotations

from importlib.util import find_spec

_WANT = {
    "test_example.py": "haystack",
    "test_google_genai.py": "google.genai",
    "test_haystack.py": "haystack",
    "test_langchain.py": "langchain_core",
    "test_langchain_classic.py": "langchain_classic",
    "test_langchain_compaction.py": "langgraph",
    "test_llama_index.py": "llama_index",
    "test_shown.py": "langgraph",
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
