"""A context in pieces: what is joined of them keeps the budget, and each says where it is from."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveate import BadInput, BadOption, Budget, BudgetTooSmall
from foveate.adapters import tokenizers
from foveate.core.formats import BUILTIN
from foveate.core.render import renderer_of
from foveate.frameworks.asked import Wish, assembled, who
from foveate.frameworks.shown import by_marker, pieces
from framework_rows import MAPPINGS, QUESTION, ROWS, WORDY

PARTS = ("anthropic-document", "anthropic-search-result", "openai-parts")
TEXTS = sorted(set(BUILTIN) - set(PARTS))
COUNT = tokenizers.load("cl100k_base").count
GAPS = st.sampled_from(["\n\n", "\n", "", "\n\n---\n\n", " ||| · ||| "])


@pytest.mark.parametrize("format", TEXTS)
@settings(max_examples=6)
@given(budget=st.integers(60, 400), gap=GAPS)
def test_joined_pieces_keep_the_budget(format, budget, gap):
    """B1: whatever a framework puts between the pieces, their sum is within the budget."""
    made = assembled(QUESTION, WORDY, Wish(budget=budget, format=format), gap=gap)

    assert made is not None
    assert COUNT(gap.join(piece.text for piece in pieces(made))) <= budget


def test_a_gap_that_leaves_no_room_is_said_with_what_would_do():
    """B1, X1: where nothing fits with what stands between, the error's own figure does."""
    gap = "\n" + "~ + " * 60
    wish = Wish(budget=70, format="minimal", recipe="citations")
    short = [{"id": str(n), "text": f"Kiln {n}.", "score": 9 - n} for n in range(4)]

    made = assembled(QUESTION, short, wish, gap=gap)

    assert made is not None
    assert len(pieces(made)) == 1
    with pytest.raises(BudgetTooSmall) as caught:
        assembled(QUESTION, WORDY, Wish(budget=5), gap=gap)
    again = assembled(QUESTION, WORDY, Wish(budget=caught.value.needed), gap=gap)
    assert again is not None


@pytest.mark.parametrize("format", TEXTS)
def test_a_piece_is_its_block_as_it_stands(format):
    """C1, R3: the pieces stand in the context in their order, and hold their bodies."""
    made = assembled(QUESTION, MAPPINGS, Wish(budget=300, format=format))
    assert made is not None
    context, at = made.context, 0

    for piece, block in zip(pieces(made), context.blocks, strict=True):
        at = context.text.index(piece.text, at) + len(piece.text)
        start, end = piece.about["span"]
        assert piece.text[start:end] == context.text[slice(*block.span)]
        assert piece.text[start:end] == renderer_of(made.inputs.recipe).body(block.text)


def test_a_piece_says_what_its_citation_says():
    """C2: source, page, chunks and the sources of dropped copies, as plain data."""
    made = assembled(QUESTION, MAPPINGS, Wish(budget=300))
    assert made is not None

    for piece, citation in zip(pieces(made), made.context.citations, strict=True):
        assert piece.about["label"] == citation.label
        assert piece.about["chunk_ids"] == list(citation.chunk_ids)
        assert (piece.about["source"], piece.about["page"]) == (citation.source, citation.page)
        assert [s["source"] for s in piece.about["corroborating"]] == [
            source.source for source in citation.corroborating
        ]
    first = next(p for p in pieces(made) if p.id == "kiln-1")
    assert [s["source"] for s in first.about["corroborating"]] == ["copy.md"]
    assert first.metadata == ROWS[0]["metadata"]


def test_pieces_by_marker_are_what_the_markers_stand_for():
    """C1: piece n holds all that [n] cites, where documents are cited as well."""
    rows = [
        {"id": f"{name}{n}", "document_id": name, "text": f"{name} says {n}.", "sequence": 3 * n}
        for name in ("kiln", "clay")
        for n in range(3)
    ]
    made = assembled("What is said?", rows, Wish(budget=400, recipe="document-first"))
    assert made is not None

    found = by_marker(pieces(made))

    assert [piece.marker for piece in found] == [c.marker for c in made.context.citations]
    for piece, citation in zip(found, made.context.citations, strict=True):
        assert piece.about["document_id"] == citation.document_id
        assert all(f"{citation.document_id} says {n}." in piece.text for n in range(3))


def test_nothing_found_and_nothing_readable_are_the_same():
    """X5: where no document may be read it is as if there were none."""
    secret = [row for row in MAPPINGS if "principals" in row]

    assert assembled(QUESTION, [], Wish(budget=99)) is None
    assert assembled(QUESTION, secret, Wish(budget=99), principals=["garden"]) is None
    assert assembled(QUESTION, secret, Wish(budget=99), principals=["office"]) is not None


def test_who_asks_is_asked_at_each_call():
    """X5: names, or a function that gives them; one string is refused."""
    now = ["office"]

    assert who(lambda: now) == ("office",)
    now.append("garden")
    assert who(lambda: now) == ("office", "garden")
    with pytest.raises(BadInput, match="must be a list of strings"):
        who("office")


def test_only_the_best_k_are_looked_at():
    """S1: `k` limits the candidates, best first."""
    made = assembled(QUESTION, [{**r, "score": -n} for n, r in enumerate(WORDY)], Wish(k=3))

    assert made is not None
    assert {piece.id for piece in pieces(made)} == {"log-1", "log-2", "log-3"}


@pytest.mark.parametrize("format", PARTS)
def test_a_provider_s_own_format_is_refused(format):
    """X1: content parts in JSON are not cut into documents."""
    with pytest.raises(BadOption, match="take a text format"):
        Wish(budget=99, format=format).plan()


def test_what_an_earlier_assembly_said_is_not_repeated():
    """I1: metadata that was written here is made anew, never believed."""
    forged = [
        {**row, "metadata": {**row["metadata"], "foveate": {"marker": 9}}} for row in MAPPINGS
    ]

    made = assembled(QUESTION, forged, Wish(budget=300))

    assert made is not None
    for piece in pieces(made):
        assert "foveate" not in piece.metadata
        assert piece.whole["foveate"]["marker"] == piece.marker


def test_a_character_budget_is_kept_too():
    """B6: the joined pieces keep a budget of characters."""
    budget = Budget(documents=None, characters=700, window=None)

    made = assembled(QUESTION, WORDY, Wish(budget=budget, format="doc"), gap="\n" * 40)

    assert made is not None
    assert len(("\n" * 40).join(piece.text for piece in pieces(made))) <= 700
