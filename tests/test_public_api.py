"""The public names: complete, documented, and pinned in tests/golden/api.txt."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from dataclasses import is_dataclass
from types import ModuleType
from typing import Any

import pytest

import foveate
from source_tree import MATRIX_ONLY, PACKAGE, needs, python_files, short, tree_of

PUBLIC = sorted(getattr(foveate, "__all__", ()))
MODULES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in python_files(PACKAGE)
    if not path.stem.startswith("_") or path.stem == "__init__"
    if path.parent.parent.name != "integrations" and path.parent.name != "integrations"
]
ADAPTERS = python_files(PACKAGE / "integrations")
FACES = [path for path in ADAPTERS if needs(MATRIX_ONLY, path)]


def _visible() -> set[str]:
    """What tab completion offers, submodules apart."""
    future = set(importlib.import_module("__future__").all_feature_names)
    return {
        name
        for name in dir(foveate)
        if not name.startswith("_")
        and name not in future
        and not isinstance(getattr(foveate, name), ModuleType)
    }


def test_all_is_what_is_visible():
    """F1: `__all__` names exactly what can be seen, dunders apart."""
    actual = {name for name in foveate.__all__ if not name.startswith("_")}

    assert actual == _visible()
    assert len(foveate.__all__) == len(set(foveate.__all__))
    assert isinstance(foveate.__version__, str)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_says_what_it_is(name):
    """F1: each public class and function has a docstring of its own, and so do its methods."""
    value = getattr(foveate, name)
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        assert value is not None
        return

    said = inspect.getdoc(value) or ""

    assert said != "", f"{name} has no docstring"
    assert not said.startswith(f"{name}("), f"{name} has only the docstring a dataclass makes"
    for method, function in _methods(value):
        assert inspect.getdoc(function), f"{name}.{method} has no docstring"


@pytest.mark.parametrize("module", MODULES)
def test_every_module_opens_with_what_it_is(module):
    """Each module says what it is, and its `__all__` names what exists."""
    loaded = importlib.import_module(module)

    assert (loaded.__doc__ or "").strip() != "", f"{module} has no docstring"
    assert [n for n in getattr(loaded, "__all__", ()) if not hasattr(loaded, n)] == []


@pytest.mark.parametrize("path", ADAPTERS, ids=short)
def test_every_adapter_opens_with_what_it_is(path):
    """Each says what it is; the packages that it imports are in environments of their own."""
    assert ast.get_docstring(tree_of(path))


@pytest.mark.parametrize("path", FACES, ids=short)
def test_every_face_for_agents_opens_with_what_it_is(path):
    """Each says what it is, and so does the class in it; `make matrix` imports them."""
    tree = tree_of(path)
    (face,) = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name[0] != "_"]

    assert ast.get_docstring(tree)
    assert ast.get_docstring(face)


def test_signatures_are_pinned(golden):
    """F1: a change of the public signatures shows in tests/golden/api.txt."""
    actual = "".join(f"{line}\n" for name in PUBLIC for line in _lines(name))

    golden.check_text("api.txt", actual)


def _methods(value: Any) -> list[tuple[str, Any]]:
    """A class's own public methods and properties, in the order they are written."""
    if not inspect.isclass(value):
        return []
    found = []
    for name, member in vars(value).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            found.append((name, member))
        elif isinstance(member, classmethod | staticmethod):
            found.append((name, member.__func__))
        elif inspect.isfunction(member):
            found.append((name, member))
    return found


def _annotation(value: Any) -> str:
    """An annotation as it is written in the source."""
    if value is inspect.Signature.empty:
        return ""
    return value if isinstance(value, str) else inspect.formatannotation(value)


def _signature(value: Any, indent: str = "") -> str:
    """The signature, one parameter a line where it is long; no addresses."""
    signature = inspect.signature(value)
    shown, star = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            star = True
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            shown, star = [*shown, "*"], True
        text = str(parameter.replace(annotation=parameter.empty, default=parameter.empty))
        if annotation := _annotation(parameter.annotation):
            text += f": {annotation}"
        if parameter.default is not parameter.empty:
            text += " = " + re.sub(r" at 0x[0-9a-f]+", "", repr(parameter.default))
        shown.append(text)
    returns = f" -> {r}" if (r := _annotation(signature.return_annotation)) else ""
    line = f"({', '.join(shown)}){returns}"
    if len(line) < 80:
        return line
    inner = "".join(f"\n{indent}    {text}," for text in shown)
    return f"({inner}\n{indent}){returns}"


def _lines(name: str) -> list[str]:
    """How a public name is written in the golden file."""
    value = getattr(foveate, name)
    if inspect.isclass(value):
        bases = ", ".join(b.__name__ for b in value.__bases__ if b is not object)
        lines = [f"class {name}({bases})" if bases else f"class {name}"]
        if is_dataclass(value) or "__init__" in vars(value):
            lines.append(f"    {_signature(value, '    ')}")
        for method, member in _methods(value):
            if isinstance(member, property):
                returns = (member.fget.__annotations__ if member.fget else {}).get("return", "")
                lines.append(f"    {method}: {returns}")
            else:
                lines.append(f"    {method}{_signature(member, '    ')}")
        return lines
    if inspect.isroutine(value):
        return [f"{name}{_signature(value)}"]
    if name.startswith("__"):
        return [f"{name}: {type(value).__name__}"]
    return [f"{name} = {value!r}" if len(repr(value)) < 200 else f"{name}: {type(value).__name__}"]
