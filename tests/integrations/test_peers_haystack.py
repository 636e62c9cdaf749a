"""What Haystack's own parts get wrong, shown on them, and what comes out here instead."""

from __future__ import annotations

import pytest
from haystack import Document as HaystackDocument
from haystack.components.builders import AnswerBuilder
from haystack.components.rankers import LostInTheMiddleRanker
from haystack.components.retrievers import AutoMergingRetriever, SentenceWindowRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from foveate.integrations.haystack import FoveateAssembler


def test_the_document_that_breaks_the_limit():
    """B1: Haystack keeps it, five hundred words over ten; ours keeps the budget."""
    found = [
        HaystackDocument(content="Nine words are in this text, and no more.", score=0.9),
        HaystackDocument(content="The kiln is fired. " * 125, score=0.8),
    ]

    theirs = LostInTheMiddleRanker(word_count_threshold=10).run(documents=found)["documents"]
    ours = FoveateAssembler(budget=60).run("How often?", found)

    assert sum(len(d.content.split()) for d in theirs) == 509
    assert ours["token_count"] <= 60


def test_a_chunk_inside_another():
    """S6: Haystack joins a nested chunk wrongly; ours gives the document's own text."""
    text = "The bird sings."
    found = [
        HaystackDocument(
            content=text[a:b], meta={"source_id": "d", "split_idx_start": a}, score=1 - a / 50
        )
        for a, b in ((0, 8), (4, 6), (6, 15))
    ]

    ours = FoveateAssembler(budget=99, recipe="citations").run("What sings?", found)

    assert SentenceWindowRetriever.merge_documents_text(found) == "The birdrd sings."
    assert [d.content.partition("\n")[2] for d in ours["documents"]] == [text]


def test_a_neighbour_that_may_not_be_read():
    """X5, I4: Haystack's window fetches it; here who may not read it is not shown it."""
    store = InMemoryDocumentStore()
    pages = [
        HaystackDocument(
            id=f"p{n}",
            content=f"Page {n} of the book.",
            meta={"source_id": "d", "split_id": n, **({"principals": ["office"]} if n else {})},
        )
        for n in range(2)
    ]
    store.write_documents(pages)

    fetched = SentenceWindowRetriever(document_store=store, window_size=1).run(
        retrieved_documents=pages[:1]
    )
    ours = FoveateAssembler(budget=99).run("What is said?", fetched["context_documents"])

    assert "Page 1 of the book." in "".join(fetched["context_windows"])
    assert "Page 1" not in ours["context"]
    assert "Page 0" in ours["context"]


def test_numbers_after_reordering():
    """C1: Haystack counts places of the list it is given; ours is in the order of the markers."""
    found = [
        HaystackDocument(id=f"d{n}", content=f"Note {n} of the kiln.", score=1 - n / 10)
        for n in range(4)
    ]
    ranked = LostInTheMiddleRanker().run(documents=found)["documents"]
    builder = AnswerBuilder(reference_pattern=r"\[(\d+)\]")
    made = FoveateAssembler(budget=200, order="edges").run("What is noted?", found)

    def referenced(documents: list[HaystackDocument]) -> str:
        (answer,) = builder.run(query="?", replies=["So [2]."], documents=documents)["answers"]
        return next(d.id for d in answer.documents if d.meta.get("referenced", True))

    assert referenced(found) != ranked[1].id  # the prompt was numbered after ranking
    assert referenced(made["sources"]) == made["citations"][1]["chunk_ids"][0]


def test_windows_that_overlap():
    """S6: Haystack's windows repeat the pages that they share; ours shows each once."""
    store = InMemoryDocumentStore()
    text = "Page 0 is blue. Page 1 is green. Page 2 is red. Page 3 is grey. "
    pages = [
        HaystackDocument(
            id=f"p{n}",
            content=text[16 * n : 16 * n + 16],
            meta={"source_id": "d", "split_id": n, "split_idx_start": 16 * n},
            score=1 - n / 10,
        )
        for n in range(4)
    ]
    store.write_documents(pages)

    fetched = SentenceWindowRetriever(document_store=store, window_size=1).run(
        retrieved_documents=pages[1:3]
    )
    ours = FoveateAssembler(budget=200).run("What is green?", fetched["context_documents"])

    assert "".join(fetched["context_windows"]).count("Page 1") == 2
    assert ours["context"].count("Page 1") == 1
    assert ours["context"].count("Page 2") == 1


def test_a_parent_that_is_gone():
    """S5: Haystack's merging dies of a missing parent; the parts alone are assembled here."""
    part = HaystackDocument(
        id="p",
        content="The kiln is fired twice.",
        meta={"__parent_id": "gone", "__level": 1, "__block_size": 10},
    )

    with pytest.raises(ValueError, match="Expected 1 parent"):
        AutoMergingRetriever(InMemoryDocumentStore()).run(documents=[part])
    ours = FoveateAssembler(budget=99).run("How often?", [part])

    assert "The kiln is fired twice." in ours["context"]
