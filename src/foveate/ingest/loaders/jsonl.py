"""Reads JSON Lines: each line is an object and a document.

Where a line has no `text`, it is a record, and its text is the line as it is written.
Known keys: `text`, `id`, `title`, `summary`, `source`, `modified_at` (ISO 8601), `principals` (list
of strings), `metadata` (object); other keys become metadata. A bad line is a `BadInput` with its
number, and the others are read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput
from foveate.ingest.loaders.decode import decode
from foveate.ports import LoadedDocument, Section


def load_jsonl(data: bytes, path: Path) -> Iterator[LoadedDocument | BadInput]:
    r"""The lines' documents in order, one at a time; blank lines are passed over.

    >>> [loaded.id for loaded in load_jsonl(b'{"text": "a", "id": "x"}\n{"text": "b"}', Path("d"))]
    ['x', '#2']
    """
    for number, line in enumerate(_split_lines(decode(data)), 1):
        if not line.strip():
            continue
        try:
            yield _parse_document(line, number, path)
        except BadInput as error:
            yield error


def _split_lines(text: str) -> Iterator[str]:
    # Not splitlines: U+2028 and its like may stand in a JSON string.
    at = 0
    while at <= len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield text[at:end]
        at = end + 1


def _parse_document(line: str, number: int, path: Path) -> LoadedDocument:
    row = _parse_object(line, number)
    if row.get("text") is None:
        if not row.keys() - {"text"}:
            raise BadInput("missing; a line needs a text or other keys", line=number, field="text")
        row = {"text": line.strip()}  # a record, as it is written; its keys say nothing to us
    text = _take_string(row, "text", number)
    metadata = _take_value(
        row, "metadata", number, lambda value: isinstance(value, dict), "an object"
    )
    known = {key: _take_string(row, key, number) for key in ("id", "title", "summary", "source")}
    return LoadedDocument(
        text=text,
        title=known["title"] or path.stem,
        sections=(Section(start=0, end=len(text), path="", row=number),),
        id=known["id"] or f"#{number}",
        own_id=bool(known["id"]),
        source=known["source"],
        summary=known["summary"],
        modified_at=_take_date(row, number),
        principals=_take_principals(row, number),
        metadata={**row, **(metadata or {})},
        lines=False,
    )


def _parse_object(line: str, number: int) -> dict[str, Any]:
    try:
        row = parse_json(line)
        json.dumps(row, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        raise BadInput(
            "a lone surrogate (\\ud800 to \\udfff) is no character", line=number
        ) from None
    except BadInput as error:
        raise BadInput(str(error), line=number) from None
    except ValueError:
        raise BadInput("NaN and Infinity are no JSON numbers", line=number) from None
    except RecursionError as error:
        raise BadInput(f"nested too deeply: {error}", line=number) from None
    if not isinstance(row, dict):
        raise BadInput(f"must be an object, not {type(row).__name__}", line=number)
    return row


def _take_value(
    row: dict[str, Any], key: str, number: int, fits: Callable[[Any], bool], want: str
) -> Any:
    value = row.pop(key, None)
    if value is None or fits(value):
        return value
    raise BadInput(f"must be {want}, not {type(value).__name__}", line=number, field=key)


def _take_string(row: dict[str, Any], key: str, number: int) -> str:
    return _take_value(row, key, number, lambda value: isinstance(value, str), "a string") or ""


def _take_principals(row: dict[str, Any], number: int) -> tuple[str, ...]:
    def fits(value: Any) -> bool:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)

    value = _take_value(row, "principals", number, fits, "a list of strings")
    return tuple(value or ())


def _take_date(row: dict[str, Any], number: int) -> datetime | None:
    value = _take_string(row, "modified_at", number)
    try:
        return datetime.fromisoformat(value) if value else None
    except ValueError:
        raise BadInput(
            f"{value[:40]!r} is no ISO 8601 date", line=number, field="modified_at"
        ) from None
