"""What the checks of all stores compute again and compare: texts, readers, and what they hold."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic

import numpy as np

from foveate.core.errors import ExternalError
from foveate.core.state import combine_states, state_hash
from foveate.core.types import content_hash
from foveate.stores import outlines
from foveate.stores.base import Finding, Report
from foveate.stores.checksums import checksum
from foveate.stores.rows import (
    chunk_checksum,
    chunk_members,
    document_member,
    parse_principals,
    terms_to_index,
)
from foveate.stores.totals import CHUNKS, DOCUMENTS, R, Totals

MAX_FINDINGS = 100
"""Findings that a check reports of one part."""


@dataclass(slots=True)
class Recount(Generic[R]):
    """The findings of a check, and the totals of each set of readers.

    `principals`: audience → its principals (sorted JSON), as the store says. `passes`: errors that
    end the check.
    """

    totals: Totals[R] = field(default_factory=Totals)
    found: list[Finding] = field(default_factory=list)
    principals: dict[R, str] = field(default_factory=dict)
    passes: tuple[type[Exception], ...] = ()
    documents: int = 0
    chunks: int = 0

    def take(self, part: str, findings: Iterable[str]) -> None:
        """Take findings down, not too many of a part; that something cannot be read is one."""
        room = MAX_FINDINGS - sum(one.part == part for one in self.found)
        try:
            for what in islice(findings, room):
                self.found.append(Finding(part=part, what=what))
        except self.passes:
            raise
        except ExternalError as error:
            self.found.append(Finding(part=part, what=str(error)))
        except Exception as error:  # noqa: BLE001 (what a damaged value leads to is not foreseen)
            what = f"holds a value that was not put there: {error}"
            self.found.append(Finding(part=part, what=what))

    def report(self, embedder: str) -> Report:
        """All findings, and the state root of the rows."""
        return Report(
            documents=self.documents,
            chunks=self.chunks,
            state_root=state_hash(combine_states(self.totals.states.values()), embedder=embedder),
            findings=tuple(self.found),
        )

    def check_document(
        self: Recount[int],
        row: dict[str, Any],
        chunks: Sequence[dict[str, Any]],
        scanned: Mapping[int, tuple[int, int, bytes]],
        outline: Sequence[Any] | None,
    ) -> dict[int, list[str]]:
        """Compare one document with all that is derived; its chunks' terms, by row id.

        `scanned`: of a chunk, what searches read: audience, number of terms, vector.
        """
        terms = {chunk["id"]: terms_to_index(chunk) for chunk in chunks}
        self.take("rows", text_findings(row, row["text"], chunks))
        self.take("rows", self.audience_findings(row, chunks))
        self.take("vectors", _scan_findings(chunks, scanned, terms))
        self.take("checksums", _checksum_findings(row, chunks, scanned, outline))
        self.totals.apply([document_member(row)], DOCUMENTS)
        self.totals.apply(chunk_members(row, chunks), CHUNKS)
        self.documents += 1
        self.chunks += len(chunks)
        return terms

    def member_findings(
        self, members: Iterable[tuple[str, R]], decode: Callable[[str], str] = str
    ) -> Iterator[str]:
        """Audiences whose members (name, audience) are others than their principals."""
        whose: dict[R, list[str]] = {}
        for name, audience in members:
            whose.setdefault(audience, []).append(decode(name))
        for audience, principals in self.principals.items():
            if sorted(whose.pop(audience, [])) != sorted(parse_principals(principals)):
                yield f"the members of the audience {principals} are others"
        for audience in whose:
            yield f"audience {audience} has members and is not there"

    def audience_findings(
        self, document: Mapping[str, Any] | None, chunks: Iterable[Mapping[str, Any]] = ()
    ) -> Iterator[str]:
        """Rows whose audience is not that of their principals."""
        documents = () if document is None else (document,)
        for kind, rows in (("document", documents), ("chunk", chunks)):
            for row in rows:
                if self.principals.get(row["audience"]) != row["principals"]:
                    name = row[f"{kind}_id"]
                    yield f"{kind} {name!r} has an audience of other principals"

    def state_findings(
        self, reader: R, principals: str, state: bytes, figures: list[int]
    ) -> Iterator[str]:
        """Where the stored state and figures of these readers are not those of the rows."""
        expected_state, expected = self.totals.of(reader)
        if state != expected_state:
            yield f"the state of what {principals} may read is not that of the rows"
        if figures != expected:
            yield f"what {principals} may read is counted as {figures}, not {expected}"


def _scan_findings(
    chunks: Iterable[Mapping[str, Any]],
    scanned: Mapping[int, tuple[Any, int, bytes]],
    terms: Mapping[int, Sequence[str]],
) -> Iterator[str]:
    for chunk in chunks:
        number, name = chunk["id"], chunk["chunk_id"]
        if number not in scanned:
            yield f"chunk {name!r} is not there for searches"
            continue
        audience, length, _ = scanned[number]
        if audience != chunk["audience"]:
            yield f"chunk {name!r} is searched for other readers than its own"
        if length != len(terms[number]):
            yield f"chunk {name!r} has {len(terms[number])} terms, not {length}"


def _checksum_findings(
    row: Mapping[str, Any],
    chunks: Iterable[Mapping[str, Any]],
    scanned: Mapping[int, tuple[Any, int, bytes]],
    outline: Sequence[Any] | None,
) -> Iterator[str]:
    number, name = row["id"], row["document_id"]
    _, _, places, noted, row_noted = outline or (0, "", b"", 0, 0)
    if outlines.row_checksum(number, row) != row_noted:
        yield f"document {name!r} is not as it was written"
    found = sorted((chunk["sequence"], chunk["id"], chunk["audience"]) for chunk in chunks)
    same = checksum((number, name, places)) == noted
    if not same or sorted(outlines.decode_places(places)) != found:
        yield f"document {name!r}: its chunks are not where they were put"
    for chunk in chunks:
        _, _, vector = scanned.get(chunk["id"], (0, 0, b""))
        if chunk_checksum(chunk["id"], row, chunk, vector) != chunk["checksum"]:
            yield f"chunk {chunk['chunk_id']!r} is not as it was written"


def mix_places(*columns: Any) -> Any:
    """A number of 64 bits for each place, by all that is said of it; to be added up by term."""
    mixed = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        mixed = (mixed ^ column.astype(np.uint64)) * _FACTOR
        mixed ^= mixed >> np.uint64(29)
    return mixed * _FACTOR


_FACTOR = np.uint64(0x9E3779B97F4A7C15)


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
