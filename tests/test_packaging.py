"""What is installed: locks, declared dependencies, entry points and imports agree."""

from __future__ import annotations

import ast
import re
import sys
from importlib.metadata import entry_points, version

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import foveate
from project import GROUPS, PROJECT, pinned_versions
from source_tree import PACKAGE, ROOT, imports_of, python_files, short, tree_of

LOCKS = ("base", "local", "image", "build", "uv", "dev")

# Import name → distribution, where they differ.
DISTRIBUTION = {
    "haystack": "haystack-ai",
    "lance": "pylance",
    "llama_index": "llama-index-core",
    "opentelemetry": "opentelemetry-sdk",
    "pydantic": "pydantic-settings",  # which it comes with, as with the frameworks
    "pydantic_core": "pydantic-settings",
    "starlette": "fastapi",  # the same
    "toktok": "toktok-rs",
}
# One import name of several distributions, or one that is data.
SHARED = {
    "ollama": {"httpx"},
    "opentelemetry-sdk": {"opentelemetry-exporter-otlp-proto-http"},
}
# What `make oldest` is about.
FACES = ("langchain", "llama-index", "haystack", "tables")
# Used where the user has them, never required: frames and agents of the caller's choice.
WELCOME = {"agents", "pandas", "polars", "pyarrow", "langchain", "litellm", "pydantic-ai"}


def _name(requirement: str) -> str:
    """The distribution's name in a requirement line."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return found[0].lower().replace("_", "-")


def test_locks_hold_what_is_declared():
    """The bare lock covers the dependencies, the others what `local`, `all` and frameworks add."""
    extras = PROJECT["optional-dependencies"]
    bare = {_name(r) for r in PROJECT["dependencies"]}
    local = bare | {_name(r) for r in extras["local"]}
    apart = {_name(r) for face in FACES[:3] for r in extras[face]}
    everything = local | {_name(r) for extra in extras for r in extras[extra]} - {"foveate"} - apart

    assert bare - set(pinned_versions("base")) == set()
    assert local - set(pinned_versions("local")) == set()
    assert everything - set(pinned_versions("dev")) == set()
    assert apart - set(pinned_versions("frameworks")) == set()


@pytest.mark.parametrize("lock", [*LOCKS, "oldest"])
def test_locks_obey_what_is_declared(lock):
    """F1: a bound that was raised, or a pin that was moved, is in every lock that has the name."""
    oldest = lock == "oldest"
    extras, groups = PROJECT["optional-dependencies"], {**GROUPS}
    late = groups.pop("oldest")
    extras = {name: extras[name] for name in FACES} if oldest else extras
    groups = {"oldest": late} if oldest else groups
    declared = [one for several in (*extras.values(), *groups.values()) for one in several]
    declared = [one for one in (*PROJECT["dependencies"], *declared) if isinstance(one, str)]
    pins = pinned_versions(lock)

    assert [
        f"{asked} is declared, {version} is pinned"
        for asked in map(Requirement, declared)
        for version in pins.get(canonicalize_name(asked.name), ())
        if not asked.specifier.contains(version, prereleases=True)
    ] == []


def test_locks_agree_on_versions():
    """One package has one version, whichever lock it is installed from."""
    dev = pinned_versions("dev")

    for lock in LOCKS[:-1]:
        for name, versions in pinned_versions(lock).items():
            assert versions <= dev[name], f"{name} in {lock}.lock and dev.lock"
    for name, versions in pinned_versions("frameworks").items():
        assert versions <= dev.get(name, versions), f"{name} in frameworks.lock and dev.lock"


def test_the_development_lock_is_small():
    """F1: whoever develops installs at most 200 packages."""
    assert len(pinned_versions("dev")) <= 200


@pytest.mark.parametrize("lock", [*LOCKS, "weights", "oldest"])
def test_locks_pin_hashes_and_name_no_host(lock):
    """Each pin has hashes, and no lock says where a package is fetched from."""
    text = (ROOT / "requirements" / f"{lock}.lock").read_text(encoding="utf-8")
    pins = re.split(r"\n(?=[a-z0-9])", text.strip())

    assert "://" not in text
    assert [pin.split()[0] for pin in pins if "--hash=sha256:" not in pin] == []


def _vendors() -> set[str]:
    """The distributions that src imports from, here or there."""
    modules = {found.top for path in python_files(PACKAGE) for found in imports_of(path)}
    found = {
        DISTRIBUTION.get(name, name.replace("_", "-"))
        for name in modules - {"", "foveate", *sys.stdlib_module_names}
    }
    return found.union(*(more for name, more in SHARED.items() if name in found))


def _declared() -> set[str]:
    """The dependencies, those of the extras included."""
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    return {_name(requirement) for group in groups for requirement in group} - {"foveate"}


def test_what_is_imported_is_declared_and_the_other_way_round():
    """What src imports is declared, or welcome where the user has it; nothing is declared idly."""
    assert _vendors() - _declared() - WELCOME == set()
    assert _declared() - _vendors() == set()


def test_what_is_missing_is_in_the_extra_that_is_named():
    """X1, F1: no error sends anybody to an extra that is not there, or brings something else."""
    extras = PROJECT["optional-dependencies"]
    named = [
        (f"{short(path)}:{node.lineno}", *(arg.value for arg in node.args))
        for path in python_files(PACKAGE)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "MissingExtra"
        if all(isinstance(arg, ast.Constant) for arg in node.args)
    ]

    assert len(named) >= 20
    assert [one for one in named if one[1] not in map(_name, extras.get(one[2], ()))] == []


def test_what_comes_without_extras_is_justified():
    """F1: DESIGN.md says of each dependency what it takes, what for, and why not without it."""
    section = (ROOT / "DESIGN.md").read_text(encoding="utf-8").partition("## The small install")[2]
    rows = re.findall(
        r"^\| ([a-z0-9-]+) \| [0-9.]+ \| [0-9.]+ \| (.{40,}) \|$", section, re.MULTILINE
    )

    assert {name for name, _ in rows} == {_name(one) for one in PROJECT["dependencies"]}


def test_no_module_uses_relative_imports():
    """Imports say where a thing lives, in full."""
    found = [
        f"{short(path)}:{found.line}"
        for path in python_files(PACKAGE)
        for found in imports_of(path)
        if found.module.startswith(".")
    ]

    assert found == []


def test_the_version_comes_from_one_place():
    """F1: the package says the version that its metadata says."""
    assert foveate.__version__ == version("foveate")


def test_our_own_entry_points_load():
    """P2, S12: every name that we register through the plugin door can be loaded."""
    declared = PROJECT.get("entry-points", {})

    for group, names in declared.items():
        registered = {e.name: e for e in entry_points(group=group) if e.value in names.values()}
        assert set(names) - set(registered) == set(), f"{group}: reinstall with make"
        for name, entry in registered.items():
            assert entry.load() is not None, f"{group}: {name}"
