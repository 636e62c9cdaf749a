"""What `POST /v1/search` does: one page of what a search finds.

A page is cut out of the whole search, made again, in the very state in which the first page was
made; where the store was written to in between, the pages would not fit, and that is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foveate.core.candidates import candidate_to_json
from foveate.core.manifest import digest
from foveate.pipeline.assembler import Assembler
from foveate.service.app_state import AppState
from foveate.service.auth.caller import Caller
from foveate.service.problems import ProblemError
from foveate.service.wire import cursor
from foveate.service.wire.search import SearchRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage:
    """One page as JSON, of which state it is, and as whom it was read."""

    record: dict[str, Any]
    state_root: str
    principals: tuple[str, ...]


MAX_CHUNKS = 2_000
"""Chunks that a search brings in all pages together."""


def run_search(held: AppState, caller: Caller, asked: SearchRequest) -> SearchPage:
    """One page; raises the errors of a store's search, and a 409 problem."""
    principals = caller.narrow_principals(asked.principals)
    same = _search_digest(asked, principals)
    first, root = 0, ""
    if asked.cursor is not None:
        first, root, before = cursor.decode_cursor(asked.cursor, int, str, str)
        if before != same or not 0 < first < MAX_CHUNKS:
            raise ProblemError(400, "bad-input", "the cursor is of another search", field="cursor")
    with held.stores.borrow(caller.tenant) as shelf:
        found = Assembler(
            store=shelf.store,
            embedder=shelf.embedder,
            observers=held.observers,
        ).search(
            asked.query,
            limit=min(MAX_CHUNKS, first + asked.limit + 1),
            depth=asked.depth,
            principals=principals,
            where=asked.where,
        )
    if root and root != found.state_root:
        raise ProblemError(
            409, "changed", "the store changed meanwhile; begin again", field="cursor"
        )
    last = first + asked.limit
    more = len(found.candidates) > last
    records = [candidate_to_json(candidate) for candidate in found.candidates[first:last]]
    for record in records:
        record.pop("embedding", None)
    record = {
        "query": asked.query,
        "badge": found.badge,
        "lexical_matches": found.lexical_matches,
        "exact": found.exact,
        "candidates": records,
        "next": cursor.encode_cursor([last, found.state_root, same]) if more else None,
    }
    return SearchPage(record=record, state_root=found.state_root, principals=principals)


def _search_digest(asked: SearchRequest, principals: tuple[str, ...]) -> str:
    """What must be the same on all pages."""
    where = sorted((asked.where or {}).items(), key=repr)
    return digest(repr((asked.query, asked.depth, where, sorted(set(principals)))))
