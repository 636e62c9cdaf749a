"""Which of the files here are for packages that `make matrix` alone installs."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("duckdb") else ["duckdb_tables.py"]
