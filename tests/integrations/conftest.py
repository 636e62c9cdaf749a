"""Which of the files here are for packages that `make matrix` alone installs."""

from __future__ import annotations

from importlib.util import find_spec

_WANT = {
    "langchain_suite.py": "langchain_tests",
    "langchain_community_peers.py": "langchain_community",
    "packers_peers.py": "llmslim",
    "dspy_example.py": "dspy",
}

collect_ignore = [file for file, package in _WANT.items() if find_spec(package) is None]
