"""Reading candidates: what is welcome, what is refused, and with which words."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate import assemble
from foveate.core.candidates import (
    _refuse_repeated_keys,
    candidate_to_json,
    candidates_from_items,
    candidates_from_jsonl,
)
from foveate.core.errors import BadInput
from foveate.core.seal import content_hash
from foveate.core.types import Candidate, Chunk

FULL = {
    "id": "c1",
    "document_id": "d1",
    "source": "a.md",
    "title": "A",
    "sequence": 3,
    "text": "The text.",
    "score": 0.5,
    "semantic_score": 0.4,
    "lexical_score": 7.0,
    "rerank_score": -1.5,
    "page": 2,
    "section": "One > Two",
    "row": 4,
    "line": 5,
    "start": 10,
    "end": 19,
    "byte_offset": 11,
    "summary": "All about A.",
    "modified_at": "2026-01-02T03:04:05+00:00",
    "principals": ["b", "a"],
    "metadata": {"lang": "en"},
    "embedding": [0.5, 0.25],
}


def test_only_text_is_required() -> None:
    """I1: id comes from the content, the score is 0, the document is the chunk itself."""
    (one,) = candidates_from_items([{"text": "Hello."}])

    assert one.score == 0.0
    assert one.chunk.id
    assert one.chunk.document_id == one.chunk.id
    assert one == candidates_from_items([{"text": "Hello."}])[0]
    assert one.chunk.content_hash == content_hash("Hello.")


def test_a_list_without_scores_is_best_first() -> None:
    """I1: where no item has a score, its place is the score; one score is enough to decide."""
    items = [{"text": "Z."}, {"text": "M.", "score": None}, Chunk(text="A.")]
    lines = [json.dumps({"text": "Z."}), "", json.dumps({"text": "A."})]

    assert [one.score for one in candidates_from_items(items)] == [1 / 61, 1 / 62, 1 / 63]
    assert [one.score for one in candidates_from_jsonl(lines)] == [1 / 61, 1 / 62]
    scores = [one.score for one in candidates_from_items([*items, {"text": "B.", "score": -1}])]
    assert scores == [*sorted(scores[:3], reverse=True), -1.0]
    assert scores[0] < -1


def test_every_field_of_the_line_is_read() -> None:
    """I2: the JSON object of one line gives a candidate with all its fields."""
    (one,) = candidates_from_jsonl([json.dumps(FULL)])
    chunk = one.chunk

    assert (one.rerank_score, one.semantic_score, one.lexical_score) == (-1.5, 0.4, 7.0)
    assert one.score == -1.5  # the reranker's decides
    assert (chunk.page, chunk.row, chunk.line, chunk.sequence) == (2, 4, 5, 3)
    assert (chunk.start, chunk.end, chunk.byte_offset) == (10, 19, 11)
    assert chunk.modified_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert chunk.principals == ("a", "b")
    assert chunk.metadata == {"lang": "en"}
    assert chunk.embedding == (0.5, 0.25)


def test_lines_come_back_as_they_went() -> None:
    """I2: writing a candidate and reading it again changes nothing."""
    (one,) = candidates_from_items([FULL])
    (again,) = candidates_from_items([json.loads(json.dumps(candidate_to_json(one)))])

    assert again == one
    assert again.chunk.embedding == one.chunk.embedding


def test_unknown_keys_are_kept() -> None:
    """I1: what has no field of its own goes to the metadata."""
    (one,) = candidates_from_items([{"text": "x", "colour": "red", "metadata": {"size": 3}}])

    assert one.chunk.metadata == {"colour": "red", "size": 3}


def test_chunks_are_candidates() -> None:
    """I1: chunks and candidates go in as they are."""
    chunk = Chunk(id="a", text="One.", page=3)

    (one, two) = candidates_from_items([chunk, Candidate(chunk=Chunk(text="Two."), score=0.5)])

    assert one.chunk is chunk
    assert (two.text, two.score) == ("Two.", 0.5)


def test_arrays_are_vectors() -> None:
    """I1: a numpy row is an embedding and is kept as it is."""
    row = np.array([0.5, 0.25], dtype=np.float32)
    (one,) = candidates_from_items([{"text": "x", "embedding": row}])

    assert one.chunk.embedding is row


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([[0.5, 0.25]]), "not an array of 2 dimensions"),
        (np.array(["0.5"]), "type <U3"),
        (np.array([0.5, None]), "type object"),
        (np.array([0.5, np.nan], dtype=np.float16), "not finite"),
        (np.array([0.5, -np.inf]), "not finite"),
    ],
)
def test_an_array_that_is_no_row_of_numbers(array: Any, message: str) -> None:
    """I3: its shape, its type and each of its numbers are looked at."""
    with pytest.raises(BadInput, match=f"item 1, field 'embedding': .*{message}"):
        candidates_from_items([{"text": "x", "embedding": array}])


def test_large_numbers_in_an_array_are_fine() -> None:
    """I3: each number is finite, though their sum is none that its type can hold."""
    row = np.full(3, np.finfo(np.float32).max, dtype=np.float32)
    (one,) = candidates_from_items([{"text": "x", "embedding": row}])

    assert one.chunk.embedding is row


def with_field(**changes: Any) -> list[dict[str, Any]]:
    """A good line, then one with these fields."""
    return [{"text": "fine"}, {"text": "x", **changes}]


@pytest.mark.parametrize(
    ("rows", "field"),
    [
        ([{"text": "fine"}, {"id": "x"}], "text"),
        (with_field(text=7), "text"),
        (with_field(score=float("nan")), "score"),
        (with_field(score=float("inf")), "score"),
        (with_field(lexical_score=float("-inf")), "lexical_score"),
        (with_field(score="0.5"), "score"),
        (with_field(score=True), "score"),
        (with_field(start=5, end=4), "end"),
        (with_field(page=-1), "page"),
        (with_field(page=1.5), "page"),
        (with_field(sequence="3"), "sequence"),
        (with_field(text="a\ud800b"), "text"),
        (with_field(source="a\udfffb"), "source"),
        (with_field(title=3), "title"),
        (with_field(modified_at="yesterday"), "modified_at"),
        (with_field(principals="alice"), "principals"),
        (with_field(principals={}), "principals"),
        (with_field(metadata=[1]), "metadata"),
        (with_field(embedding=[]), "embedding"),
        (with_field(embedding=[1.0, float("nan")]), "embedding"),
        (with_field(embedding="0.1"), "embedding"),
        (with_field(origin="made up"), "origin"),
    ],
)
def test_refused_with_line_and_field(rows: list[dict[str, Any]], field: str) -> None:
    """I3: what is wrong is named with its line and its field."""
    with pytest.raises(BadInput, match=rf"^item 2, field '{field}': ") as caught:
        candidates_from_items(rows)

    assert (caught.value.line, caught.value.field) == (2, field)


MISSING = "item 2, field 'text': is missing; "
JOINED = "a list is no candidate; give each of its objects"
ONE = {"id": "a", "text": "One."}
UNLIKE = [{"text": "a", "embedding": [1.0]}, {"text": "b", "embedding": [1.0, 2.0]}]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([ONE, {**ONE, "text": "Two."}], "item 2, field 'id': two different chunks"),
        (UNLIKE, "item 2, field 'embedding': 2 numbers where others have 1"),
        ('{"text": "a"}\n\n{"text": ', "line 3: not JSON"),
        ('[{"text": "a"}, {"text": "b"}]', f"line 1: {JOINED}"),
        ([ONE, {"body": "x"}], f"{MISSING}if 'body' holds it, rename that to 'text'"),
        ([ONE, {"id": "b", "txt": "x"}], f"{MISSING}if 'txt' holds it, rename that to 'text'"),
        (
            [ONE, {"id": "b", "words": "x"}],
            f"{MISSING}it is the one field that is required; given: 'id', 'words'",
        ),
        ([{**ONE, "text": None}], "item 1, field 'text': is None (null); it is the one"),
        (
            ["some text"],
            "item 1: a candidate is an object with a text, such as {'text': '…'}, not",
        ),
    ],
)
def test_a_refusal_says_what_to_do(given: Any, said: str) -> None:
    """I3, X2: one id for two chunks, unlike vectors, broken lines, a text under another name."""
    read: Any = candidates_from_items
    if isinstance(given, str):
        read, given = candidates_from_jsonl, given.splitlines()
    with pytest.raises(BadInput, match=f"^{re.escape(said)}"):
        read(given)


def test_the_same_chunk_twice_is_no_fault() -> None:
    """I3: one id for two different chunks is refused; the same chunk twice is not."""
    assert len(candidates_from_items([ONE, ONE])) == 2


@pytest.mark.parametrize("items", ["text", b"text", {"text": "x"}, 7, None])
def test_not_a_list(items: Any) -> None:
    """X2: a single value where a list belongs is refused, not read letter by letter."""
    with pytest.raises(BadInput):
        candidates_from_items(items)


@given(
    text=st.text(alphabet=st.characters(exclude_categories=["Cs"])),
    score=st.floats(allow_nan=False, allow_infinity=False),
    metadata=st.dictionaries(st.text(alphabet="abc"), st.integers() | st.text(alphabet="xyz")),
)
def test_round_trip(text: str, score: float, metadata: dict[str, Any]) -> None:
    """I2: any text, score and metadata survive the way through JSON."""
    one = Candidate(chunk=Chunk(text=text, metadata=metadata), score=score)

    assert candidates_from_jsonl([json.dumps(candidate_to_json(one))]) == (one,)


class Counted(str):
    """A key that counts how often it is compared with another one."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        """As ever."""
        Counted.compared += 1
        return str.__eq__(self, other)


def test_a_key_among_many_that_comes_twice_is_found_at_once():
    """X2: the work grows with the number of keys, and not with its square."""
    many = 2_000
    pairs = [(Counted(f"k{number}"), 1) for number in range(many)] + [(Counted("k7"), 2)]
    Counted.compared = 0

    with pytest.raises(BadInput, match="the key 'k7' comes twice"):
        _refuse_repeated_keys(pairs)

    assert Counted.compared < 10 * many


@pytest.mark.parametrize("score", [10**400, -(10**400), 10**5000], ids=["+", "-", "long"])
@pytest.mark.parametrize("name", ["score", "rerank_score"])
def test_a_score_beyond_every_float_is_refused(name, score):
    """X1: a whole number that no float can hold is bad input, as infinity is."""
    with pytest.raises(BadInput, match=f"field '{name}': must be a finite number") as refused:
        Candidate(chunk=Chunk(text="a"), **{name: score})

    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    "score", [np.float32(0.5), np.float64(0.5), np.float16(0.5), Fraction(1, 2)]
)
def test_a_score_of_another_kind_becomes_a_plain_number(score):
    """D4, I1: scores of numpy give the context and the bundle that floats give."""
    rows = [{"text": "One.", "score": 0.5, "semantic_score": 0.5}]
    given = [{**rows[0], "score": score, "semantic_score": score}]
    candidate = Candidate(chunk=Chunk(text="a"), score=score, lexical_score=score)

    assert [type(candidate.score), type(candidate.lexical_score)] == [float, float]
    assert json.dumps(candidate_to_json(candidate)["score"]) == "0.5"
    assert assemble("q", given).manifest == assemble("q", rows).manifest
