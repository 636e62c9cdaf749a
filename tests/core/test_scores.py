"""Which number of a list is its score."""

from __future__ import annotations

import json
import re
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foveate import assemble
from foveate.core.candidates import (
    candidate_from_record,
    candidate_to_json,
    candidates_from_items,
    candidates_from_jsonl,
)
from foveate.core.manifest import candidates_hash
from foveate.core.recipes import builtin_recipes
from foveate.core.scores import BY_PRECEDENCE, ScoredList
from foveate.core.types import Candidate, Chunk
from foveate.pipeline.inputs import candidates_of

LOW = {"text": "Low one says the gate is green.", "source": "low.md"}
HIGH = {"text": "High one says the valve opens at nine bar.", "source": "high.md"}
SCORES = st.none() | st.floats(allow_nan=False, allow_infinity=False)
RECORDS = st.lists(
    st.fixed_dictionaries({"text": st.uuids().map(str), **dict.fromkeys(BY_PRECEDENCE, SCORES)}),
    min_size=1,
    max_size=8,
)
END = -sys.float_info.max


def record(**scores):
    """A record of these scores and no others."""
    return {"text": json.dumps(scores), **dict.fromkeys(BY_PRECEDENCE), **scores}


def notes_of(context):
    """The notes of the first entry of the trace."""
    return dict(context.trace[0].notes)


@given(RECORDS)
@example([record(score=0.0, semantic_score=0.5), record(score=0.0, lexical_score=-2.0)])
@example([record(score=END), record(semantic_score=1.0), record(lexical_score=1.0), record()])
def test_the_first_kind_that_any_has_decides(records):
    """V6: and what has none of that kind stands behind all that have one, by what it has."""
    found = candidates_from_items(records)

    kinds = [[n for n, kind in enumerate(BY_PRECEDENCE) if r[kind] is not None] for r in records]
    best = min((own[0] for own in kinds if own), default=None)
    if best is None:
        places = [one.score for one in found]
        assert places == sorted(places, reverse=True)
        return
    name = BY_PRECEDENCE[best]
    ahead = [n for n, own in enumerate(kinds) if own and own[0] == best]
    behind = [n for n in range(len(found)) if n not in ahead]
    assert [found[n].score for n in ahead] == [records[n][name] for n in ahead]
    assert all(found[n].scored for n in ahead)
    assert not any(found[n].scored for n in behind)
    low = min(found[n].score for n in ahead)
    if low > -1e308:
        assert all(found[n].score < low for n in behind)
    if isinstance(found, ScoredList):
        notes = dict(found.notes)
        assert notes["scores_from"] == name
        assert notes.get("ranked_behind", 0) == len(behind)
    assert candidates_from_items(found) == found  # once decided, it stays


@pytest.mark.parametrize(
    ("kind", "pool"),
    [
        ("score", [record(score=0.0, semantic_score=n) for n in (0.2, 0.9)]),
        ("score", [record(score=0), record(score=-0.0, lexical_score=7.0)]),
        ("rerank_score", [record(score=0.0, rerank_score=0.0), record(score=0.9)]),
    ],
)
def test_a_score_of_zero_that_was_given_decides(kind, pool):
    """V6: the trace says so, and it stays so in what is read a second time."""
    found = candidates_from_items(pool)
    notes = notes_of(assemble("Which?", pool, recipe="reranked", budget=200))

    assert candidates_of(found) is candidates_from_items(found) is found
    assert found[0].score == 0.0
    assert notes["scores_from"] == kind
    assert notes_of(assemble("Which?", found, recipe="reranked", budget=200)) == notes


@pytest.mark.parametrize("recipe", builtin_recipes())
@pytest.mark.parametrize(
    "key", [*BY_PRECEDENCE, "similarity", "relevance_score", "_relevance_score", "_score"]
)
def test_every_name_of_a_score_decides_in_every_recipe(recipe, key):
    """V6: as the only one in the list, against the order of the list."""
    pool = [{**LOW, key: 0.10}, {**HIGH, key: 0.95}]
    context = assemble("Which?", pool, recipe=recipe, budget=200, order="relevance")
    if context.blocks:  # a floor may be above both
        assert context.blocks[0].source == "high.md"


def test_less_is_better_in_a_distance():
    """V6: Lance's `_distance` is one less the similarity; a bare `distance` may be either."""
    rows = [{"text": "A.", "_distance": 0}, {"text": "B.", "_distance": 2}]
    near, far = candidates_from_items(rows)
    assert (near.score, near.semantic_score, far.score) == (1.0, 1.0, -1.0)
    assert near.chunk.metadata == {}
    first, second = candidates_from_items(
        [{"text": "A.", "distance": 0.3}, {"text": "B.", "distance": 0.2}]
    )
    assert first.score > second.score
    assert first.chunk.metadata == {"distance": 0.3}


def test_names_of_scores_without_a_number_are_metadata():
    """V6, I1: `similarity` may be a word."""
    words = [{"text": "A.", "similarity": "high"}, {"text": "B.", "similarity": "low"}]
    found = candidates_from_items(words)
    assert [one.chunk.metadata for one in found] == [{"similarity": "high"}, {"similarity": "low"}]
    assert dict(found.notes) == {"scores_from": "the order of the list"}


def test_a_score_in_the_metadata_of_a_reranker_is_read():
    """V6: where LangChain's rerankers write it, also when the documents came as mappings."""
    pool = [
        {"page_content": one["text"], "metadata": {"source": one["source"], "relevance_score": n}}
        for one, n in ((LOW, 0), (HIGH, 0.7))
    ]
    assert [one.score for one in candidates_of(pool)] == [0.0, 0.7]


def test_some_with_a_reranked_score_stand_before_all_without():
    """V6: by their own scores; equal ones stay equal, for the order of the list says nothing."""
    pool = [
        {"text": "A.", "score": 0.9},
        {"text": "B.", "rerank_score": -7.0},
        {"text": "C.", "score": 0.9},
        {"text": "D.", "rerank_score": 1.0, "score": 0.1},
        {"text": "E.", "lexical_score": 20.0},
        {"text": "F."},
    ]
    found = candidates_from_items(pool)
    ranked = sorted(found, key=lambda one: -one.score)
    assert [one.text for one in ranked] == ["D.", "B.", "A.", "C.", "E.", "F."]
    assert found[0].score == found[2].score
    assert dict(found.notes) == {"scores_from": "rerank_score", "ranked_behind": 4}
    # what separates the reranker's scores is told by their range, which hardly grows
    assert found[5].score > -8


def test_values_without_a_score_are_ranked_by_another():
    """V6: a candidate's score is 0.0 where none was given."""
    pool = [Candidate(chunk=Chunk(text=f"Part {n}."), semantic_score=n) for n in (0.2, 0.7)]
    assert [c.score for c in candidates_from_items(pool)] == [0.2, 0.7]
    store = Candidate(chunk=Chunk(text="C"), score=0.03, semantic_score=0.9)
    assert candidates_from_items([store])[0].score == 0.03


@pytest.mark.parametrize("recipe", builtin_recipes())
def test_xml_shows_no_score_that_nobody_gave(recipe):
    """V6: neither of a list's order, nor of what stands behind, nor of a neighbour."""
    place = {"document_id": "d", "source": "d.md"}
    chunks = [{**place, "id": f"{n}", "sequence": n, "text": f"Gate {n} is red."} for n in range(6)]
    near = [Chunk(**one) for one in chunks]
    for pool in (
        chunks[2:4],
        [{**chunks[2], "rerank_score": 0.75}, chunks[4]],
        [{**chunks[2], "score": 0.75}],
    ):
        made = assemble(
            "Which gate is red?", pool, recipe=recipe, format="xml", budget=400, neighbours=near
        )
        shown = re.findall(r' score="([^"]*)"', made.text)
        assert set(shown) <= {"0.750"}
        assert (not shown) or "0.75" in json.dumps(pool)


def test_what_was_not_given_is_in_the_line_and_in_the_hash():
    """V6, D2, I2: a bundle gives the same bytes, for it says that nobody gave the score."""
    found = candidates_from_items([LOW, HIGH])
    lines = [json.dumps(candidate_to_json(one)) for one in found]
    assert candidates_from_jsonl(lines) == found
    assert tuple(candidate_from_record(json.loads(line)) for line in lines) == found
    given = tuple(Candidate(chunk=one.chunk, score=one.score) for one in found)
    assert candidates_hash(given) != candidates_hash(found)
    assert "unscored" not in candidate_to_json(given[0])
