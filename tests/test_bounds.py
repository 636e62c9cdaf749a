"""The small tools of `make`: each fails where what it looks at is not there, or is another's."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.metadata import Distribution
from pathlib import Path

import pytest
from tools import install_size, sizes, smoke

import fuzz
from source_tree import ROOT

MAKE = str(shutil.which("make"))


def test_the_smoke_test_asks_the_installed_program(tmp_path, monkeypatch):
    """F1: a source tree on PYTHONPATH, as a release's check has one, does not stand in for it."""
    program = tmp_path / "foveate"
    program.write_text('#!/bin/sh\necho "${PYTHONPATH-nothing}"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(smoke, "FOVEATE", program)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))

    assert smoke.run("--version") == "nothing\n"


def test_an_install_without_foveate_has_no_size(tmp_path):
    """F1: an environment of nothing is not small, and a package of unknown files is not empty."""
    words = [sys.executable, "-I", "-S", str(ROOT / "tools" / "install_size.py"), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False)
    info = tmp_path / "harbour_tide-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: harbour-tide\nVersion: 1.0\n", encoding="utf-8")

    assert done.returncode == 1
    assert "foveate is not installed here" in done.stderr
    with pytest.raises(SystemExit, match="harbour-tide has no list of its files"):
        install_size.on_disk(Distribution.at(info))


def test_a_house_without_files_is_none(tmp_path, monkeypatch):
    """Where the source is not found nothing was measured."""
    monkeypatch.setattr(sizes, "SOURCE", tmp_path)

    with pytest.raises(SystemExit, match="no file in"):
        sizes.main()


def test_no_case_is_no_pass(monkeypatch, capsys):
    """A fuzzer that is to try nothing says so."""
    monkeypatch.setattr("sys.argv", ["fuzz", "--cases", "0"])

    with pytest.raises(SystemExit):
        fuzz.main()
    assert "1 at least" in capsys.readouterr().err


@pytest.fixture
def project(tmp_path) -> Path:
    """A folder with the commands, as if everything were installed, and no git."""
    folder = tmp_path / "a folder"
    for name in ("requirements/dev.lock", "requirements/weights.lock", "tools/install.py",
                 "pyproject.toml", ".venv/made.stamp", ".venv/dev.stamp"):  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("", encoding="utf-8")
    shutil.copy(ROOT / "Makefile", folder)
    return folder


def test_what_is_published_comes_from_a_commit(project, monkeypatch):
    """F1: without one there are no time stamps to build with, and nothing is built."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.parent))

    done = subprocess.run(
        [MAKE, "dist", f"PY={sys.executable}"],
        cwd=project, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip

    assert done.returncode == 2
    assert "dist: the time stamps are those of the commit" in done.stderr


def test_what_is_published_is_what_is_looked_into(project):
    """F1: the files in dist/ are held to what they must hold, not others that are like them."""
    words = [MAKE, "-n", "dist", "contents"]
    done = subprocess.run(words, cwd=project, capture_output=True, encoding="utf-8", check=True)

    told = [line for line in done.stdout.splitlines() if line.endswith("tests/test_artefacts.py")]
    assert [line.split()[0] for line in told] == ["FOVEATE_DIST=dist"] * 2


@pytest.mark.parametrize(("options", "one_by_one"), [((), True), (("BESIDE=yes",), False)])
def test_only_the_checks_run_side_by_side(options, one_by_one, project):
    """Parts that write the same folders wait for one another, whatever `-j` says."""
    done = subprocess.run(
        [MAKE, "-npj2", "help", *options],
        cwd=project, capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip

    assert (".NOTPARALLEL:" in done.stdout.splitlines()) is one_by_one
