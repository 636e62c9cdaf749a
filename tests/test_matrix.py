"""The matrix of frameworks: what it would make, and what the pages say of it."""

from __future__ import annotations

import re
import runpy

import pytest
from tools.matrix import FRAMEWORKS, PROJECT, Release, oldest, releases

from source_tree import ROOT


def test_each_framework_has_its_oldest_and_its_newest():
    """F6: the oldest is the bound of the extra, the newest has none, and their tests exist."""
    found = list(releases(list(FRAMEWORKS)))
    extras = PROJECT["optional-dependencies"]

    by_name: dict[str, Release] = {one.name: one for one in found}
    for name, framework in FRAMEWORKS.items():
        asked = extras.get(framework.extra, [])
        assert set(asked) <= set(by_name[f"{name}-newest"].wanted)
        if asked:
            assert oldest(asked[0]) in by_name[f"{name}-oldest"].wanted
    for one in found:
        assert one.tests
        assert [t for t in one.tests if not (ROOT / "tests" / "integrations" / t).exists()] == []


def test_an_extra_without_an_oldest_release_is_refused():
    """F6: a bound is NAME>=VERSION, nothing else."""
    assert oldest("haystack-ai>=2.10.0") == "haystack-ai==2.10.0"
    with pytest.raises(SystemExit, match="names no oldest release"):
        oldest("haystack-ai")


def test_the_page_says_the_versions_of_the_extras():
    """F6: docs/frameworks.md names the oldest release of each, as pyproject.toml does."""
    page = (ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8")
    extras = PROJECT["optional-dependencies"]

    for framework in FRAMEWORKS.values():
        for requirement in extras.get(framework.extra, []):
            assert f"| {requirement.replace('>=', ' ')} |" in page


def test_the_example_shows_each_framework(capsys):
    """F6: examples/frameworks.py runs, and each context has its first source once."""
    runpy.run_path(str(ROOT / "examples" / "frameworks.py"), run_name="__main__")
    shown = capsys.readouterr().out

    for name in ("LangChain", "LlamaIndex", "Haystack"):
        after = shown.partition(f"{name}, assembled:")[2].partition(", joined as it is")[0]
        assert after.count("Keep the pressure") == 1
        assert "[1] boiler.md\nKeep the pressure between one and two bar." in after


def test_every_run_meets_the_oldest_releases_too():
    """F6, F1: what `make oldest` installs stands at the lower bounds that are promised."""
    lock = (ROOT / "requirements" / "oldest.lock").read_text(encoding="utf-8")
    pinned = {line.partition(" ")[0] for line in lock.splitlines()}
    asked = [*PROJECT["dependencies"]]
    for face in ("langchain", "llama-index", "haystack"):
        asked += PROJECT["optional-dependencies"][face]
    commands = (ROOT / "Makefile").read_text(encoding="utf-8")

    for requirement in asked:
        name, version = re.split("[=>]=", requirement)
        assert any(re.fullmatch(rf"{name}=={re.escape(version)}[.0]*", one) for one in pinned), name
    assert re.search(r"^test:.* oldest ", commands, re.MULTILINE)
