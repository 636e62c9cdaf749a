"""The frameworks: their oldest releases are tested, and what the pages say of them."""

from __future__ import annotations

import re

from project import PROJECT
from source_tree import ROOT

FACES = ("langchain", "llama-index", "haystack", "tables")


def test_the_page_says_the_versions_of_the_extras():
    """F6: docs/frameworks.md names the oldest release of each, as pyproject.toml does."""
    page = (ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8")

    for face in FACES:
        for requirement in PROJECT["optional-dependencies"][face]:
            assert f"| {requirement.replace('>=', ' ')} |" in page


def test_every_run_meets_the_oldest_releases_too():
    """F6, F1: what `make oldest` installs stands at the lower bounds that are promised."""
    lock = (ROOT / "requirements" / "oldest.lock").read_text(encoding="utf-8")
    pinned = {line.partition(" ")[0] for line in lock.splitlines()}
    asked = [*PROJECT["dependencies"]]
    for face in FACES[:3]:
        asked += PROJECT["optional-dependencies"][face]
    commands = (ROOT / "Makefile").read_text(encoding="utf-8")

    for requirement in asked:
        name, version = re.split("[=>]=", requirement)
        assert any(re.fullmatch(rf"{name}=={re.escape(version)}[.0]*", one) for one in pinned), name
    assert re.search(r"^test:(.*\n\t)+.* BESIDE=yes .* unit ", commands, re.MULTILINE)
    assert re.search(r"^BEFORE := \$\(if \$\(BESIDE\),.* newest oldest ", commands, re.MULTILINE)
    assert re.search(r"^unit: .*\$\(BEFORE\)", commands, re.MULTILINE)
