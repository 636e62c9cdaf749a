"""Which of the files here compare with frameworks; `make newest` has those and runs them."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("langchain_core") else ["test_compact.py", "test_frameworks.py"]
