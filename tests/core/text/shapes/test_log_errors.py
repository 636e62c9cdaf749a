"""Which errors a question is about, and where they stand in a text."""

from __future__ import annotations

import pytest

from foveate.core.text.shapes.find import find_shapes
from foveate.core.text.shapes.log_errors import component, find_errors, which_errors
from foveate.core.types import WhichErrors

QUESTIONS: dict[WhichErrors, list[str]] = {
    "first": [
        "What was the first error?",
        "the first of the errors",
        "the first time an error occurred",
        "Which job was the first job to fail?",
        "When did the error first occur?",
        "Qual \u00e8 il primo errore?",
        "Wat was de eerste fout?",
    ],
    "last": [
        "When did the error last occur?",
        "the last errors",
        "Which errors came last?",
        "the last time an error occurred",
    ],
    "all": [
        "the first and last error",
        "How many failures were there?",
        "Show me the errors of the db service in app.log",
        "list all failures",
        "Which errors did the gate have?",
        "What errors has the db service reported?",
        "Quelles erreurs?",
    ],
}
OTHERS = [
    "What is the first error budget of the team?",
    "Which error rates are normal?",
    "Which faults does the press have?",
    "Which exceptions are there to the policy?",
    "Which errors does the catalog name?",
    "Which errors did the minister admit?",
    "What is the first aid for crash victims?",
    "Erste Hilfe bei Fehlern",
    "At first there was no error.",
    "no errors first",
    "Which error should I fix first?",
    "the latest issue of the magazine",
    "the final exception to the rule",
    "the most recent problem set",
    "the recent issuer",
    "How does the importer treat errors?",
    "Who came first?",
    "the failure in first.log",
]
ENTRIES = (
    "10:00:01 INFO start",
    "10:00:02 ERROR disk full",
    "10:00:03 INFO retry",
    "10:00:04 FATAL gave up",
    "10:00:05 INFO end",
)
ROWS = (
    '{"level": "info", "msg": "no error"}',
    '{"msg": "disk full", "level": "ERROR"}',
    '{"level": "info", "msg": "level: error"}',
    '{"severity": "fatal", "msg": "gave up"}',
    '{"level": "info", "msg": "end"}',
)


@pytest.mark.parametrize(
    ("question", "which"), [(q, which) for which, some in QUESTIONS.items() for q in some]
)
def test_a_question_is_about_the_first_the_last_or_all_errors(
    question: str, which: WhichErrors
) -> None:
    """U1: in several languages, before the word for an error and behind it."""
    assert which_errors(question) == which


@pytest.mark.parametrize(
    "behind",
    ["", "?", "? Answer in two sentences.", "?\n\nUse JSON.", ". Be brief.", "\nAnswer in JSON.",
     "?? Thanks", "? Could you answer in two sentences?", "? Is that bad? And why?"],
)  # fmt: skip
@pytest.mark.parametrize(
    ("question", "which"),
    [
        ("Which errors occurred", "all"),
        ("What failure came first", "first"),
        ("Which failure came last", "last"),
    ],
)
def test_instructions_may_follow_the_question(
    question: str, which: WhichErrors, behind: str
) -> None:
    """U1: the last question of a request says which errors it is about."""
    assert which_errors(question + behind) == which


@pytest.mark.parametrize(
    "request_",
    [
        "The screen does not show any errors. What is the torque of the valve?",
        "I fixed all errors. When does the warranty end?",
        "Does the parser handle all errors? How long does it take?",
        "The error came first. How long did the backup take?",
        "I fixed all errors. Can you say when the warranty ends?",
    ],
)
def test_errors_before_another_question_are_not_asked_for(request_: str) -> None:
    """U1: what is said before the last question asks for nothing."""
    assert which_errors(request_) is None


@pytest.mark.parametrize("question", OTHERS)
def test_a_question_that_only_sounds_so_is_about_no_error(question: str) -> None:
    """U1: the words alone decide then."""
    assert which_errors(question) is None


@pytest.mark.parametrize("lines", [ENTRIES, ROWS])
@pytest.mark.parametrize(("which", "places"), [("first", [1]), ("last", [3]), ("all", [1, 3])])
def test_errors_are_found_by_their_level(
    lines: tuple[str, ...], which: WhichErrors, places: list[int]
) -> None:
    """U1: of entries, and of rows of JSON by the field that has it alone."""
    text = "\n".join(lines)

    assert [unit for _, unit in find_errors(text, find_shapes(text), which)] == places


def test_rows_are_a_log_only_if_the_question_is_about_certain_errors() -> None:
    """U1: accidents have levels, too."""
    text = "\n".join(ROWS)

    assert find_errors(text, find_shapes(text), None) == []


@pytest.mark.parametrize("entry", ["ERROR [mail] full", "ERROR mail: full", "[error] mail - full"])
def test_the_component_stands_behind_the_level(entry: str) -> None:
    """U1: in brackets, or before a colon or dash."""
    assert component(f"10:00:02 {entry}") == "mail"


@pytest.mark.parametrize(
    "entry",
    ["ERROR Error: connect refused", "FATAL ERROR: heap is full", "ERROR failed: the job",
     "ERROR The - sign is wrong", "ERROR last: 7", "ERROR What: no name", "ERROR mailbox full"],
)  # fmt: skip
def test_words_that_any_question_about_errors_has_are_no_component(entry: str) -> None:
    """U1: or each such question would name it."""
    assert component(f"10:00:02 {entry}") == ""
