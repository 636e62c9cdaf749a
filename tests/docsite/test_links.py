"""Links of pages that are written for a code host, on the site."""

from __future__ import annotations

import fcntl
import io
import re
import shutil

import pytest
from tools.docsite import build
from tools.docsite.build import made_of
from tools.docsite.links import Broken, led
from tools.docsite.order import SECTIONS, placed
from tools.docsite.pages import Pages, with_output_apart
from tools.docsite.sources import write_sources

from source_tree import ROOT

FILES = {
    "README.md": "# Farm\n\n[the well](docs/well.md), [a program](src/dig.py)\n",
    "DESIGN.md": "# Design\n",
    "CONTRIBUTING.md": "# Contributing\n",
    "CHANGELOG.md": "# Changelog\n",
    "docs/README.md": "# Pages\n\n[start](../README.md)\n",
    "docs/well.md": "# Well\n\n## How deep\n\n[tools](../src), [deep](#how-deep), `[a](b.md)`\n",
    "src/dig.py": 'print("<deeper>")\n',
    "src/secrets/key.txt": "k3y\n",
    ".gitignore": "src/secrets/\n",
}


@pytest.fixture
def repository(tmp_path):
    """A repository of a few pages and one program."""
    for name, text in FILES.items():
        path = tmp_path / "repository" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "repository"


def test_links_lead_to_pages_of_the_site(repository):
    """A page is found under its name on the site, a file and a folder have pages of their own."""
    pages = Pages(repository)

    assert pages.texts["index"].endswith(
        "[the well](well.md), [a program](source:source/src/dig.py.html)\n"
    )
    assert pages.texts["pages"] == "# Pages\n\n[start](index.md)\n"
    assert "[tools](source:source/src.html), [deep](#how-deep), `[a](b.md)`" in pages.texts["well"]
    assert pages.sources == {"src", "src/dig.py"}


def test_files_that_are_named_are_shown(repository, tmp_path):
    """A folder's page leads to its files, but those git ignores; their text is no markup."""
    assert write_sources(repository, {"src"}, tmp_path / "out") == 2

    folder = (tmp_path / "out" / "source" / "src.html").read_text(encoding="utf-8")
    program = (tmp_path / "out" / "source" / "src" / "dig.py.html").read_text(encoding="utf-8")
    assert re.findall(r'<a href="(src/.*?)">', folder) == ["src/dig.py.html"]
    assert "&lt;deeper&gt;" in program
    assert "<deeper>" not in program


@pytest.mark.parametrize("target", ["gone.md", "../../etc/passwd", "../gone.py#L3", "/well.md"])
def test_a_link_that_leads_nowhere_is_named(target, repository):
    """The error says page and target, and nothing outside of the repository is looked at."""
    with pytest.raises(Broken, match=r"docs/well\.md: a link to .*"):
        led(f"[x]({target})", "docs/well.md", "well.md", Pages(repository).place)


def test_fences_and_addresses_are_left_alone():
    """What stands in a program is no link, and neither page nor anchor elsewhere is changed."""
    text = "[x](https://example.org/a.md) [y](#z)\n\n```python\nf = [a](gone.md)\n```\n"

    assert led(text, "docs/a.md", "a.md", lambda _: None) == text


def test_a_new_page_finds_its_place():
    """A page that the order does not name stands at the end, and is not lost."""
    found = dict(placed(["index", "store", "brand-new", "service-x", "reference/stages/pack"]))

    assert found == {"Operations": ["store", "service-x"], "More": ["brand-new"]}


def test_our_pages_stand_where_the_order_says():
    """Each name of the order is a page's: one that is misspelt would leave its page at the end."""
    names = {*Pages(ROOT).texts, "reference/api"}
    wanted = {one.removesuffix("*") for several in SECTIONS.values() for one in several} - {""}

    assert [one for one in wanted if not any(name.startswith(one) for name in names)] == []
    assert "releasing" in dict(placed(names))["Operations"]


def test_output_stands_apart():
    """What a program prints is a block of its own; a block with output in between stays whole."""
    apart = with_output_apart("```python\nprint(1)\n# > 1\n```\n")
    whole = "```python\nprint(1)\n# > 1\nprint(2)\n# > 2\n```\n"

    assert apart == "```python\nprint(1)\n```\n\n```{code-block} text\n:class: output\n\n1\n```\n"
    assert with_output_apart(whole) == whole


@pytest.mark.filterwarnings("ignore:.*Check CHANGES for Sphinx API")  # the parser's own
def test_whatever_is_wrong_with_a_page_stops_the_build(tmp_path):
    """An anchor that is not there, a page that nothing leads to, a program that is none."""
    wrong = {
        "index": "# A\n\n[b](b.md#gone)\n\n```{toctree}\nb\n```\n",
        "b": '# B\n\n```json\n{"a": …}\n```\n',
        "lonely": "# Lonely\n",
    }
    (tmp_path / "in").mkdir()
    for name, text in wrong.items():
        (tmp_path / "in" / f"{name}.md").write_text(text, encoding="utf-8")
    said = io.StringIO()

    assert made_of(tmp_path / "in", tmp_path / "out", said, jobs=1) == 1
    assert "index.md:3" in said.getvalue()
    assert "gone" in said.getvalue()
    assert "b.md:3" in said.getvalue()
    assert "lonely.md" in said.getvalue()


def test_the_site_is_made_anew_where_anything_of_it_changed(repository, tmp_path, monkeypatch):
    """What pages name outside of the folders that are always read counts, and a page that is gone.

    Who comes meanwhile waits.
    """
    made = []

    def generator(source, out, said):
        with (
            out.with_name(f"{out.name}-lock").open("w") as lock,
            pytest.raises(BlockingIOError),
        ):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        (out / "index.html").write_text("", encoding="utf-8")
        made.append(source)
        return 0

    monkeypatch.setattr(build, "made_of", generator)
    monkeypatch.setattr(build.api, "modules", lambda root: [])
    rules = repository / "rules" / "well.txt"
    rules.parent.mkdir()
    rules.write_text("Close it.", encoding="utf-8")
    (repository / "docs" / "well.md").write_text("# Well\n\n[rules](../rules/well.txt)\n", "utf-8")

    def count():
        build.build(repository, tmp_path / "out")
        return len(made)

    assert (count(), count()) == (1, 1)
    rules.write_text("Cover it.", encoding="utf-8")
    assert (count(), count()) == (2, 2)
    (tmp_path / "out" / "index.html").unlink()
    assert (count(), count()) == (3, 3)
    rules.unlink()
    with pytest.raises(Broken, match=r"docs/well\.md: a link to"):
        count()
