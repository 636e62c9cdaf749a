"""The house rules that a linter cannot say: what the core may touch, what an import may cost.

Which layer may import which is checked by import-linter (`make contracts`).
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import time
from collections.abc import Iterable
from graphlib import TopologicalSorter
from pathlib import Path
from statistics import median

import pytest

from source_tree import (
    CORE,
    MATRIX_ONLY,
    NEWEST_ONLY,
    PACKAGE,
    imports_of,
    python_files,
    short,
    tree_of,
)

CORE_FILES = python_files(CORE)
ALL_FILES = python_files(PACKAGE)

# Standard-library modules that cannot open, fetch, sleep, log, roll dice or read a clock.
# `datetime` is here for its types, `sys` for its constants and sizes, `_thread` for a lock,
# `pkgutil` for the tables of our own classes;
# the rest of them is caught below.
PURE_STANDARD_LIBRARY = {
    "__future__",
    "_thread",
    "abc",
    "array",
    "base64",
    "binascii",
    "bisect",
    "collections",
    "contextlib",
    "contextvars",
    "copy",
    "dataclasses",
    "datetime",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "heapq",
    "inspect",
    "itertools",
    "json",
    "keyword",
    "math",
    "numbers",
    "operator",
    "pkgutil",
    "re",
    "string",
    "struct",
    "sys",
    "textwrap",
    "tomllib",
    "types",
    "typing",
    "unicodedata",
    "zlib",
}
CORE_VENDORS = {"blake3", "numpy"}
SENTENCES = CORE / "text" / "sentences.py"

# Reading a clock, a file, a seed, an address: none of these may decide anything.
IMPURE_CALLS = {
    "__import__",
    "breakpoint",
    "compile",
    "eval",
    "exec",
    "hash",
    "id",
    "input",
    "open",
    "print",
}
CONSTANTS = {"sys.float_info", "sys.getsizeof", "sys.intern", "sys.maxsize", "sys.maxunicode"}
IMPURE_METHODS = {"now", "utcnow", "today", "read_text", "write_text", "read_bytes", "write_bytes"}

# A framework that is imported tells nobody.
SILENT = {"HAYSTACK_TELEMETRY_ENABLED": "False"}

# What a bare `import foveate` must not pull in.
HEAVY = {
    "asyncio", "charset_normalizer", "concurrent", "http",
    "importlib.metadata", "logging", "markdown_it", "multiprocessing", "numpy", "pandas",
    "pathspec", "polars", "pyarrow", "pydantic", "ray", "requests", "rich", "selectolax",
    "sentencex", "snowballstemmer", "socket", "sqlite3", "ssl", "subprocess", "tempfile",
    "threading", "tokenizers", "toktok", "typer", "urllib.request", "wordllama",
}  # fmt: skip


def names(path: Path) -> str:
    """Readable test ids."""
    return short(path).removeprefix("src/foveate/")


@pytest.mark.parametrize("path", CORE_FILES, ids=names)
def test_core_imports_only_what_is_on_the_list(path):
    """The core imports a short list of pure modules, numpy, blake3, and sentencex in one file."""
    allowed = PURE_STANDARD_LIBRARY | CORE_VENDORS
    if path == SENTENCES:
        allowed = allowed | {"sentencex"}

    strangers = [
        f"{short(path)}:{found.line} imports {found.module}"
        for found in imports_of(path)
        if not (
            found.module == "foveate.core"
            or found.module.startswith("foveate.core.")
            or found.module == "foveate._version"
            or found.top in allowed
        )
    ]

    assert strangers == []


def _impure(node: ast.AST) -> str:
    """What is impure about a piece of syntax; empty where nothing is."""
    if isinstance(node, ast.Global):
        return "global"
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "sys":
        return "" if ast.unparse(node) in CONSTANTS else ast.unparse(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id if node.func.id in IMPURE_CALLS else ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr if node.func.attr in IMPURE_METHODS else ""
    return ""


@pytest.mark.parametrize("path", CORE_FILES, ids=names)
def test_core_reads_no_clock_and_does_no_io(path):
    """D1: the core calls nothing that reads a clock, a file, a hash seed or an address."""
    found = [
        f"{short(path)}:{getattr(node, 'lineno', 0)} {what}"
        for node in ast.walk(tree_of(path))
        if (what := _impure(node))
    ]

    assert found == []


def _walked(tree: ast.Module) -> list[ast.expr]:
    """What loops and ordered comprehensions of a module walk over.

    A set or dict comprehension, or an argument of `sorted`, `set`, `min` and the like, gives the
    same whatever the order, so those are left out.
    """
    orderless = {"sorted", "set", "frozenset", "sum", "min", "max", "any", "all", "len"}
    fine: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in orderless:
            fine.update(id(argument) for argument in node.args)
    walked = [n.iter for n in ast.walk(tree) if isinstance(n, ast.For)]
    for node in ast.walk(tree):
        if isinstance(node, ast.ListComp | ast.GeneratorExp) and id(node) not in fine:
            walked.extend(g.iter for g in node.generators)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"list", "tuple", "enumerate"}:
            walked.extend(node.args[:1])
    return walked


@pytest.mark.parametrize("path", CORE_FILES, ids=names)
def test_core_walks_no_set(path):
    """D1: no loop in the core walks over a set as it is written; it is sorted first."""
    found = [
        f"{short(path)}:{walked.lineno} walks {ast.unparse(walked)}"
        for walked in _walked(tree_of(path))
        if isinstance(walked, ast.Set | ast.SetComp)
        or (isinstance(walked, ast.Call) and ast.unparse(walked.func) in {"set", "frozenset"})
    ]

    assert found == []


@pytest.mark.parametrize("path", ALL_FILES, ids=names)
def test_vendors_are_imported_where_they_are_used(path):
    """F1: importing a module of ours loads no vendor but blake3; the faces load their own."""
    allowed = {"blake3", "foveate", *sys.stdlib_module_names}
    inside = path.relative_to(PACKAGE).parts
    if inside[0] == "cli":
        allowed |= {"rich", "typer", "click"}
    if inside[0] == "service":  # a room of its own, which nothing else imports
        allowed |= {"fastapi", "prometheus_client", "starlette", "uvicorn"}
        allowed |= {"pydantic", "pydantic_core", "pydantic_settings"}
    if inside[:2] == ("service", "mcp"):  # imported by who has the extra: http.py looks first
        allowed |= {"anyio", "mcp"}
    if inside[0] == "integrations":  # a module for each, imported by who has it
        allowed |= {"pydantic", "pydantic_core"} | NEWEST_ONLY | MATRIX_ONLY
    if inside[0] == "testing":
        allowed |= {"hypothesis", "pytest"}
    if inside[0] in {"evals", "stores"}:  # what reads vectors and statistics; the door loads none
        allowed |= {"numpy"}
    if inside[:2] == ("stores", "lance"):  # its `__init__` says which extra is missing
        allowed |= {"lance", "pyarrow"}
    if inside[:3] == ("core", "stages", "dedup"):  # `near` imports its finders where it compares
        allowed |= {"numpy"}

    eager = [
        f"{short(path)}:{found.line} imports {found.module}"
        for found in imports_of(path)
        if found.eager and found.top not in allowed and not found.module.startswith(".")
    ]

    assert eager == []


def _fresh(code: str) -> str:
    """What a new interpreter prints; it does not inherit what this one has loaded."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(PACKAGE.parent), "PYTHONHASHSEED": "0", **SILENT},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LOADED = """
import json, sys
before = set(sys.modules)
{}
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def _loaded(code: str) -> list[str]:
    """The modules that the code loads beyond those of a bare interpreter."""
    modules: list[str] = json.loads(_fresh(LOADED.format(code)))
    return modules


def _timed_ms(code: str) -> float:
    """How long a new interpreter takes, in milliseconds."""
    start = time.perf_counter()
    _fresh(code)
    return (time.perf_counter() - start) * 1000


def _cost_ms(code: str, pairs: int = 7) -> tuple[float, float]:
    """(bare, what the code adds to it): medians of runs side by side; for the eye alone."""
    runs = [(_timed_ms("pass"), _timed_ms(code)) for _ in range(pairs)]
    return median(bare for bare, _ in runs), median(ours - bare for bare, ours in runs)


def test_a_cold_import_stays_small(figure):
    """F1: `import foveate` loads no vendor and no slow module; the time is printed, not judged."""
    loaded = _loaded("import foveate")
    bare, added = _cost_ms("import foveate")
    figure(
        f"import foveate: {added:.0f} ms over a bare interpreter ({bare:.0f} ms), "
        f"{len(loaded)} modules"
    )

    heavy = [name for name in loaded if name in HEAVY or name.partition(".")[0] in HEAVY]

    assert heavy == []
    assert len(loaded) < 120


def test_the_front_door_loads_what_a_call_needs():
    """F1: `from foveate import assemble` loads at most 80 of our modules, no stage, no format."""
    loaded = _loaded("from foveate import assemble")
    ours = [name for name in loaded if name.partition(".")[0] == "foveate"]
    registered = ("foveate.core.stages.", "foveate.core.formats.")

    assert len(ours) <= 80
    assert [name for name in ours if name.startswith(registered)] == []


def _module(path: Path) -> str:
    """`foveate.core.types` for its file."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def test_no_import_goes_in_circles():
    """What runs when modules are imported forms no circle, so each of them can come first."""
    modules = {_module(path): path for path in ALL_FILES if path.name != "__main__.py"}
    graph = {
        name: {
            inner if (inner := f"{found.module}.{taken}") in modules else found.module
            for found in imports_of(path)
            for taken in found.names or ("",)
            if found.eager and found.top == "foveate"
        }
        for name, path in modules.items()
    }

    order = list(TopologicalSorter(graph).static_order())

    assert set(modules) <= set(order)


def test_no_import_goes_in_circles_for_types_either():
    """No circle is left when imports inside functions and for type checkers are counted too."""
    modules = {_module(path): path for path in ALL_FILES if path.name != "__main__.py"}
    graph = {name: _imported_modules(tree_of(path), modules) for name, path in modules.items()}

    assert set(TopologicalSorter(graph).static_order()) == set(modules)


def _imported_modules(tree: ast.Module, modules: Iterable[str]) -> set[str]:
    """Our modules that a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in modules else node.module for name in inner}
    return found.intersection(modules)
