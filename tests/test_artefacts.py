"""What is published: the wheel and the source archive, built here and looked into.

FOVEATE_DIST names a folder of this repository where both are: those are looked into then.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path, PurePosixPath

import pytest

import foveate
from source_tree import ROOT, short

NAME = f"foveate-{foveate.__version__}"
WHEEL = f"{NAME}-py3-none-any.whl"
ARCHIVE = f"{NAME}.tar.gz"
# Of a checkout, not of what is published.
LEFT_OUT = {".ci", ".dockerignore"}


def build(project: Path, out: Path, stamp: int = 1_700_000_000) -> Path:
    """Build both of a project, with a time stamp of seconds since 1970; gives the folder."""
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(out)],
        cwd=project,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(stamp)},
    )
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """Both, of this source."""
    return at_hand() or build(ROOT, tmp_path_factory.mktemp("built"))


def at_hand() -> Path | None:
    """The folder of what is to be published, where there is one."""
    folder = os.environ.get("FOVEATE_DIST")
    return ROOT / folder if folder else None


@pytest.fixture(scope="module")
def archived(built) -> set[str]:
    """The files of the source archive, without its one folder."""
    with tarfile.open(built / ARCHIVE) as archive:
        return {member.name.removeprefix(f"{NAME}/") for member in archive if member.isfile()}


@pytest.fixture(scope="module")
def packed(built) -> set[str]:
    """The files of the wheel."""
    with zipfile.ZipFile(built / WHEEL) as wheel:
        return set(wheel.namelist())


def ours() -> set[str]:
    """The files of this source: those that git tracks, and those that it would."""
    done = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return {short(p) for name in done.stdout.split("\0") if name and (p := ROOT / name).is_file()}


def metadata(built: Path) -> Message:
    """What the wheel says of itself."""
    with zipfile.ZipFile(built / WHEEL) as wheel:
        return message_from_bytes(wheel.read(f"{NAME}.dist-info/METADATA"))


def test_the_source_archive_holds_the_repository_and_nothing_else(archived):
    """Whatever is tracked is in it, but what only a checkout needs; nothing that lies about."""
    wanted = {name for name in ours() if PurePosixPath(name).parts[0] not in LEFT_OUT}

    assert archived - {"PKG-INFO"} == wanted


def test_the_wheel_holds_the_package_and_nothing_else(packed):
    """F1: every file of the package, data and `py.typed` among them; no test and no tool."""
    package = {n.removeprefix("src/") for n in ours() if n.startswith("src/foveate/")}
    about = {
        f"{NAME}.dist-info/{name}"
        for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
    }

    assert packed == package | about
    assert {
        "foveate/py.typed",
        "foveate/models.toml",
        "foveate/pipeline/prompts/grounded.en.md",
        "foveate/service/playground/page/index.html",
    } <= packed


def test_both_are_built_again_to_the_byte(built, tmp_path):
    """From the archive alone, in another folder, come the same archive and the same wheel."""
    with tarfile.open(built / ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
        stamp = int(archive.getmembers()[0].mtime)

    again = build(tmp_path / NAME, tmp_path / "again", stamp)

    assert (again / WHEEL).read_bytes() == (built / WHEEL).read_bytes()
    assert (again / ARCHIVE).read_bytes() == (built / ARCHIVE).read_bytes()


def test_the_metadata_says_what_is_so(built):
    """F1: version, licence, Python, and what is known about it; no address that does not exist."""
    said = metadata(built)
    classified = said.get_all("Classifier", [])

    assert said["Version"] == foveate.__version__
    assert said["License-Expression"] == "Apache-2.0"
    assert said["Requires-Python"] == ">=3.11"
    assert said["Description-Content-Type"] == "text/markdown"
    assert said["Summary"]
    assert said["Author"]
    assert "rag" in said["Keywords"].split(",")
    assert {"Typing :: Typed", "Programming Language :: Python :: 3.11"} <= set(classified)
    assert said.get_all("Project-URL", []) == []


def test_the_licence_is_shipped_whole(built):
    """The text in the wheel is that of the repository."""
    with zipfile.ZipFile(built / WHEEL) as wheel:
        shipped = wheel.read(f"{NAME}.dist-info/licenses/LICENSE")

    assert shipped == (ROOT / "LICENSE").read_bytes()
