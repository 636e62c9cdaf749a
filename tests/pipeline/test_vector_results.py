"""Results of vector databases as candidates."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from foveate import BadInput, assemble
from foveate.pipeline.inputs import candidates_of
from foveate.pipeline.vector_results import scores_from_distances

TEXTS = ["Above three bar the valve opens.", "The pump starts at one bar.", "Roses want sun."]


def chroma(distances: Sequence[float] | None, **more: Any) -> dict[str, Any]:
    """What `collection.query` gives for one question."""
    return {
        "ids": [["a", "b", "c"]],
        "documents": [TEXTS],
        "metadatas": [[{"source": "boiler.md", "page": 4}, None, {"source": "garden.md"}]],
        "distances": None if distances is None else [list(distances)],
        "embeddings": None,
        **more,
    }


@pytest.mark.parametrize(
    "distances", [(0.1, 0.4, 0.9), (-0.5, 0.2, 1.4), (0.3, 1.8, 3.9), (12.0, 80.5, 300.0), None]
)
def test_a_smaller_distance_of_chroma_is_better(distances: Sequence[float] | None) -> None:
    """I1: in each of its spaces, and without distances by the order of the list."""
    found = candidates_of(chroma(distances))

    assert [c.id for c in sorted(found, key=lambda c: -c.score)] == ["a", "b", "c"]
    assert (found[0].chunk.source, found[0].chunk.page, found[2].chunk.source) == (
        "boiler.md",
        4,
        "garden.md",
    )
    bare = {**chroma(distances), "metadatas": [None], "distances": [None]}
    assert [c.id for c in candidates_of(bare)] == ["a", "b", "c"]
    context = assemble("When does the valve open?", chroma(distances), budget=50)
    assert context.text.startswith("[1] boiler.md\nAbove three bar")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"documents": None}, "no texts; include 'documents'"),
        ({"documents": [None]}, "no texts; include 'documents'"),
        ({"ids": [["a"], ["b"]]}, "with one question"),
        ({"ids": ["a", "b", "c"]}, "with one question"),
    ],
)
def test_what_is_no_result_of_one_question_is_refused(change: dict[str, Any], said: str) -> None:
    """X1: several questions, a `get`, a query that left the texts out."""
    with pytest.raises(BadInput, match=said):
        candidates_of(chroma((0.1, 0.4, 0.9), **change))


def point(number: int, score: float, payload: dict[str, Any] | None) -> Any:
    """A hit as Qdrant's client gives it, of a class in its package."""
    kind = type("ScoredPoint", (SimpleNamespace,), {"__module__": "qdrant_client.http.models"})
    return kind(id=number, score=score, payload=payload, vector=None)


@pytest.mark.parametrize("scores", [(0.9, 0.5, 0.1), (0.2, 3.5, 60.0)])
@pytest.mark.parametrize("wrapped", [False, True])
def test_hits_of_qdrant_are_read_with_their_payload(
    scores: Sequence[float], *, wrapped: bool
) -> None:
    """I1: similarities and distances, whichever way the scores go; fields and metadata."""
    payloads: list[dict[str, Any]] = [
        {"page_content": TEXTS[0], "metadata": {"source": "boiler.md", "page": 4}},
        {"document": TEXTS[1], "source": "pump.md", "team": "heating"},
        {"text": TEXTS[2], "file_path": "garden.md"},
    ]
    points = [point(n, s, p) for n, (s, p) in enumerate(zip(scores, payloads, strict=True))]
    kind = type("QueryResponse", (SimpleNamespace,), {"__module__": "qdrant_client.http.models"})
    found = candidates_of(kind(points=points) if wrapped else points)

    assert [c.id for c in sorted(found, key=lambda c: -c.score)] == ["0", "1", "2"]
    assert [c.chunk.source for c in found] == ["boiler.md", "pump.md", "garden.md"]
    assert (found[0].chunk.page, found[1].chunk.metadata["team"]) == (4, "heating")


@pytest.mark.parametrize("own", ["a note", ["a", "b"]])
def test_a_field_of_a_payload_may_be_called_metadata(own: Any) -> None:
    """I1: what is no mapping is metadata by that name."""
    (found,) = candidates_of([point(1, 0.9, {"text": "A.", "metadata": own, "team": "heating"})])

    assert dict(found.chunk.metadata) == {"metadata": own, "team": "heating"}


def test_a_hit_of_qdrant_without_text_is_refused() -> None:
    """X1: with its place in the list."""
    with pytest.raises(BadInput, match="item 2, field 'text': is missing"):
        candidates_of([point(1, 0.9, {"text": "A."}), point(2, 0.8, {"file": "b.md"})])


def test_scores_from_distances_fall() -> None:
    """I1: equal distances have equal scores, larger ones lower scores."""
    assert scores_from_distances([]) == []
    for distances in ([0.0, 0.5, 2.0], [0.0, 2.1, 5.0], [-1.0, 0.0]):
        scores = scores_from_distances(distances)
        assert scores == sorted(scores, reverse=True)
        assert len(set(scores)) == len(distances)
