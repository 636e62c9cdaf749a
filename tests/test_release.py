"""What is tried before a release: each extra, each Python, the licence of each package."""

from __future__ import annotations

import re
import subprocess

import pytest
from tools.extras import APART, EXTRAS

from project import PROJECT
from source_tree import ROOT


def test_every_extra_has_the_one_thing_it_is_tried_with():
    """F1: no extra is published that `make wheels` does not install alone and use."""
    extras = set(PROJECT["optional-dependencies"])

    assert set(EXTRAS) == extras - {"all"}


def test_what_is_apart_is_no_part_of_all():
    """F6: `all` brings every extra but the frameworks', which one has or has not."""
    (everything,) = PROJECT["optional-dependencies"]["all"]
    inside = set(re.findall(r"[a-z-]+", everything.partition("[")[2]))
    brought = {"openai", "anthropic", "ollama"}  # by `models`

    assert inside | brought == set(EXTRAS) - set(APART)


def test_every_package_has_a_licence_that_is_allowed():
    """F1: the small install has permissive licences alone; each licence of the rest is named."""
    done = subprocess.run(
        ["make", "-s", "licences"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    listed = (ROOT / "build/release/licences-default.md").read_text(encoding="utf-8")
    assert "| numpy " in listed
    assert "| psycopg " not in listed


@pytest.fixture
def project(tmp_path):
    """A repository that is ready but for its tag."""
    (tmp_path / "src/foveate").mkdir(parents=True)
    (tmp_path / "src/foveate/_version.py").write_text('__version__ = "0.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.2.0 (2027-01-02)\n\n- It is.\n")
    (tmp_path / "changelog.d").mkdir()
    (tmp_path / "changelog.d/README.md").write_text("# What is new\n")
    (tmp_path / "pyproject.toml").write_text('"Development Status :: 3 - Alpha",\n')
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text())
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "Be")
    return tmp_path


def git(root, *words):
    """One command of git, as somebody."""
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


def passes(root, item):
    """Whether an item of `make release-check` does."""
    return subprocess.run(["make", "-s", item], cwd=root, check=False).returncode == 0


@pytest.mark.parametrize(
    ("item", "file", "text"),
    [
        ("clean-tree", "left.txt", "?"),
        ("changelog", "CHANGELOG.md", "# Changelog\n\n## 0.2.0 (unreleased)\n"),
        ("changelog", "CHANGELOG.md", "# Changelog\n\n## 0.1.0 (2027-01-02)\n"),
        ("changelog", "CHANGELOG.md", "# Changelog\n"),
        ("changelog", "changelog.d/+tab.added.md", "Complete by Tab.\n"),
        ("status", "pyproject.toml", '"Development Status :: 5 - Production/Stable",\n'),
        ("status", "src/foveate/_version.py", '__version__ = "1.0.0"\n'),
    ],
)
def test_what_is_not_ready_is_no_pass(item, file, text, project):
    """F1: each item passes on a project that is ready, and fails on one that is not."""
    assert passes(project, item)

    (project / file).write_text(text)

    assert not passes(project, item)


def test_the_tag_is_at_this_commit(project):
    """F1: no tag, a branch of its name, the tag, and the tag of an older commit."""
    assert not passes(project, "tag")
    git(project, "branch", "v0.2.0")
    assert not passes(project, "tag")
    git(project, "tag", "v0.2.0")
    assert passes(project, "tag")
    git(project, "commit", "-q", "--allow-empty", "-m", "Go on")
    assert not passes(project, "tag")
