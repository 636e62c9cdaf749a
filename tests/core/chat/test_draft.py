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
    """A conversation in which no marker stands any more."""
    return HistoryFit(turns=turns, recent=0, weigh=weigh, query="", live=frozenset())


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
