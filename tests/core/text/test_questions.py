"""Questions inside of a longer request."""

from __future__ import annotations

import pytest

from foveate.core.text.questions import MOST_QUESTIONS, inner_questions


@pytest.mark.parametrize(
    ("request_text", "language", "questions"),
    [
        ("Who feeds the cat?", "en", []),
        ("Tell me who feeds the cat. Thanks.", "en", []),
        ("Who feeds the cat? Who feeds the cat?", "en", ["Who feeds the cat?"]),
        ("Dear all,\n\nwho feeds the cat?\n\nMany thanks", "en", ["who feeds the cat?"]),
        (
            "He asked \u201cWho feeds it?\u201d Then he left.",
            "en",
            ["He asked \u201cWho feeds it?\u201d"],
        ),
        (
            "\u4f60\u597d\u3002\u8c01\u5582\u732b\uff1f\u8c22\u8c22\u3002",
            "zh",
            ["\u8c01\u5582\u732b\uff1f"],
        ),
    ],
)
def test_the_sentences_with_a_question_mark(
    request_text: str, language: str, questions: list[str]
) -> None:
    """S8: each once, in order; a request of one sentence has none inside."""
    assert inner_questions(request_text, language) == questions


def test_the_last_of_many_questions() -> None:
    """S8: what stands last is most likely what is asked, and the work stays bounded."""
    found = inner_questions(" ".join(f"Who feeds cat {n}?" for n in range(50)))

    assert len(found) == MOST_QUESTIONS
    assert found[-1] == "Who feeds cat 49?"
