"""A context in pieces: what is joined of them keeps the budget, and each says where it is from."""

from __future__ import annotations

import importlib
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveate import BadInput, BadOption, Budget, BudgetTooSmall, MissingExtra
from foveate.core.formats import BUILTIN
from foveate.core.render import renderer_for_recipe
from foveate.integrations.options import check_options, current_principals, from_documents
from foveate.integrations.pieces import build_pieces, group_by_marker
from foveate.pipeline.options import AssembleOptions
from foveate.providers import tokenizers
from framework_rows import MAPPINGS, QUESTION, ROWS, WORDY

PARTS = ("anthropic-document", "anthropic-search-result", "openai-parts")
TEXTS = sorted(set(BUILTIN) - set(PARTS))
COUNT = tokenizers.load_tokenizer("cl100k_base").count
GAPS = st.sampled_from(["\n\n", "\n", "", "\n\n---\n\n", " ||| · ||| "])


@pytest.mark.parametrize("format", TEXTS)
@settings(max_examples=6)
@given(budget=st.integers(60, 400), gap=GAPS)
def test_joined_pieces_keep_the_budget(format, budget, gap):
    """B1: whatever a framework puts between the pieces, their sum is within the budget."""
    made = from_documents(QUESTION, WORDY, AssembleOptions(budget=budget, format=format), gap=gap)

    assert made is not None
    assert COUNT(gap.join(piece.text for piece in build_pieces(made))) <= budget


def test_a_gap_that_leaves_no_room_is_said_with_what_would_do():
    """B1, X1: where nothing fits with what stands between, the error's own figure does."""
    gap = "\n" + "~ + " * 60
    wish = AssembleOptions(budget=70, format="minimal", recipe="citations")
    short = [{"id": str(n), "text": f"Kiln {n}.", "score": 9 - n} for n in range(4)]

    made = from_documents(QUESTION, short, wish, gap=gap)

    assert made is not None
    assert len(build_pieces(made)) == 1
    with pytest.raises(BudgetTooSmall) as caught:
        from_documents(QUESTION, WORDY, AssembleOptions(budget=5), gap=gap)
    again = from_documents(QUESTION, WORDY, AssembleOptions(budget=caught.value.needed), gap=gap)
    assert again is not None


@pytest.mark.parametrize("format", TEXTS)
def test_a_piece_is_its_block_as_it_stands(format):
    """C1, R3: the pieces stand in the context in their order, and hold their bodies."""
    made = from_documents(QUESTION, MAPPINGS, AssembleOptions(budget=300, format=format))
    assert made is not None
    context, at = made.context, 0

    for piece, block in zip(build_pieces(made), context.blocks, strict=True):
        at = context.text.index(piece.text, at) + len(piece.text)
        start, end = piece.citation_metadata["span"]
        assert piece.text[start:end] == context.text[slice(*block.span)]
        assert piece.text[start:end] == renderer_for_recipe(made.inputs.recipe).body(block.text)


def test_a_piece_says_what_its_citation_says():
    """C2: source, page, chunks and the sources of dropped copies, as plain data."""
    made = from_documents(QUESTION, MAPPINGS, AssembleOptions(budget=300))
    assert made is not None

    for piece, citation in zip(build_pieces(made), made.context.citations, strict=True):
        assert piece.citation_metadata["label"] == citation.label
        assert piece.citation_metadata["chunk_ids"] == list(citation.chunk_ids)
        assert (piece.citation_metadata["source"], piece.citation_metadata["page"]) == (
            citation.source,
            citation.page,
        )
        assert [s["source"] for s in piece.citation_metadata["corroborating"]] == [
            source.source for source in citation.corroborating
        ]
    first = next(p for p in build_pieces(made) if p.id == "kiln-1")
    assert [s["source"] for s in first.citation_metadata["corroborating"]] == ["copy.md"]
    assert first.metadata == ROWS[0]["metadata"]


def test_pieces_by_marker_are_what_the_markers_stand_for():
    """C1: piece n holds all that [n] cites, where documents are cited as well."""
    rows = [
        {"id": f"{name}{n}", "document_id": name, "text": f"{name} says {n}.", "sequence": 3 * n}
        for name in ("kiln", "clay")
        for n in range(3)
    ]
    made = from_documents(
        "What is said?", rows, AssembleOptions(budget=400, recipe="document-first")
    )
    assert made is not None

    found = group_by_marker(build_pieces(made))

    assert [piece.marker for piece in found] == [c.marker for c in made.context.citations]
    for piece, citation in zip(found, made.context.citations, strict=True):
        assert piece.citation_metadata["document_id"] == citation.document_id
        assert all(f"{citation.document_id} says {n}." in piece.text for n in range(3))


def test_nothing_found_and_nothing_readable_are_the_same():
    """X5: where no document may be read it is as if there were none."""
    secret = [row for row in MAPPINGS if "principals" in row]

    def context(rows, *who):
        return from_documents(QUESTION, rows, AssembleOptions(budget=99), principals=who).context

    assert context(secret, "garden") == context([], "garden")
    assert context(secret, "garden").blocks == ()
    assert context(secret, "office").blocks != ()


def test_who_asks_is_asked_at_each_call():
    """X5: names, or a function that gives them; one string is refused."""
    now = ["office"]

    assert current_principals(lambda: now) == ("office",)
    now.append("garden")
    assert current_principals(lambda: now) == ("office", "garden")
    with pytest.raises(BadInput, match="must be a list of strings"):
        current_principals("office")


def test_only_the_best_k_are_looked_at():
    """S1: `k` limits the candidates, best first."""
    made = from_documents(
        QUESTION, [{**r, "score": -n} for n, r in enumerate(WORDY)], AssembleOptions(keep=3)
    )

    assert made is not None
    assert {piece.id for piece in build_pieces(made)} == {"log-1", "log-2", "log-3"}


@pytest.mark.parametrize("format", PARTS)
def test_a_provider_s_own_format_is_refused(format):
    """X1: content parts in JSON are not cut into documents."""
    with pytest.raises(BadOption, match="take a text format"):
        check_options(AssembleOptions(budget=99, format=format))


def test_what_an_earlier_assembly_said_is_not_repeated():
    """I1: metadata that was written here is made anew, never believed."""
    forged = [
        {**row, "metadata": {**row["metadata"], "foveate": {"marker": 9}}} for row in MAPPINGS
    ]

    made = from_documents(QUESTION, forged, AssembleOptions(budget=300))

    assert made is not None
    for piece in build_pieces(made):
        assert "foveate" not in piece.metadata
        assert piece.full_metadata["foveate"]["marker"] == piece.marker


def test_a_character_budget_is_kept_too():
    """B6: the joined pieces keep a budget of characters."""
    budget = Budget(documents=None, characters=700, window=None)

    made = from_documents(
        QUESTION, WORDY, AssembleOptions(budget=budget, format="doc"), gap="\n" * 40
    )

    assert made is not None
    assert len(("\n" * 40).join(piece.text for piece in build_pieces(made))) <= 700


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("langchain", "langchain_core", "langchain"),
        ("llama_index", "llama_index.core", "llama-index"),
        ("haystack", "haystack", "haystack"),
    ],
)
def test_without_the_package_the_extra_is_named(monkeypatch, module, package, extra):
    """X1: where a framework is not installed the error says what to install."""
    ours = f"foveate.integrations.{module}"
    for name in [n for n in sys.modules if n.startswith(ours)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(MissingExtra, match=rf"pip install 'foveate\[{extra}\]'"):
        importlib.import_module(ours)
