"""Whether a server store is whole: all that is derived is worked out again and compared.

Rules: one snapshot, nothing is changed; document by document, so that memory does not grow with
the texts; a part has at most 100 findings. The server's own files are its own to check
(pg_amcheck, checksums).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from foveate.adapters.stores.int8 import norms
from foveate.adapters.stores.postgres import halves, postings
from foveate.adapters.stores.postgres.filters import facts
from foveate.adapters.stores.postgres.flow import Ask, Flow
from foveate.adapters.stores.postgres.names import Names
from foveate.adapters.stores.postgres.schema import digest_of
from foveate.adapters.stores.report import Finding, Report
from foveate.adapters.stores.rows import (
    CHUNK_FIELDS,
    DOCUMENT_FIELDS,
    columns,
    indexed_terms,
    members,
    names_of,
)
from foveate.core.state import EMPTY, combine, root, shift
from foveate.core.types import content_hash

_MOST = 100
_PAGE = 50
"""Documents at a time."""
_DOCUMENT = ("id", "audience", "text", *DOCUMENT_FIELDS)
_CHUNK = ("id", "document", "audience", "facts", *CHUNK_FIELDS)

# What must find nothing, and what it means where it does.
_RELATIONS = (
    (
        "rows",
        "chunk {!r} belongs to no document",
        (
            "SELECT chunk_id FROM {s}.chunks AS c WHERE NOT EXISTS "
            "(SELECT 1 FROM {s}.documents AS d WHERE d.id = c.document)"
        ),
    ),
    (
        "rows",
        "row {} is searched and is no chunk",
        (
            "SELECT chunk FROM {s}.scan AS s WHERE NOT EXISTS "
            "(SELECT 1 FROM {s}.chunks AS c WHERE c.id = s.chunk)"
        ),
    ),
    (
        "words",
        "the words of document row {} are kept, and it is gone",
        (
            "SELECT DISTINCT document FROM {s}.postings AS p WHERE NOT EXISTS "
            "(SELECT 1 FROM {s}.documents AS d WHERE d.id = p.document)"
        ),
    ),
)


def checked(names: Names, embedder: str) -> Flow[Report]:
    """Look at everything."""
    look = _Look(names)
    for part, said, query in _RELATIONS:
        (rows,) = yield [Ask(names.sql(query))]
        look.found(part, (said.format(row[0]) for row in rows))
    (rows,) = yield [Ask(names.sql("SELECT id, principals, digest FROM {s}.audiences"))]
    (members_,) = yield [Ask(names.sql("SELECT principal, audience FROM {s}.members"))]
    look.found("rows", look.readers(rows, members_))
    last = -1
    while True:
        (documents,) = yield [_page(names, last)]
        if not documents:
            break
        last = documents[-1][0]
        ids = [row[0] for row in documents]
        chunks, scan, words = yield _of_documents(names, ids)
        for document in documents:
            look.document(document, chunks, scan, words)
    query = "SELECT id, principals, state, documents, chunks, words FROM {s}.audiences ORDER BY id"
    (audiences,) = yield [Ask(names.sql(query))]
    look.found("state", look.states_differ(audiences))
    return Report(
        documents=look.documents,
        chunks=look.chunks,
        state_root=root(combine(look.states.values()), embedder=embedder),
        findings=tuple(look.findings),
    )


def _page(names: Names, last: int) -> Ask:
    query = f"SELECT {columns(_DOCUMENT)} FROM {{s}}.documents WHERE id > %s ORDER BY id LIMIT %s"
    return Ask(names.sql(query), [last, _PAGE])


def _of_documents(names: Names, ids: list[int]) -> list[Ask]:
    chunks = f"SELECT {columns(_CHUNK)} FROM {{s}}.chunks WHERE document = ANY(%s) ORDER BY id"
    scan = (
        f"SELECT s.chunk, s.audience, s.terms, s.norm, {halves.as_sent(names)} "
        "FROM {s}.scan AS s JOIN {s}.chunks AS c ON c.id = s.chunk WHERE c.document = ANY(%s)"
    )
    words = "SELECT document, term, audience, places FROM {s}.postings WHERE document = ANY(%s)"
    return [Ask(names.sql(query), [ids]) for query in (chunks, scan, words)]


class _Look:
    """What was seen so far, and what was wrong with it."""

    def __init__(self, names: Names) -> None:
        self._width = names.dimensions
        self.findings: list[Finding] = []
        self.states: dict[int, bytes] = {}
        self._figures: dict[int, list[int]] = {}
        self._principals: dict[int, str] = {}
        self.documents = self.chunks = 0

    def found(self, part: str, findings: Iterator[str]) -> None:
        """Take findings down, not too many of one part."""
        room = _MOST - sum(one.part == part for one in self.findings)
        self.findings += [Finding(part=part, what=what) for what in islice(findings, room)]

    def readers(self, audiences: Sequence[Any], members: Sequence[Any]) -> Iterator[str]:
        """Audiences whose members are others than their principals."""
        whose: dict[int, list[str]] = {}
        for principal, audience in members:
            whose.setdefault(audience, []).append(principal)
        for audience, principals, digest in audiences:
            self._principals[audience] = principals
            wanted = sorted(json.dumps(name) for name in names_of(principals))
            if sorted(whose.pop(audience, [])) != wanted or digest_of(principals) != digest:
                yield f"the members of the audience {principals} are others"
        for audience in whose:
            yield f"audience {audience} has members and is not there"

    def document(self, values: Any, chunks: Any, scan: Any, words: Any) -> None:
        """One document with all that is derived from it."""
        row = dict(zip(_DOCUMENT, values, strict=True))
        mine = [dict(zip(_CHUNK, one, strict=True)) for one in chunks if one[1] == row["id"]]
        self.found("rows", self._texts(row, mine))
        scanned = {one[0]: one[1:] for one in scan}
        terms = {one["id"]: indexed_terms(one) for one in mine}
        self.found("vectors", self._scanned(mine, scanned, terms))
        audiences = {one["id"]: one["audience"] for one in mine}
        expected = sorted(zip(*postings.packed(terms, audiences), strict=True))
        if sorted(one[1:] for one in words if one[0] == row["id"]) != expected:
            what = f"document {row['document_id']!r} is indexed by other words than it has"
            self.found("words", iter([what]))
        self._account(row, mine, terms)

    def _texts(self, row: dict[str, Any], chunks: Sequence[dict[str, Any]]) -> Iterator[str]:
        name = row["document_id"]
        text = zlib.decompress(row["text"]).decode()
        if content_hash(text) != row["text_hash"]:
            yield f"document {name!r}: its text is not the one that was put"
        if self._principals.get(row["audience"]) != row["principals"]:
            yield f"document {name!r} has an audience of other principals"
        for chunk in chunks:
            start, end = chunk["start"], chunk["end"]
            if content_hash(chunk["text"]) != chunk["content_hash"]:
                yield f"chunk {chunk['chunk_id']!r}: its text is not the one that was put"
            if text and start is not None and end is not None and text[start:end] != chunk["text"]:
                yield f"chunk {chunk['chunk_id']!r} is not what its document says from {start} on"
            if self._principals.get(chunk["audience"]) != chunk["principals"]:
                yield f"chunk {chunk['chunk_id']!r} has an audience of other principals"
            if facts(chunk["metadata"]) != chunk["facts"]:
                yield f"chunk {chunk['chunk_id']!r} is filtered by other metadata than it has"

    def _scanned(
        self, chunks: Sequence[dict[str, Any]], scan: Any, terms: dict[int, list[str]]
    ) -> Iterator[str]:
        import numpy as np

        for chunk in chunks:
            if chunk["id"] not in scan:
                yield f"chunk {chunk['chunk_id']!r} is not there for searches"
                continue
            audience, length, norm, sent = scan[chunk["id"]]
            vector = np.frombuffer(halves.read(sent, self._width), dtype=np.int8)
            if audience != chunk["audience"]:
                yield f"chunk {chunk['chunk_id']!r} is searched for other readers than its own"
            if (length, norm) != (len(terms[chunk["id"]]), int(norms(vector[None])[0])):
                yield f"chunk {chunk['chunk_id']!r}: its length or its vector's is another"

    def _account(
        self, row: dict[str, Any], chunks: Sequence[dict[str, Any]], terms: dict[int, list[str]]
    ) -> None:
        self.documents += 1
        self.chunks += len(chunks)
        for audience, encoded in members(row, chunks):
            state = self.states.get(audience, EMPTY)
            self.states[audience] = shift(state, added=[encoded])
        self._figures.setdefault(row["audience"], [0, 0, 0])[0] += 1
        for chunk in chunks:
            figures = self._figures.setdefault(chunk["audience"], [0, 0, 0])
            figures[1] += 1
            figures[2] += len(terms[chunk["id"]])

    def states_differ(self, audiences: Sequence[Any]) -> Iterator[str]:
        """Audiences whose state or figures are not those of the rows."""
        for audience, principals, state, *figures in audiences:
            if state != self.states.get(audience, EMPTY):
                yield f"the state of what {principals} may read is not that of the rows"
            if figures != (expected := self._figures.get(audience, [0, 0, 0])):
                yield f"what {principals} may read is counted as {figures}, not {expected}"
