"""What must not stand in the repository, and what every test must do."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from source_tree import ROOT, short, test_functions, tracked_files

# Spelled in pieces, so that this file does not find itself.
FORBIDDEN = {
    "a package registry's host": re.compile(
        "py" + r"pi\.org|python" + r"hosted\.org|npm" + r"js\.|artifact" + "ory"
    ),
    "an index setting": re.compile("(?:extra-)?index" + r"-url\s*[=h]|--find" + r"-links\s*[=/]"),
    "a machine's path": re.compile(
        r"(?<![\w.>:/~-])/(?:wo" + r"rk|tm" + r"p|ro" + r"ot|ho" + r"me|Us" + r"ers)/\w"
    ),
    "a secret": re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE" + r" KEY|\bAK" + r"IA[0-9A-Z]{16}\b"
        r"|\bgh[pousr]" + r"_[A-Za-z0-9]{30}|\bsk" + r"-[A-Za-z0-9_-]{30}"
    ),
    "an unfinished note": re.compile(r"\b(?:TO" + "DO|FIX" + r"ME|XX" + r"X)\b"),
    "a merge mark": re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE),
}
ASSERTING = ("assert_", "check_", "_assert", "_check", "obeys_", "fails_")


def texts() -> list[Path]:
    """The tracked files that are text."""
    return [path for path in tracked_files() if b"\0" not in path.read_bytes()[:4096]]


def test_nothing_is_passed_over_outside_of_a_checkout(monkeypatch):
    """Where git knows nothing of it, as in an unpacked archive, whatever is published is read."""
    tracked = {path for path in tracked_files() if not short(path).startswith(".")}
    monkeypatch.setenv("GIT_DIR", str(ROOT / "nowhere"))

    assert tracked - set(tracked_files()) == set()


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("a machine's path", "open('/ho" + "me/ann/notes.md')"),
        ("a machine's path", "cd /Us" + "ers/ann"),
        ("a secret", "-----BEGIN RSA PRIVATE" + " KEY-----"),
        ("a secret", "key = 'sk" + "-proj-" + "a1B2" * 8 + "'"),
        ("a secret", "AK" + "IA" + "A1B2" * 4),
    ],
)
def test_what_is_looked_for_is_found(what, line):
    """A path of somebody's machine and a key are known by their form."""
    assert FORBIDDEN[what].search(line)


@pytest.mark.parametrize("what", FORBIDDEN)
def test_nothing_forbidden_is_tracked(what):
    """No registry host, machine path, unfinished note or merge mark in any tracked file."""
    found = [
        f"{short(path)}:{number}: {line.strip()[:80]}"
        for path in texts()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if FORBIDDEN[what].search(line)
    ]

    assert found == []


def test_text_files_are_plain():
    """UTF-8, Unix line ends, one newline at the end, and small enough to read."""
    found = []
    for path in texts():
        data = path.read_bytes()
        if b"\r" in data and path.suffix in {".py", ".md", ".toml"}:
            found.append(f"{short(path)}: carriage return")
        if data and not data.endswith(b"\n") and path.suffix in {".py", ".md", ".toml"}:
            found.append(f"{short(path)}: no newline at the end")
        if len(data) > 1_000_000:
            found.append(f"{short(path)}: {len(data):,} bytes")

    assert found == []


def _asserts(function: ast.AST) -> bool:
    """Whether a test can fail for a reason: an assert, an expected error, a call of a check."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in {"pytest.raises", "pytest.warns", "pytest.fail"}:
                return True
            if called.startswith("expect("):  # of a page: `expect(page.locator(…)).to_have_text(…)`
                return True
            if called.rpartition(".")[2].startswith(ASSERTING):
                return True
    return False


def test_every_test_asserts_something():
    """A test without an assert proves nothing."""
    found = [f"{short(p)}:{f.lineno} {f.name}" for p, f in test_functions() if not _asserts(f)]

    assert found == []


def test_every_test_says_what_it_proves():
    """Each test has a docstring with the behaviour in its first line."""
    found = [
        f"{short(p)}:{f.lineno} {f.name}"
        for p, f in test_functions()
        if not (ast.get_docstring(f) or "").strip()
    ]

    assert found == []


def test_no_test_is_skipped_or_sleeps():
    """No skip, no expected failure, no sleep: a test runs, and it waits for nothing."""
    banned = {"pytest.skip", "pytest.xfail", "time.sleep", "pytest.importorskip"}
    marks = ("pytest.mark.skip", "pytest.mark.skipif", "pytest.mark.xfail")
    found = []
    for path, function in test_functions():
        calls = [n for n in ast.walk(function) if isinstance(n, ast.Call)]
        found += [f"{short(path)}:{c.lineno}" for c in calls if ast.unparse(c.func) in banned]
        found += [
            f"{short(path)}:{mark.lineno}"
            for mark in function.decorator_list
            if ast.unparse(mark).startswith(marks)
        ]

    assert found == []


def test_the_repository_is_where_the_tests_think():
    """The root holds the files that a newcomer looks for."""
    expected = {"README.md", "DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "Makefile"}

    assert expected - {path.name for path in ROOT.iterdir()} == set()
