"""What foveate brings along may be brought along: each package's licence is known and allowed."""

from __future__ import annotations

import pytest
from tools import licences
from tools.licences import DEFAULT, PERMISSIVE, WEAK, is_allowed, licence, packages

OSI = "Classifier: License :: OSI Approved"


def test_every_package_of_every_extra_may_be_there():
    """F1: a licence that nobody named or nobody can tell is not let in by the way."""
    found = packages()

    assert [f"{one.name}: {one.licence}" for one in found if not one.allowed] == []
    assert {"numpy", "psycopg"} <= {one.name for one in found}


def test_the_small_install_has_permissive_licences_alone():
    """F1: weak copyleft comes with an extra that one chooses, never by itself."""
    small = [one for one in packages() if one.extras == (DEFAULT,)]

    assert [one.name for one in small if not is_allowed(one.licence, PERMISSIVE)] == []
    assert not is_allowed("MPL-2.0", PERMISSIVE)
    assert is_allowed("MPL-2.0 AND MIT", PERMISSIVE | WEAK)


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only AND MIT", False),
        ("(AGPL-3.0-only OR ISC) AND Zlib", True),
        ("AGPL-3.0-only", False),
        ("A licence of my own", False),
        ("", False),
    ],
)
def test_of_choices_one_is_enough_and_of_parts_all_are_needed(expression, allowed):
    """An expression is read as it is meant."""
    assert is_allowed(expression, PERMISSIVE) is allowed


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("License-Expression: MIT OR Apache-2.0", "MIT OR Apache-2.0"),
        ("License: Apache 2.0", "Apache-2.0"),
        ("License: MIT License\n        \n        Copyright 2020", "MIT"),
        ("Classifier: License :: OSI Approved :: BSD License", "BSD-3-Clause"),
        ("License: Do what you like", ""),
        ("Summary: It says nothing", ""),
        ("License: MIT\nClassifier: License :: OSI Approved", "MIT"),
        # a classifier that is not known counts, whatever stands beside it
        (f"{OSI} :: MIT License\n{OSI} :: GNU General Public License v3 (GPLv3)", ""),
        ("License: MIT\nClassifier: License :: Other/Proprietary License", ""),
        (f"License: MIT\n{OSI} :: Mozilla Public License 2.0 (MPL 2.0)", "(MIT) AND MPL-2.0"),
    ],
)
def test_a_licence_is_read_however_it_is_said(said, expected, tmp_path, monkeypatch):
    """An expression, an old name, the text itself or a classifier; else it is unknown."""
    info = tmp_path / "harbour_tide-1.0.dist-info"
    info.mkdir()
    text = f"Metadata-Version: 2.4\nName: harbour-tide\nVersion: 1.0\n{said}\n"
    (info / "METADATA").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    assert licence("harbour-tide") == expected


def test_what_is_for_other_machines_is_among_them(monkeypatch):
    """F1: a package that is not installed here was read elsewhere, or it is not let in."""
    found = {one.name: one for one in packages()}

    assert "mcp" in found["pywin32"].extras
    assert found["pywin32"].version
    assert found["pywin32"].allowed
    assert not is_allowed(found["pywin32"].licence, PERMISSIVE)
    assert set(licences.ELSEWHERE) <= set(found)
    monkeypatch.setattr(licences, "ELSEWHERE", {})
    assert not licences.package("pywin32", ("mcp",)).allowed
