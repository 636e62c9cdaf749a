"""What the reading process answers: documents as JSON and back. Starts nothing."""

from __future__ import annotations

from array import array
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from datetime import datetime
from typing import Any, TypedDict

from foveate.core.errors import BadInput
from foveate.ingest.loaders.rows import Rows
from foveate.ports import LoadedDocument, Section

__all__ = ["ReaderAnswer", "answer_from_parts", "parts_from_answer"]


class ReaderAnswer(TypedDict, total=False):
    """`refused`: why the whole file was; else its `parts`, each a document or why it is none."""

    refused: str
    parts: list[dict[str, Any] | str]


def answer_from_parts(parts: Iterable[LoadedDocument | BadInput]) -> ReaderAnswer:
    """The documents as plain values."""
    return {"parts": [str(p) if isinstance(p, BadInput) else _loaded_to_json(p) for p in parts]}


def parts_from_answer(answer: ReaderAnswer) -> list[LoadedDocument | BadInput]:
    """The documents again. Raises the `BadInput` that the file was refused with."""
    if "refused" in answer:
        raise BadInput(answer["refused"])
    return [BadInput(p) if isinstance(p, str) else _loaded_from_json(p) for p in answer["parts"]]


def _loaded_to_json(loaded: LoadedDocument) -> dict[str, Any]:
    plain = {each.name: getattr(loaded, each.name) for each in fields(loaded)}
    instant = loaded.modified_at
    return plain | {
        "sections": _plain_sections(loaded.sections),
        "metadata": dict(loaded.metadata),
        "modified_at": instant.isoformat() if instant else None,
    }


def _loaded_from_json(plain: dict[str, Any]) -> LoadedDocument:
    instant = plain["modified_at"]
    return LoadedDocument(
        **plain
        | {
            "sections": _sections(plain["sections"]),
            "modified_at": datetime.fromisoformat(instant) if instant else None,
            "principals": tuple(plain["principals"]),
        }
    )


def _plain_sections(sections: Sequence[Section]) -> Any:
    """A list for each section; of the rows of a table their columns, for there may be a million."""
    if not isinstance(sections, Rows):
        return [astuple(section) for section in sections]
    columns = [b64encode(column.tobytes()).decode() for column in sections.columns]
    return {"columns": columns, "names": sections.names}


def _sections(plain: Any) -> Sequence[Section]:
    if isinstance(plain, dict):
        columns = (array("q", b64decode(column)) for column in plain["columns"])
        return Rows(columns, plain["names"])
    names = [each.name for each in fields(Section)]
    return tuple(Section(**dict(zip(names, section, strict=True))) for section in plain)
