"""Keys of other systems in mappings: read, and misspelled fields refused."""

from __future__ import annotations

import pytest

from foveate import BadInput, assemble
from foveate.core.candidates import candidates_from_items, candidates_from_jsonl
from foveate.core.fields import KNOWN, MISSPELLINGS

FOREIGN = {
    "content": "A kiln.",
    "source_path": "a/b.pdf",
    "page_number": 4,
    "doc_id": 12,
    "chunk_index": 3,
    "row_number": 7,
    "start_line": 9,
    "score": 0.5,
    "rating": 5,
}


def test_keys_of_other_systems_are_read():
    """I1: the common names are fields here; what is left is metadata."""
    (found,) = candidates_from_items([FOREIGN])
    chunk = found.chunk

    assert (chunk.text, chunk.source, chunk.document_id) == ("A kiln.", "a/b.pdf", "12")
    assert (chunk.page, chunk.sequence, chunk.row, chunk.line) == (4, 3, 7, 9)
    assert chunk.metadata == {"rating": 5}


def test_a_metadata_map_is_read_and_kept():
    """I1: a document that was dumped names its source and page in its metadata."""
    line = '{"page_content": "A.", "metadata": {"source": "a.md", "page": 2, "lang": "en"}}'
    (found,) = candidates_from_jsonl([line])

    assert (found.chunk.source, found.chunk.page) == ("a.md", 2)
    assert found.chunk.metadata == {"source": "a.md", "page": 2, "lang": "en"}


def test_a_field_that_is_given_wins():
    """I1: beside the field itself, another name for it is metadata, as is a wrong value."""
    given = {"text": "A.", "content": "B.", "page_number": "iv", "metadata": {"page": 2}, "page": 1}
    (found,) = candidates_from_items([given])

    assert (found.chunk.text, found.chunk.page) == ("A.", 1)
    assert found.chunk.metadata == {"content": "B.", "page_number": "iv", "page": 2}


def test_readers_in_metadata_restrict():
    """X5: principals that stand in the metadata are not passed over."""
    secret = {"text": "The key is blue.", "metadata": {"principals": ["staff"]}, "score": 1.0}
    found = [secret, {"text": "The door is red.", "score": 0.5}]

    assert "blue" not in assemble("Which colour?", found).text
    assert "blue" in assemble("Which colour?", found, principals=["staff"]).text


@pytest.mark.parametrize(
    ("key", "right"), [("scroe", "score"), ("soruce", "source"), ("princpals", "principals")]
)
def test_misspelled_fields_are_refused(key, right):
    """I3: a field that is nearly spelled right is named with the right name."""
    with pytest.raises(BadInput, match=f"item 2, field {key!r}: .* did you mean {right!r}"):
        candidates_from_items([{"text": "A."}, {"text": "B.", key: 1}])


def test_words_of_their_own_are_no_misspellings():
    """I1: what may well be meant is metadata."""
    words = {
        "scores",
        "sources",
        "store",
        "core",
        "titel",
        "lines",
        "link",
        "stat",
        "pages",
        "tile",
    }

    assert words.isdisjoint(MISSPELLINGS)
    assert KNOWN.isdisjoint(MISSPELLINGS)
