"""What is new: one file a change, put together at a release, and what is written stays."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import foveate
from source_tree import ROOT

FRAGMENTS = ROOT / "changelog.d"
LINE = "<!-- releases: the newest below this line -->\n"


@pytest.fixture
def project(tmp_path) -> Path:
    """A project of its own with our settings, our changelog and no change yet."""
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / FRAGMENTS.name).mkdir()
    shutil.copy(FRAGMENTS / "README.md", tmp_path / FRAGMENTS.name)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def put_together(project: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Let the tool make the next release's part."""
    return subprocess.run(
        [
            *(sys.executable, "-m", "towncrier", "build"),
            *("--version", "0.2.0", "--date", "2027-01-02", *options),
        ],
        cwd=project,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_a_release_is_put_before_the_others_and_changes_none(project):
    """Each change is under its kind; what was written about earlier releases stays to the byte."""
    folder = project / FRAGMENTS.name
    (folder / "+tab.added.md").write_text("Complete by Tab.\n", encoding="utf-8")
    (folder / "+pdf.fixed.md").write_text("Read a PDF without pages.\n", encoding="utf-8")
    before, _, earlier = (project / "CHANGELOG.md").read_text(encoding="utf-8").partition(LINE)

    done = put_together(project, "--yes")

    assert done.returncode == 0, done.stderr
    written = (project / "CHANGELOG.md").read_text(encoding="utf-8")
    assert written.startswith(before + LINE)
    assert written.endswith(earlier)
    assert written[len(before + LINE) : -len(earlier)].split("\n") == [
        *("", "## 0.2.0 (2027-01-02)", ""),
        *("### Added", "", "- Complete by Tab.", ""),
        *("### Fixed", "", "- Read a PDF without pages.", "", ""),
    ]
    assert [path.name for path in folder.iterdir()] == ["README.md"]


def test_a_file_of_another_name_is_refused(project):
    """A kind that does not exist would be lost in silence; it is an error instead."""
    (project / FRAGMENTS.name / "+tab.new.md").write_text("Complete by Tab.\n", encoding="utf-8")

    done = put_together(project, "--draft")

    assert done.returncode == 1
    assert "Invalid news fragment name: +tab.new.md" in done.stdout + done.stderr


def test_our_own_changes_are_well_formed():
    """Each is one paragraph of whole sentences, and the tool takes all their names."""
    done = put_together(ROOT, "--draft")
    assert done.returncode == 0, done.stdout + done.stderr

    for path in FRAGMENTS.glob("+*.md"):
        text = path.read_text(encoding="utf-8").strip()
        assert text.endswith("."), f"{path.name}: whole sentences"
        assert "\n\n" not in text, f"{path.name}: one paragraph"
        assert text[0].isupper(), f"{path.name}: whole sentences"


def test_the_changelog_names_this_version():
    """F1: the newest release that it lists is the one that the package says it is."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = text.partition(LINE)[2].strip().splitlines()[0]

    assert newest.startswith(f"## {foveate.__version__} (")
