"""What the reading process answers: documents as JSON and back. Starts nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, fields
from datetime import datetime
from typing import Any, TypedDict

from foveate.core.errors import BadInput
from foveate.ports import Loaded, Section

__all__ = ["Answer", "answer_of", "parts_of"]


class Answer(TypedDict, total=False):
    """`refused`: why the whole file was; else its `parts`, each a document or why it is none."""

    refused: str
    parts: list[dict[str, Any] | str]


def answer_of(parts: Sequence[Loaded | BadInput]) -> Answer:
    """The documents as plain values."""
    return {"parts": [str(p) if isinstance(p, BadInput) else _plain(p) for p in parts]}


def parts_of(answer: Answer) -> list[Loaded | BadInput]:
    """The documents again. Raises the `BadInput` that the file was refused with."""
    if "refused" in answer:
        raise BadInput(answer["refused"])
    return [BadInput(p) if isinstance(p, str) else _loaded(p) for p in answer["parts"]]


def _plain(loaded: Loaded) -> dict[str, Any]:
    plain = {each.name: getattr(loaded, each.name) for each in fields(loaded)}
    instant = loaded.modified_at
    return plain | {
        "sections": [astuple(section) for section in loaded.sections],
        "metadata": dict(loaded.metadata),
        "modified_at": instant.isoformat() if instant else None,
    }


def _loaded(plain: dict[str, Any]) -> Loaded:
    instant = plain["modified_at"]
    names = [each.name for each in fields(Section)]
    return Loaded(
        **plain
        | {
            "sections": tuple(
                Section(**dict(zip(names, section, strict=True))) for section in plain["sections"]
            ),
            "modified_at": datetime.fromisoformat(instant) if instant else None,
            "principals": tuple(plain["principals"]),
        }
    )
