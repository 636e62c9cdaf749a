"""What of the documents stays where they are written anew."""

from __future__ import annotations

import pytest

from foveate import Budget, BudgetTooSmall, Session, proceed
from foveate.testing.fakes import WordTokenizer


def long(number, size):
    """A chunk of so many words, which no other has."""
    text = " ".join(f"word{number}x{n}" for n in range(size))
    return {"id": f"p{number}", "source": f"s{number}.md", "text": f"{text}.", "score": 0.9}


def test_of_what_was_cited_the_latest_stays_where_not_all_can():
    """W1, W4: half of the zone holds one of the two; the other is carried on in words."""
    rules = {"budget": 200, "tokenizer": WordTokenizer()}
    made = proceed(Session(), "What is one?", [long(1, 60)], **rules)
    made = proceed(made.session.with_answer("It is this [1]."), "And two?", [long(2, 60)], **rules)
    assert [h.block.chunk_ids for h in made.session.held] == [("p1",), ("p2",)]

    made = proceed(
        made.session.with_answer("It is that [2]."), "And three?", [long(3, 95)], **rules
    )
    assert made.reuse.repacked == "window"
    assert [h.block.chunk_ids for h in made.session.held] == [("p2",), ("p3",)]
    assert made.reuse.documents_reused == 0
    note = made.conversation.messages[0].front[1].text
    assert note.startswith("Cited earlier in this conversation:\n- [1] s1.md: “word1x0 ")
    assert "s2.md" not in note

    again = proceed(made.session.with_answer("So [3]."), "And four?", [long(3, 95)], **rules)
    assert again.conversation.messages[0].front[1].text == note
    assert again.reuse.request_sent < 20


def test_a_small_window_is_used_to_its_end():
    """B1, W4: what fits is sent, to the token; where one less is given, that one is asked for."""

    def made(size):
        zones = {"documents": size, "conversation": 0, "system": 0, "query": 0}
        budget = Budget(window=size + 20, generation=10, buffer=10, **zones)
        return proceed(
            Session(), "What is one?", [long(1, 60)], budget=budget, tokenizer=WordTokenizer()
        )

    roomy = made(400)
    size = roomy.conversation.tokens["request"]
    exact = made(size)
    assert exact.openai() == roomy.openai()
    assert exact.conversation.tokens["request"] == size
    with pytest.raises(BudgetTooSmall) as refused:
        made(size - 1)
    assert (refused.value.budget, refused.value.needed) == (size + 19, size + 20)
