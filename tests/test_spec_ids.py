"""Every promise has a test that names it: the ids of tests/spec_ids.txt against the docstrings."""

from __future__ import annotations

import ast
import re

from source_tree import TESTS, short, test_functions

ID = r"[ABCDEFIJKPRSTUVWX]\d{1,2}"
LEAD = re.compile(rf"\s*(?P<ids>{ID}(?:(?:\s*[,;/&+]\s*|\s+and\s+|\s+){ID})*)\b")


def promised() -> dict[str, str]:
    """Id → what, from the table."""
    rows = (TESTS / "spec_ids.txt").read_text(encoding="utf-8").splitlines()
    pairs = (row.split(maxsplit=1) for row in rows if row and not row.startswith("#"))
    return {name: what.strip() for name, what in pairs}


def named_by(docstring: str) -> list[str]:
    """The ids that a docstring starts with.

    >>> named_by("S3, D1: the best-scored copy is kept")
    ['S3', 'D1']
    >>> named_by("Keeps S3 quiet")
    []
    """
    found = LEAD.match(docstring)
    return re.findall(r"[A-Z]\d+", found["ids"]) if found else []


def proofs() -> dict[str, list[str]]:
    """Id → the tests that name it."""
    found: dict[str, list[str]] = {}
    for path, function in test_functions():
        for name in named_by(ast.get_docstring(function) or ""):
            found.setdefault(name, []).append(f"{short(path)}::{function.name}")
    return found


def test_ids_are_read_from_the_start_of_a_docstring():
    """Only ids at the very start count, in any usual list form."""
    assert named_by("S3: text") == ["S3"]
    assert named_by("B1, R3 and C1: text") == ["B1", "R3", "C1"]
    assert named_by("P1/packing: text") == ["P1"]
    assert named_by("The S3 stage") == []


def test_every_promise_is_named_by_a_test(figure):
    """Each id of the table is proved by a test; the table and the tests cannot drift apart."""
    proved = proofs()
    missing = [f"{name}: {what}" for name, what in promised().items() if name not in proved]
    named = sum(len(tests) for name, tests in proved.items() if name in promised())
    figure(f"{len(promised()) - len(missing)} of {len(promised())} promises, {named} proofs")

    assert missing == []
