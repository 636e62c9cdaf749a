"""A conversation while it is being fitted."""

from __future__ import annotations

from foveate.core.talk.draft import Draft
from foveate.core.talk.turns import Cited, Turn, spoken
from foveate.testing.fakes import Words


def weigh(messages):
    """Words of all that is said."""
    return sum(Words().count(text) for _, text in map(spoken, messages))


def cited(number, words=30):
    """Evidence with a quote of so many words."""
    return Cited(chunk_id=f"c{number}", source=f"s{number}.md", quote=f"quote{number} " * words)


def draft(*turns):
    """All of them open, and no marker that still stands."""
    return Draft(turns=turns, recent=0, weigh=weigh, query="", language="en", live=frozenset())


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
    assert made.fate == ["verbatim"] * 3

    assert made.leave_out([2]) == made.total() < before
    assert made.shown[2] is None


def test_as_many_lines_as_there_is_room_for():
    """W1: the latest that were cited are named, to the last token; one at the least."""
    turns = [Turn(role="assistant", text=f"Answer {n}.", cited=(cited(n),)) for n in range(9)]
    made = draft(*turns)
    for n in range(9):
        made.put(n, None)
    made.quotes = False
    sizes = []
    for most in range(1, 9):
        made.most = most
        sizes.append(made.total())
    assert sizes == sorted(set(sizes))

    for most, size in enumerate(sizes, 1):
        made.narrow(size)
        assert made.most == most
        assert made.total() == size
    made.narrow(0)
    assert made.most == 1
