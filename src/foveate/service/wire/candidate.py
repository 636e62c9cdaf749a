"""A candidate's schema (SPEC I2). The check is the core's own, which names line and field."""

from __future__ import annotations

from typing import Any

_IDS = ("id", "document_id")
_TEXTS = ("source", "title", "summary")
_INTEGERS = ("sequence", "page", "row", "line", "start", "end", "byte_offset")
_SCORES = ("score", "semantic_score", "lexical_score", "rerank_score")


def _nullable(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": [kind, "null"], **more}


CANDIDATE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["text"],
    "properties": {
        "text": {"type": "string"},
        **{name: {"type": ["string", "integer", "null"]} for name in _IDS},
        **{name: _nullable("string") for name in _TEXTS},
        **{name: _nullable("integer", minimum=0) for name in _INTEGERS},
        **{name: _nullable("number") for name in _SCORES},
        "section": {"type": ["string", "array", "null"], "items": {"type": "string"}},
        "modified_at": _nullable("string", format="date-time"),
        "principals": _nullable("array", items={"type": "string"}),
        "metadata": _nullable("object"),
        "embedding": _nullable("array", items={"type": "number"}, minItems=1),
        "origin": {"enum": ["retrieved", "neighbour", None]},
    },
    "additionalProperties": True,
    "description": "A chunk with its scores; a key that is not named here is metadata.",
    "examples": [{"id": "c1", "source": "boiler.md", "score": 0.9, "text": "Keep it at one bar."}],
}
