"""The list before a release: each item looks at the real thing, and none passes unseen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tools.release_check import (
    FAILED,
    ITEMS,
    NO_ANSWER,
    NOT_HERE,
    OK,
    Item,
    Outcome,
    changelog,
    clean,
    program,
    tag,
    through,
)


def git(root: Path, *words: str) -> None:
    """One command of git, as somebody."""
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path) -> Path:
    """A repository that is ready but for its tag."""
    (tmp_path / "src/foveate").mkdir(parents=True)
    (tmp_path / "src/foveate/_version.py").write_text('__version__ = "0.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.2.0 (2027-01-02)\n\n- It is.\n")
    (tmp_path / "changelog.d").mkdir()
    (tmp_path / "changelog.d/README.md").write_text("# What is new\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "Be")
    return tmp_path


def test_a_tree_is_clean_or_it_is_said_what_is_not(project):
    """A file that nobody committed is named."""
    assert clean(project) == Outcome(state=OK, said="0 changed files")

    (project / "left.txt").write_text("?")

    assert clean(project) == Outcome(state=FAILED, said="1 changed files, ?? left.txt …")


@pytest.mark.parametrize(
    ("text", "waiting", "state"),
    [
        ("## 0.2.0 (2027-01-02)\n", "", OK),
        ("## 0.2.0 (unreleased)\n", "", FAILED),
        ("## 0.1.0 (2027-01-02)\n", "", FAILED),
        ("Nothing yet.\n", "", FAILED),
        ("## 0.2.0 (2027-01-02)\n", "+tab.added.md", FAILED),
        ("## 0.2.0 (2027-01-02)\n", "+tab.added.txt", FAILED),
    ],
)
def test_the_changelog_names_this_version_with_its_date(text, waiting, state, project):
    """The newest release is this one, dated, and no change waits to be put in."""
    (project / "CHANGELOG.md").write_text(text)
    if waiting:
        (project / f"changelog.d/{waiting}").write_text("Complete by Tab.\n")

    assert changelog(project).state == state


def test_the_tag_is_at_this_commit(project):
    """No tag, the tag, and the tag of an older commit."""
    assert tag(project) == Outcome(state=FAILED, said="no tag v0.2.0")
    git(project, "tag", "v0.2.0")
    assert tag(project) == Outcome(state=OK, said="v0.2.0")
    git(project, "commit", "-q", "--allow-empty", "-m", "Go on")
    assert tag(project).state == FAILED


def test_what_is_no_tag_is_none(project, tmp_path_factory):
    """A branch of the tag's name is no tag; without a commit, or without git, nothing passes."""
    git(project, "branch", "v0.2.0")
    assert tag(project) == Outcome(state=FAILED, said="no tag v0.2.0")

    (project / ".git").rename(tmp_path_factory.mktemp("away") / "git")
    assert tag(project).state == FAILED
    git(project, "init", "-q")
    assert tag(project).state == FAILED


@pytest.mark.parametrize(("code", "state"), [(0, OK), (NO_ANSWER, NOT_HERE), (1, FAILED)])
def test_a_command_decides_by_its_exit_code(code, state, project):
    """What could not be found out is neither well nor bad; the end of what it said is shown."""
    words = (sys.executable, "-c", f"print('a'); print('b'); raise SystemExit({code})")

    assert program(*words, no_answer=NO_ANSWER)(project) == Outcome(state=state, said="b")
    # of a program that is not ours, pytest for one, that code is a failure
    assert program(*words)(project).state == (OK if code == 0 else FAILED)


@pytest.mark.parametrize(
    ("states", "quick", "code"),
    [
        ((OK, OK), False, 0),
        ((OK, NOT_HERE), False, NO_ANSWER),
        ((NOT_HERE, FAILED), False, 1),
        ((OK, OK), True, NO_ANSWER),
    ],
)
def test_only_a_whole_list_passes(states, quick, code, project, capsys):
    """One failure fails; what was not found out, or left out, is no pass either."""
    items = [
        Item(name=f"item {n}", mend="mend it", look=lambda _, s=s: Outcome(state=s), slow=n == 1)
        for n, s in enumerate(states)
    ]

    assert through(items, project, quick=quick) == code
    said = capsys.readouterr().out
    assert said.count("-> mend it") == sum(s in {FAILED, NOT_HERE} for s in states)


def test_every_item_says_what_to_do():
    """No two of one name, and none without a remedy."""
    assert len({item.name for item in ITEMS}) == len(ITEMS)
    assert [item.name for item in ITEMS if not item.mend] == []
