"""Results of Chroma and Qdrant as records of candidates.

Neither package is imported: a result of Chroma is a dict of columns, one of Qdrant is known by its
class's package. The result does not say which distance its collection has, so it is read from the
numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from foveate.core.errors import BadInput
from foveate.core.fields import FIELDS, KNOWN

TEXT_KEYS = ("text", *FIELDS["text"].keys, "document")
MOST_COSINE = 2.0  # no cosine distance is larger


def records_from_result(items: Any) -> Any:
    """The hits of a Chroma or Qdrant query as mappings, anything else as it is.

    >>> hit = {"ids": [["a"]], "documents": [["Roses."]], "distances": [[0.25]]}
    >>> records_from_result(hit)
    [{'id': 'a', 'text': 'Roses.', 'metadata': {}, 'score': 0.75}]
    """
    if isinstance(items, Mapping) and isinstance(items.get("ids"), list) and "documents" in items:
        return _from_chroma(items)
    points = getattr(items, "points", items) if _is_qdrant(items) else items
    if isinstance(points, list | tuple) and points and all(map(_is_qdrant, points)):
        return _from_qdrant(points)
    return items


def scores_from_distances(distances: Sequence[float]) -> list[float]:
    """Scores, which are higher for better hits; the least distance is the best.

    Up to 2 they are taken for one less the cosine or the inner product, else for lengths.
    """
    if max(distances, default=0.0) <= MOST_COSINE:
        return [1 - distance for distance in distances]
    return [1 / (1 + max(distance, 0.0)) for distance in distances]


def _from_chroma(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    if len(answer["ids"]) != 1 or not isinstance(answer["ids"][0], list):
        raise BadInput("the result must be of collection.query() with one question")
    if _column(answer, "documents") is None:
        raise BadInput("the result of Chroma has no texts; include 'documents' in the query")
    named = (("metadata", "metadatas"), ("embedding", "embeddings"), ("score", "distances"))
    columns = {
        field: column for field, name in named if (column := _column(answer, name)) is not None
    }
    if "score" in columns:
        columns["score"] = scores_from_distances(columns["score"])
    records = [
        {"id": own, "text": text, "metadata": {}}
        for own, text in zip(answer["ids"][0], answer["documents"][0], strict=True)
    ]
    for name, column in columns.items():
        for record, value in zip(records, column, strict=True):
            record[name] = value or {} if name == "metadata" else value
    return records


def _column(answer: Mapping[str, Any], name: str) -> Any:
    """What the one question has of it, or None: Chroma gives what was not asked for as None."""
    lists = answer.get(name)
    return None if lists is None else lists[0]


def _is_qdrant(item: Any) -> bool:
    return type(item).__module__.partition(".")[0] == "qdrant_client"


def _from_qdrant(points: Sequence[Any]) -> list[dict[str, Any]]:
    """What the collection's `payload` holds; where the best score is the least, distances."""
    scores: Sequence[Any] = [getattr(point, "score", None) for point in points]
    if None not in scores and scores[0] < scores[-1]:
        scores = scores_from_distances(scores)
    return [
        {**_payload_record(point.payload or {}), "id": str(point.id), "score": score}
        for point, score in zip(points, scores, strict=True)
    ]


def _payload_record(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The payload with its text by our name; keys that are no fields are metadata."""
    key = next((key for key in TEXT_KEYS if isinstance(payload.get(key), str)), "text")
    own = {name: value for name, value in payload.items() if name in KNOWN}
    rest = {name: value for name, value in payload.items() if name not in (*KNOWN, key)}
    if key in payload:
        own["text"] = payload[key]
    inner = own.get("metadata") or {}  # it may be a field of the user's own, by that name
    inner = inner if isinstance(inner, Mapping) else {"metadata": inner}
    return {**own, "metadata": {**rest, **inner}}
