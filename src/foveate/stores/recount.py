"""What the checks of all stores compute again: texts by their hashes, and what readers hold."""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from foveate.core.state import EMPTY_STATE, update_state
from foveate.core.types import content_hash

MAX_FINDINGS = 100
"""Findings that a check reports of one part."""

R = TypeVar("R", bound=Hashable)


@dataclass(slots=True)
class ReaderTotals(Generic[R]):
    """The state and the figures of each set of readers; documents and chunks are figures 0 and 1.

    `width`: how many figures the store keeps.
    """

    width: int = 2
    states: dict[R, bytes] = field(default_factory=dict)
    figures: dict[R, list[int]] = field(default_factory=dict)

    def add(self, members: Iterable[tuple[R, bytes]], figure: int) -> None:
        """Members with their readers, each of which counts one in this figure."""
        for reader, encoded in members:
            state = self.states.get(reader, EMPTY_STATE)
            self.states[reader] = update_state(state, added=[encoded])
            self.figures.setdefault(reader, [0] * self.width)[figure] += 1

    def findings(
        self, reader: R, principals: str, state: bytes, figures: list[int]
    ) -> Iterator[str]:
        """Where the stored state and figures of these readers are not those of the rows."""
        if state != self.states.get(reader, EMPTY_STATE):
            yield f"the state of what {principals} may read is not that of the rows"
        if figures != (expected := self.figures.get(reader, [0] * self.width)):
            yield f"what {principals} may read is counted as {figures}, not {expected}"


def text_findings(
    document: Mapping[str, Any], packed: bytes, chunks: Iterable[Mapping[str, Any]] = ()
) -> Iterator[str]:
    """Where the packed text of a document, or a chunk, is not that of its hash or its offsets."""
    name = document["document_id"]
    try:
        text = zlib.decompress(packed).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        yield f"document {name!r}: its text cannot be unpacked: {error}"
        return
    if content_hash(text) != document["text_hash"]:
        yield f"document {name!r}: its text is not the one that was put"
    for chunk in chunks:
        name, start, end = chunk["chunk_id"], chunk["start"], chunk["end"]
        if content_hash(chunk["text"]) != chunk["content_hash"]:
            yield f"chunk {name!r}: its text is not the one that was put"
        if text and start is not None and end is not None and text[start:end] != chunk["text"]:
            yield f"chunk {name!r} is not what its document says from {start} to {end}"
