"""The reference of names: one page a module, from signatures and docstrings.

Its modules are the packages that say what is theirs (`__all__`), the law suites, and whatever the
documentation names or its Python blocks import, so that nothing shown there is without a
description.
A value that several of them have is described once, in the module with the shortest name.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.docsite.docstrings import escaped, markdown
from tools.docsite.signatures import is_called, signature

FOLDER = "reference/api"
IMPORTED = re.compile(r"^[ \t]*(?:from|import) (foveate[\w.]*)", re.MULTILINE)
TAKEN = re.compile(r"^[ \t]*from (foveate[\w.]*) import ([^(\n]+|\([^)]*)", re.MULTILINE)
NAMED = re.compile(r"`(foveate\.[\w.]*\w)")
ALL = re.compile(r"^__all__ = ", re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LONGEST = 200  # characters of a value that is shown as it is
INTRODUCTION = """# The Python interface

Every public name, from its docstring. What stands in `foveate` is what most programs need; the
others are what these pages import, and what says that it is public.

"""


def modules(root: Path) -> list[str]:
    """Their names, in order."""
    found = set()
    package = root / "src" / "foveate"
    for path in (*package.rglob("__init__.py"), *(package / "testing").glob("[a-z]*.py")):
        if path.parent.name == "testing" or ALL.search(path.read_text(encoding="utf-8")):
            parts = path.relative_to(package.parent).with_suffix("").parts
            found.add(".".join(parts).removesuffix(".__init__"))
    for page in (root / "README.md", *(root / "docs").rglob("*.md")):
        found |= set(_shown(page.read_text(encoding="utf-8"), package.parent))
    return sorted(found)


def _shown(page: str, source: Path) -> Iterator[str]:
    """The modules that a page names in its text, or imports in its Python blocks."""
    for block in PYTHON.findall(page):
        yield from IMPORTED.findall(block)
        for module, names in TAKEN.findall(block):
            whole = (f"{module}.{name}" for name in re.findall(r"\w+", names))
            yield from (one for one in whole if _is_file(one, source))
    for name in NAMED.findall(page):
        yield from (one for one in (name, name.rpartition(".")[0]) if _is_file(one, source))


def _is_file(module: str, source: Path) -> bool:
    return source.joinpath(*module.split(".")).with_suffix(".py").is_file()


def public(module: Any) -> dict[str, Any]:
    """Name -> value: what `__all__` says; else what is written in it and has no underscore."""
    if names := getattr(module, "__all__", None):
        return {name: getattr(module, name) for name in names if not name.startswith("_")}
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", "") == module.__name__
        and (inspect.isclass(value) or inspect.isroutine(value))
    }


def pages(names: list[str]) -> Iterator[tuple[str, str]]:
    """(site name, text) of each module's page, and of the one that they stand under.

    Where a value is written they say by its module's name.
    """
    loaded = {name: importlib.import_module(name) for name in names}
    homes = _homes(loaded)
    lines = (f"- [`{name}`](api/{name}.md): {_first(one)}\n" for name, one in loaded.items())
    yield FOLDER, INTRODUCTION + "".join(lines)
    for name, module in loaded.items():
        parts = [f"# {name}", markdown(module), f"```{{py:module}} {name}\n```"]
        for called, value in sorted(public(module).items(), key=lambda one: one[0].lower()):
            home = homes.get(id(value), f"{name}.{called}")
            parts.append(
                _entry(called, value, homes)
                if home == f"{name}.{called}"
                else f"{{py:obj}}`{called} <{home}>` is described with the names of "
                f"[{home.rpartition('.')[0]}]({home.rpartition('.')[0]}.md)."
            )
        yield f"{FOLDER}/{name}", "\n\n".join(parts) + "\n"


def _homes(loaded: Mapping[str, Any]) -> dict[int, str]:
    """`id` of a class or a function -> the full name under which it is described."""
    found: dict[int, str] = {}
    for name in sorted(loaded, key=lambda one: (-len(one), one)):
        for called, value in public(loaded[name]).items():
            if inspect.isclass(value) or inspect.isroutine(value):
                found[id(value)] = f"{name}.{called}"
    return found


def _first(thing: Any) -> str:
    """The first line."""
    return escaped((inspect.getdoc(thing) or "").partition("\n")[0])


def _entry(name: str, value: Any, homes: Mapping[int, str]) -> str:
    """A class with its methods, a function, or a value."""
    ours = str(getattr(value, "__module__", "")).startswith("foveate")
    where = f"\n\nWritten in `{value.__module__}`." if ours else ""
    if inspect.isclass(value):
        inner = "\n\n".join(_member(called, one, homes) for called, one in _members(value))
        kind = "exception" if issubclass(value, BaseException) else "class"
        made = signature(value, homes) if is_called(value) else ""
        return _directive(7, kind, f"{name}{made}", f"{markdown(value)}{where}\n\n{inner}")
    if inspect.isroutine(value):
        awaited = ":async:\n" * inspect.iscoroutinefunction(value)
        head = f"{name}{signature(value, homes)}"
        return _directive(7, "function", head, markdown(value) + where, awaited)
    shown = repr(value)
    plain = len(shown) < LONGEST and "`" not in shown and " at 0x" not in shown
    return _directive(7, "data", name, f"`{shown}`" if plain else "")


def _members(value: type) -> list[tuple[str, Any]]:
    """Its own public methods and properties, in the order they are written."""
    wanted = (property, classmethod, staticmethod)
    return [
        (name, member)
        for name, member in vars(value).items()
        if not name.startswith("_") and (isinstance(member, wanted) or inspect.isfunction(member))
    ]


def _member(name: str, member: Any, homes: Mapping[int, str]) -> str:
    if isinstance(member, property):
        return _directive(5, "property", name, markdown(member))
    options, static = "", isinstance(member, staticmethod)
    if isinstance(member, classmethod | staticmethod):
        options = ":staticmethod:\n" if static else ":classmethod:\n"
        member = member.__func__
    options += ":async:\n" * inspect.iscoroutinefunction(member)
    head = f"{name}{signature(member, homes, bare=not static)}"
    return _directive(5, "method", head, markdown(member), options)


def _directive(ticks: int, kind: str, head: str, body: str, options: str = "") -> str:
    fence = "`" * ticks
    return f"{fence}{{py:{kind}}} {head}\n{options}\n{body.strip()}\n{fence}"
