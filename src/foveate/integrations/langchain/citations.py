"""Citation markers that run on over the tool calls of an agent's run.

The state is the message list: a tool that gives the documents of `FoveateRetriever` as its artifact
keeps them in its `ToolMessage`. The numbers follow from the messages alone, so a checkpoint has
them too, and calls that ran side by side number alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, ToolMessage

_OURS = {"label", "marker", "chunk_ids", "span"}
_FIELDS = ("id", "metadata", "page_content")
_MARKED = re.compile(r"(?:\[(?:SOURCE )?|chunk )[0-9]+\]?")
"""Labels that are made of the marker; others are a source's name, which stays as it is."""


def number_citations(messages: Iterable[BaseMessage]) -> list[BaseMessage]:
    """The messages with one numbering: marker n is the same source in all of them.

    A source that was shown before keeps its number. Results without such documents, or whose text
    does not hold them, are the objects that came, as are all other messages.
    """
    known = list(messages)
    for place, content, _ in _numbered(known):
        if content != known[place].content:
            known[place] = known[place].model_copy(update={"content": content})
    return known


def cited_documents(messages: Iterable[BaseMessage]) -> dict[int, list[Document]]:
    """By marker, as `number_citations` gives it: the documents that were shown under it."""
    found: dict[int, list[Document]] = {}
    for _, _, documents in _numbered(messages):
        for document in documents:
            found.setdefault(document.metadata["foveate"]["marker"], []).append(document)
    return found


def _numbered(messages: Iterable[BaseMessage]) -> Iterator[tuple[int, str, list[Document]]]:
    """Each result that holds documents: its place, and its text and documents numbered."""
    markers: dict[tuple[str, ...], int] = {}
    for place, message in enumerate(messages):
        artifact: Any = message.artifact if isinstance(message, ToolMessage) else None
        if not isinstance(artifact, list) or not isinstance(message.content, str):
            continue
        documents = [one for one in map(_read_block, artifact) if one is not None]
        if not (parts := _split(message.content, documents)):
            continue
        numbered = [_renumber(document, markers) for document in documents]
        texts = [document.page_content for document in numbered]
        content = parts[0] + "".join(
            text + behind for text, behind in zip(texts, parts[1:], strict=True)
        )
        yield place, content, numbered


def _read_block(value: Any) -> Document | None:
    """A block of ours whose text shows its marker; a checkpoint gives it back as a mapping."""
    if isinstance(value, Mapping):
        texts = isinstance(value.get("page_content"), str)
        if not texts or not isinstance(value.get("metadata"), Mapping):
            return None
        value = Document(**{key: value[key] for key in _FIELDS if value.get(key) is not None})
    block = value.metadata.get("foveate") if isinstance(value, Document) else None
    if not isinstance(block, dict) or not block.keys() >= _OURS:
        return None
    if not _MARKED.fullmatch(str(block["label"])):
        return None
    return value if _label_in_header(block) in value.page_content[: block["span"][0]] else None


def _label_in_header(block: Mapping[str, Any]) -> str:
    """The label as the header of the block spells it."""
    label: str = block["label"]
    return f'index="{block["marker"]}"' if label.startswith("chunk ") else label


def _split(content: str, documents: list[Document]) -> list[str]:
    """What stands before, between and behind the documents; empty where one is missing."""
    parts = []
    for document in documents:
        before, found, content = content.partition(document.page_content)
        if not found:
            return []
        parts.append(before)
    return [*parts, content] if parts else []


def _renumber(document: Document, markers: dict[tuple[str, ...], int]) -> Document:
    block = document.metadata["foveate"]
    marker = markers.setdefault(tuple(block["chunk_ids"]), len(markers) + 1)
    label = block["label"].replace(str(block["marker"]), str(marker))
    here, text = block["span"][0], document.page_content
    new = {**block, "marker": marker, "label": label}
    header = text[:here].replace(_label_in_header(block), _label_in_header(new), 1)
    moved = len(header) - here
    new["span"] = [at + moved for at in block["span"]]
    return document.model_copy(
        update={
            "page_content": header + text[here:],
            "metadata": {**document.metadata, "foveate": new},
        }
    )
