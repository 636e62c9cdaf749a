"""Jupyter notebooks: texts as they are, code and its printed results between fences."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foveate.core.errors import BadInput
from foveate.ingest.loaders.decode import decode
from foveate.ingest.loaders.text import find_headings, sections_from_headings
from foveate.ports import LoadedDocument

_LONGEST_RESULT = 4_000
"""Characters of one result; what is longer is left out behind them, and said."""


def load_notebook(data: bytes, path: Path) -> tuple[LoadedDocument]:
    """The notebook as one document, with the sections of its headings; raises `BadInput`."""
    try:
        book = json.loads(decode(data))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"no notebook: {error}") from None
    cells = book.get("cells") if isinstance(book, Mapping) else None
    if not isinstance(cells, list):
        raise BadInput("no notebook of format 4: it has no list of cells")
    language = _language(book)
    parts = [part for cell in cells if isinstance(cell, Mapping) for part in _parts(cell, language)]
    text = "\n\n".join(part for part in parts if part.strip())
    found = find_headings(text, markdown=True)
    title = next((name for _, level, name in found if level == 1), path.stem)
    sections = sections_from_headings(text, found)
    return (LoadedDocument(text=text, title=title, sections=sections, lines=False),)


def _language(book: Mapping[str, Any]) -> str:
    metadata = book.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, Mapping) else None
    name = info.get("name") if isinstance(info, Mapping) else None
    return name if isinstance(name, str) and name.isalnum() else ""


def _parts(cell: Mapping[str, Any], language: str) -> list[str]:
    source = _text(cell.get("source")).strip("\n")
    if cell.get("cell_type") != "code":
        return [source]
    outputs = cell.get("outputs")
    printed = [_printed(one) for one in outputs] if isinstance(outputs, list) else []
    return [_fenced(source, language), *(_fenced(text, "") for text in printed)]


def _printed(output: object) -> str:
    """What a result shows as plain text."""
    if not isinstance(output, Mapping):
        return ""
    data = output.get("data")
    text = _text(output.get("text")) or _text(
        data.get("text/plain") if isinstance(data, Mapping) else ""
    )
    if output.get("output_type") == "error":
        text = f"{output.get('ename', '')}: {output.get('evalue', '')}"
    short = text[:_LONGEST_RESULT]
    return f"{short}\n[cut]" if len(short) < len(text) else short


def _fenced(text: str, language: str) -> str:
    if not text.strip():
        return ""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return "".join(part for part in value if isinstance(part, str))
    return ""
