"""A conversation while it is being fitted."""

from __future__ import annotations

from foveate.core.chat.history_fit import HistoryFit
from foveate.core.chat.turns import Turn, TurnCitation, role_and_text
from foveate.testing.fakes import WordTokenizer


def weigh(messages):
    """Words of all that is said."""
    return sum(WordTokenizer().count(text) for _, text in map(role_and_text, messages))


def cited(number, words=30):
    """Evidence with a quote of so many words."""
    return TurnCitation(
        chunk_id=f"c{number}", source=f"s{number}.md", quote=f"quote{number} " * words
    )


def draft(*turns):
    """All of them open, and no marker that still stands."""
    return HistoryFit(turns=turns, recent=0, weigh=weigh, query="", language="en", live=frozenset())


def test_what_would_cost_more_than_it_frees_stays():
    """W1: where the note of what a turn cited is longer than the turn, leaving it out is undone."""
    kept = Turn(role="assistant", text="So it is, and for long. " * 9)
    made = draft(
        Turn(role="user", text="Why?"),
        Turn(role="assistant", text=f"{cited(1).quote} Yes.", cited=(cited(1),)),
        kept,
    )
    before = made.total()
    assert made.leave_out([0, 1]) == before == made.total()
    assert made.shown == list(made.turns)
    assert made.dispositions == ["verbatim"] * 3

    assert made.leave_out([2]) == made.total() < before
    assert made.shown[2] is None


def test_as_many_lines_as_there_is_room_for():
    """W1: the latest that were cited are named, to the last token; one at the least."""
    turns = [Turn(role="assistant", text=f"Answer {n}.", cited=(cited(n),)) for n in range(9)]
    made = draft(*turns)
    for n in range(9):
        made.set_shown(n, None)
    made.quotes = False
    sizes = []
    for most in range(1, 9):
        made.most = most
        sizes.append(made.total())
    assert sizes == sorted(set(sizes))

    for most, size in enumerate(sizes, 1):
        made.limit_citations(size)
        assert made.most == most
        assert made.total() == size
    made.limit_citations(0)
    assert made.most == 1
