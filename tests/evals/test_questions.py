"""Questions from a CSV file, with candidates from a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from foveate import open_store
from foveate.core.errors import BadInput
from foveate.evals.questions import read_questions, retrieve_pools
from foveate.evals.read import read_cases

SHEET = """question,evidence,answer
When does the valve open?,Above three bar the valve opens.,three bar
When does the valve open?,"It opens early, at two bar, in winter.",
"What is cleaned, and when?",Clean its filter every spring.,
"""
PAGES = {
    "boiler.md": (
        "# Boiler\n\nAbove three bar the valve opens.\n\nIt opens early, at two bar, in winter."
    ),
    "pump.md": "# Pump\n\nThe pump starts at one bar. Clean its filter every spring.",
}


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    """A CSV file of questions beside a folder of the documents that answer them."""
    for name, text in PAGES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    path = tmp_path / "mine.csv"
    path.write_text(SHEET, encoding="utf-8")
    return path


def test_rows_of_one_question_are_one_case(sheet: Path) -> None:
    """E1: evidence in several places has a row for each; the file names the set."""
    cases = [case for _, case in read_questions(str(sheet))]

    assert [case.question for case in cases] == [
        "When does the valve open?",
        "What is cleaned, and when?",
    ]
    assert [len(case.evidence) for case in cases] == [2, 1]
    assert cases[0].answers == ("three bar",)
    assert {case.dataset for case in cases} == {"mine"}
    assert read_cases([str(sheet)], pools=False) == tuple(cases)


def test_a_cell_of_several_lines_keeps_its_words_apart(tmp_path: Path) -> None:
    """E1: a spreadsheet writes lines within a cell between quotes."""
    path = tmp_path / "mine.csv"
    path.write_text('question,evidence\nWhat opens?,"The valve\nopens at two bar."\n')

    ((_, case),) = read_questions(str(path))

    assert case.evidence[0].text.split() == ["The", "valve", "opens", "at", "two", "bar."]


def test_every_answer_to_a_question_counts(tmp_path: Path) -> None:
    """E1: where each row of a question has an answer of its own, each is right."""
    path = tmp_path / "mine.csv"
    path.write_text("question,evidence,answer\nWhen?,In May.,May\nWhen?,In spring.,spring\n")

    ((_, case),) = read_questions(str(path))

    assert case.answers == ("May", "spring")


def test_candidates_come_from_the_store(sheet: Path, tmp_path: Path) -> None:
    """E1: each question gets what a search finds, and chunks that hold its evidence are gold."""
    with open_store(str(tmp_path / "store")) as store:
        for name in PAGES:
            store.index(str(tmp_path / name))
        cases = retrieve_pools(read_cases([str(sheet)], pools=False), store, 5)

    for case in cases:
        gold = [passage.text for passage in case.chunks if passage.is_gold]
        assert gold
        assert all(any(one.text in text for text in gold) for one in case.evidence)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q,evidence\na,b\n", "no column question"),
        ("question,evidence\nWhy?,\n", "row 2: evidence is empty"),
        ('question,evidence\nWhy?,"open\n', "close every quote"),
        ("question,evidence\n", "holds no cases"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    """X1: a sheet that cannot be read says which row, and what it lacks."""
    path = tmp_path / "sheet.csv"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(BadInput, match=message):
        read_cases([str(path)], pools=False)


def test_a_sheet_wants_a_store(sheet: Path) -> None:
    """X1: without candidates there is nothing to choose from; the error says where to take them."""
    with pytest.raises(BadInput, match="--store URL"):
        read_cases([str(sheet)])
