"""The first, the last and all errors of a log file, through an index and a search."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import foveate
from foveate.core.types import ERRORS


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[foveate.DocumentStore]:
    """A log of some hundred chunks, with an error every hour, and others at both ends."""
    folder = tmp_path_factory.mktemp("logs")
    entries = [
        f"2024-05-{1 + n // 1440:02} {n // 60 % 24:02}:{n % 60:02}:00 "
        + (
            f"ERROR harbour: error {n} of crane {n % 7}"
            if n % 60 == 7 and n < 2_850
            else f"INFO boat {n} moored"
        )
        for n in range(2_880)
    ]
    entries[5] = "2024-05-01 00:05:00 ERROR gate: no power for lamp 3 (attempt 1)"
    entries[6] = "2024-05-01 00:06:00 ERROR gate: no power for lamp 3 (attempt 2)"
    entries[2_850] = "2024-05-02 23:30:00 ERROR gate: barrier 9 stuck half open"
    (folder / "harbour.log").write_text("\n".join(entries))
    (folder / "notes.md").write_text("# Notes\n\nThe harbour log is kept for 30 days.\n")
    with foveate.open_store(folder / "store") as opened:
        assert not opened.index(folder / "harbour.log").failed
        assert not opened.index(folder / "notes.md").failed
        yield opened


LAST = ["what is the last error in harbour.log", "the most recent failure", "latest error"]
FIRST = ["what is the first error in harbour.log", "the earliest failure", "erster Fehler"]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        *((question, "barrier 9 stuck half open") for question in LAST),
        *((question, "lamp 3 (attempt 1)") for question in FIRST),
    ],
)
def test_the_chunk_with_the_asked_error_comes_with_a_hit(
    store: foveate.DocumentStore, question: str, answer: str
) -> None:
    """U1, S5: though the search ranks a hundred other chunks with errors before it.

    The entry behind the first error differs from it in a number alone.
    """
    assert answer in store.assemble(question, budget=120).text


def test_all_errors_include_those_at_both_ends(store: foveate.DocumentStore) -> None:
    """U1, S5: whatever the search found between."""
    shown = store.assemble("Which errors are in the harbour log?", budget=600).text

    assert "(attempt 1)" in shown
    assert "(attempt 2)" in shown
    assert "barrier 9 stuck half open" in shown


def test_each_chunk_of_a_log_says_where_the_errors_are(store: foveate.DocumentStore) -> None:
    """S5: before a chunk and behind it, at both ends of those that differ in numbers; no prose."""
    chunks = store.store.neighbours([("harbour.log", n) for n in range(0, 700, 7)], 3)
    texts = {chunk.sequence: chunk.text for chunk in chunks}
    ((first, crane, last),) = {tuple(chunk.metadata[ERRORS]) for chunk in chunks}
    (notes,) = store.store.neighbours([("notes.md", 0)], 0)

    assert "attempt 1" in texts[first]
    assert "error 2827 of crane" in texts[crane]
    assert "barrier 9" in texts[last]
    assert ERRORS not in notes.metadata


@pytest.mark.parametrize("name", ["gate.log", "gate.jsonl"])
@pytest.mark.parametrize(
    ("question", "error"), [("the first error", "lamp 3"), ("the last error", "barrier 9")]
)
def test_rows_of_json_with_a_level_are_entries(
    tmp_path: Path, name: str, question: str, error: str
) -> None:
    """U1, S5: in one document, or in a document for each row."""
    rows = [{"time": n, "level": "info", "event": f"boat {n} moored"} for n in range(90)]
    for at, event in ((20, "lamp 3 has no power"), (50, "tide lost"), (70, "barrier 9 stuck")):
        rows[at] |= {"level": "error", "event": event}
    (tmp_path / name).write_text("\n".join(map(json.dumps, rows)))
    with foveate.open_store(tmp_path / "store") as opened:
        assert not opened.index(tmp_path / name).failed
        assert error in opened.assemble(f"What is {question} in {name}?", budget=60).text


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What was the last error of the gate?", "barrier 9"),
        ("Last error of pilot", "lost radar"),
        ("Which errors did the gate have?", "barrier 9"),
    ],
)
def test_the_errors_of_a_component_are_found_among_those_of_others(
    tmp_path: Path, question: str, answer: str
) -> None:
    """U1, S5: what wrote an entry stands behind its level; its calm entries say "no errors"."""
    entries = [
        f"2024-05-{1 + n // 1440:02} {n // 60 % 24:02}:{n % 60:02}:00 "
        f"INFO [{('gate', 'pilot', 'crane')[n % 3]}] check {n * 7919 % 9973} ok, no errors"
        for n in range(2_400)
    ]
    for at, error in {
        300: "[crane] rope worn",
        900: "[pilot] lost radar",
        1_500: "[gate] barrier 9 stuck",
        2_100: "[crane] brake hot",
    }.items():
        entries[at] = f"{entries[at][:20]}ERROR {error}"
    (tmp_path / "quay.log").write_text("\n".join(entries))
    with foveate.open_store(tmp_path / "store") as opened:
        assert not opened.index(tmp_path / "quay.log").failed
        shown = opened.assemble(question, budget=150).text

    assert answer in shown
    assert "[crane]" not in shown


def test_components_whose_names_differ_in_numbers_are_told_apart(tmp_path: Path) -> None:
    """U1, S5: the errors of each are stored with the log, though their texts are alike."""
    entries = [
        f"2024-05-01 {n // 60:02}:{n % 60:02}:00 "
        f"{'ERROR' if n % 9 == 5 else 'INFO'} [web-0{1 + n // 300}] lost line {n} of {n * 7 % 90}"
        for n in range(1_200)
    ]
    (tmp_path / "web.log").write_text("\n".join(entries))
    with foveate.open_store(tmp_path / "store") as opened:
        assert not opened.index(tmp_path / "web.log").failed
        shown = opened.assemble("What was the last error of web-02?", budget=150).text

    assert [line for line in entries if "ERROR [web-02]" in line][-1] in shown


@pytest.mark.parametrize("question", ["the last error of order-4030", "first error of order-4100"])
def test_errors_of_what_the_question_names_come_before_those_of_others(question: str) -> None:
    """U4: another order's error is later, or earlier, and is not what was asked."""
    lines = [f"2024-05-01 {n:02}:00:00 INFO order-{4000 + n} shipped" for n in range(20)]
    lines[5] = "2024-05-01 05:00:00 ERROR order-4030 payment refused"
    lines[9] = "2024-05-01 09:00:00 ERROR order-4100 address unknown"
    pool = [{"text": "\n".join(lines), "source": "shop.log", "score": 0.5}]
    text = foveate.assemble(question, pool, budget=50).text

    assert f"ERROR {question[-10:]}" in text
    assert text.count("ERROR") == 1


@pytest.mark.parametrize(
    ("question", "error"),
    [
        ("the last error of billing", "card refused"),
        ("the last error in billing.log", "page missing"),
        ("the last error of the billing log", "page missing"),
    ],
)
@pytest.mark.parametrize("folder", ["", "billing/"])
def test_the_name_of_a_file_in_the_question_is_no_component(
    question: str, error: str, folder: str
) -> None:
    """U1: and a component may have the name of a folder or file."""
    lines = [f"2024-05-01 {n:02}:00:00 INFO [web] page {n} served" for n in range(20)]
    lines[5] = "2024-05-01 05:00:00 ERROR [billing] card refused"
    lines[9] = "2024-05-01 09:00:00 ERROR [web] page missing"
    pool = [{"text": "\n".join(lines), "source": f"{folder}billing.log", "score": 0.5}]
    text = foveate.assemble(question, pool, budget=50).text

    assert error in text
    assert text.count("ERROR") == 1
