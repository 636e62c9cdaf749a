"""Values of frameworks as candidates: told apart, read leniently, put in order."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from foveate import BadInput, assemble
from foveate.core.candidates import candidates_from_items
from foveate.core.fields import parse_metadata
from foveate.pipeline.inputs import number_chunks, records_from_items


class _Foreign:
    """What a framework's document looks like from here: a class of its package."""

    __module__ = "langchain_core.documents.base"

    def __init__(self, page_content, metadata=None, id=None):
        self.page_content, self.metadata, self.id = page_content, metadata or {}, id


class _Own(_Foreign):
    """A class of the user's that inherits from it."""


def test_the_order_of_a_list_without_scores_is_kept():
    """I1: a retriever's order decides where it gives no scores."""
    texts = ["Third by name.", "Second by name.", "First by name."]

    context = assemble("Which?", [_Foreign(text) for text in texts], budget=200, recipe="citations")

    assert [block.score for block in context.blocks] == [1 / 61, 1 / 62, 1 / 63]
    assert [block.text for block in context.blocks] == texts


def test_pairs_and_subclasses_are_read():
    """I1: a document with its score, and a class that inherits from the framework's."""
    found = records_from_items([(_Foreign("A."), 0.3), (_Own("B."), 0.9)])

    assert [(record["text"], record["score"]) for record in found] == [("A.", 0.3), ("B.", 0.9)]


def test_what_is_no_framework_s_passes_through():
    """I1: mappings, tables and wrong things come to the door as they were."""
    rows = [{"text": "A."}, 7]
    table = object()

    assert records_from_items(rows) == rows
    assert records_from_items(table) is table
    assert records_from_items(iter(rows)) == rows


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (_Foreign(None), "item 2: give Documents"),
        ((_Foreign("A."), float("nan")), "item 2, field 'score': must be a finite number"),
        ((_Foreign("A."), "high"), "item 2, field 'score': must be a finite number"),
        (_Foreign(5), "item 2, field 'text': must be a string"),
        (_Foreign("A.", {"principals": "staff"}), "item 2, field 'principals': must be a list"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(item, words):
    """I3: a framework's value that cannot be used is named by its position and field."""
    with pytest.raises(BadInput) as caught:
        candidates_from_items(records_from_items([_Foreign("Fine."), item]))

    assert words in str(caught.value)


def test_metadata_is_read_where_it_is_of_the_form_that_a_field_has():
    """I1: what loaders write is understood; what is not of a field's form stays metadata."""
    found = parse_metadata(
        {
            "file_path": "a/b.pdf",
            "page_label": "iv",
            "page": 4,
            "Header 1": "Kiln",
            "Header 2": "Wood",
            "row": -1,
            "last_modified_date": "2024-02-30",
            "title": 7,
            "doc_id": 12,
            "rating": 5,
        }
    )

    assert found == {
        "source": "a/b.pdf",
        "page": 4,
        "section": "Kiln > Wood",
        "document_id": "12",
    }
    assert parse_metadata({"header_path": "/Kiln/Wood/"})["section"] == "Kiln > Wood"


def test_numbers_are_read_as_stores_keep_them():
    """I1: floats that count, and numbers of numpy's; what counts nothing stays metadata."""
    assert parse_metadata({"page": 4.0, "row": np.int64(7), "start_index": np.float32(12)}) == {
        "page": 4,
        "row": 7,
        "start": 12,
    }
    for odd in (4.5, -1.0, float("nan"), float("inf"), 1e30, True, np.True_, "4.0", None):
        assert parse_metadata({"page": odd}) == {}


def test_a_time_that_is_none_stays_metadata():
    """I1: pandas writes a missing time as one of its times; a day is its beginning."""
    day = datetime(2026, 1, 2, tzinfo=UTC)

    assert parse_metadata({"last_modified": pd.NaT}) == {}
    assert parse_metadata({"last_modified": pd.Timestamp(day)}) == {"modified_at": day}
    assert parse_metadata({"modified_at": day.date()}) == {"modified_at": day}
    with pytest.raises(BadInput, match="item 1, field 'modified_at': must be an ISO 8601 date"):
        candidates_from_items([{"text": "A.", "modified_at": pd.NaT}])


def test_chunks_are_numbered_by_their_offsets():
    """S6, I1: chunks that touch or overlap follow on each other, others leave a number out."""
    chunks = [
        {"source": "a.md", "start": 40, "text": "c" * 10},
        {"source": "a.md", "start": 0, "text": "a" * 20},
        {"source": "a.md", "start": 15, "text": "b" * 10},
        {"source": "b.md", "start": 0, "text": "d", "sequence": 9},
    ]

    number_chunks(chunks)

    assert [chunk["sequence"] for chunk in chunks] == [3, 0, 1, 9]


def test_overlapping_neighbours_become_one_passage():
    """S6: with offsets alone, the repeat of two neighbouring chunks is shown once."""
    text = "The kiln is fired twice a month, with beech and birch. Beech burns longest of all."
    halves = [(0, 55), (33, len(text))]
    found = [
        _Foreign(text[a:b], {"source": "kiln.md", "start_index": a}, id=f"k{a}") for a, b in halves
    ]

    context = assemble("How often is the kiln fired?", found, budget=200, recipe="citations")

    assert [block.text for block in context.blocks] == [text]


def test_a_page_s_offsets_are_not_the_document_s():
    """I1: where a document is a page, a splitter's start counts in the page and is not used."""
    (record,) = records_from_items(
        [_Foreign("A.", {"source": "a.pdf", "page": 3, "start_index": 12})]
    )

    assert "start" not in record
    assert record["page"] == 3


def test_one_document_that_two_searches_found_enters_once():
    """I3: scores in metadata do not make two chunks of one; another text under its id does."""
    twice = [
        _Foreign("A kiln.", {"score": 1}, id="a"),
        _Foreign("A kiln.", {"score": 2}, id="a"),
    ]

    context = assemble("What?", twice, budget=100)

    assert len(context.blocks) == 1
    with pytest.raises(BadInput, match="two different chunks have the id 'a'"):
        assemble("What?", [*twice, _Foreign("A wheel.", id="a")], budget=100)


def test_who_may_read_is_never_widened_by_a_second_copy():
    """X5, I3: one id with different readers is refused, not merged."""
    two = [_Foreign("A kiln.", {"principals": ["office"]}, id="a"), _Foreign("A kiln.", id="a")]

    with pytest.raises(BadInput, match="two different chunks"):
        assemble("What?", two, budget=100)
