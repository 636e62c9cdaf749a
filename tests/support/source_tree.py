"""Reads our own source as syntax trees, for the tests that are about the source itself."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "foveate"
CORE = PACKAGE / "core"
TESTS = ROOT / "tests"
MADE = {"build", "dist", "demo-data", "__pycache__"}
"""Folders that are not written by hand."""
NEWEST_ONLY = {"haystack", "langchain_core", "llama_index"}
"""What is installed in the environments of `make newest`, `make oldest` and `make matrix` alone."""
MATRIX_ONLY = {"langchain", "litellm", "pydantic_ai"}
"""What is installed in the environments of `make matrix` alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One import statement; `names`: what it takes from the module.

    `eager`: it runs when the module that holds it is imported.
    """

    module: str
    line: int
    eager: bool
    names: tuple[str, ...] = ()

    @property
    def top(self) -> str:
        """The distribution's top-level name."""
        return self.module.partition(".")[0]


def python_files(folder: Path) -> list[Path]:
    """Every Python file below a folder, in order."""
    return sorted(folder.rglob("*.py"))


def tree_of(path: Path) -> ast.Module:
    """The file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def short(path: Path) -> str:
    """The path as one reads it in a message."""
    return path.relative_to(ROOT).as_posix()


def imports_of(path: Path) -> Iterator[Import]:
    """All imports of a file; those under `if TYPE_CHECKING` are left out."""
    yield from _imports(tree_of(path).body, eager=True)


def needs(packages: set[str], path: Path) -> bool:
    """Whether importing the file imports one of these packages."""
    text = path.read_text(encoding="utf-8")
    return any(name in text for name in packages) and any(
        found.eager and found.top in packages for found in imports_of(path)
    )


def _imports(body: list[ast.stmt], *, eager: bool) -> Iterator[Import]:
    for node in body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module=alias.name, line=node.lineno, eager=eager)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            names = tuple(alias.name for alias in node.names)
            yield Import(module=module, line=node.lineno, eager=eager, names=names)
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            yield from _imports(node.orelse, eager=eager)
        else:
            inner = not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                    nested = [child] if isinstance(child, ast.stmt) else child.body
                    yield from _imports(nested, eager=eager and inner)


def _is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def test_functions() -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every test function and method in tests/."""
    for path in python_files(TESTS):
        if not path.name.startswith("test_"):
            continue
        for node in ast.walk(tree_of(path)):
            function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if function and node.name.startswith("test_"):
                yield path, node


test_functions.__test__ = False  # type: ignore[attr-defined]  # it lists tests, it is none


def tracked_files() -> list[Path]:
    """The files that git tracks; all that are not made here where this is no checkout."""
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False, encoding="utf-8"
    )
    if done.returncode == 0 and done.stdout:
        return sorted(
            p for name in done.stdout.split("\0") if name and (p := ROOT / name).is_file()
        )
    parts = [(path, path.relative_to(ROOT).parts) for path in ROOT.rglob("*") if path.is_file()]
    return sorted(
        path
        for path, inner in parts
        if not MADE & set(inner) and not any(part.startswith(".") for part in inner)
    )
