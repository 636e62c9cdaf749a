"""What a store remembers of texts by content hash: token counts, and readings as they were sealed.

Rules: best effort, and never in another's way: rows go in one order, whatever is taken by an
unfinished writer is waited for no longer than a moment; nothing here is part of the content.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foveate.stores.checksums import checksum
from foveate.stores.postgres.filters import is_storable
from foveate.stores.postgres.names import Names
from foveate.stores.postgres.statements import Statement, StatementFlow

_LOCK_TIMEOUT = "200ms"


def load_counts(
    names: Names, fingerprint: str, hashes: Sequence[str]
) -> StatementFlow[dict[str, int]]:
    """Token counts that are known; not of damaged rows."""
    query = (
        "SELECT hash, tokens, checksum FROM {s}.counts "
        "WHERE fingerprint = %s AND hash = ANY(%s::text[])"
    )
    if not is_storable(fingerprint):
        return {}
    wanted = [each for each in hashes if is_storable(each)]
    (rows,) = yield [Statement(names.sql(query), [fingerprint, wanted])]
    return {
        hash_: tokens
        for hash_, tokens, noted in rows
        if noted == checksum((fingerprint, hash_, tokens))
    }


def load_analyses(
    names: Names, version: str, hashes: Sequence[str]
) -> StatementFlow[dict[str, bytes]]:
    """Readings that were kept."""
    query = "SELECT hash, data FROM {s}.readings WHERE version = %s AND hash = ANY(%s::text[])"
    if not is_storable(version):
        return {}
    wanted = [each for each in hashes if is_storable(each)]
    (rows,) = yield [Statement(names.sql(query), [version, wanted])]
    return dict(rows)


def save_counts(names: Names, fingerprint: str, counts: Mapping[str, int]) -> StatementFlow[None]:
    """Keep token counts, where no writer stands in the way."""
    yield [_lock_timeout_statement(), *count_statements(names, fingerprint, counts)]


def count_statements(names: Names, fingerprint: str, counts: Mapping[str, int]) -> list[Statement]:
    """The statement alone; none where there is nothing to remember."""
    query = """INSERT INTO {s}.counts
        SELECT %s, hash, tokens, checksum
        FROM unnest(%s::text[], %s::bigint[], %s::bigint[]) AS new (hash, tokens, checksum)
        ON CONFLICT (fingerprint, hash)
        DO UPDATE SET tokens = excluded.tokens, checksum = excluded.checksum
        WHERE counts.checksum <> excluded.checksum OR counts.tokens <> excluded.tokens"""
    hashes = sorted(each for each in counts if is_storable(each))
    if not hashes or not is_storable(fingerprint):
        return []
    tokens = [counts[each] for each in hashes]
    sums = [checksum((fingerprint, *row)) for row in zip(hashes, tokens, strict=True)]
    return [Statement(names.sql(query), [fingerprint, hashes, tokens, sums])]


def save_analyses(names: Names, version: str, readings: Mapping[str, bytes]) -> StatementFlow[None]:
    """Keep readings, where no writer stands in the way."""
    query = """INSERT INTO {s}.readings (version, hash, data)
        SELECT %s, hash, data FROM unnest(%s::text[], %s::bytea[]) AS new (hash, data)
        ON CONFLICT (version, hash) DO UPDATE SET data = excluded.data, id = excluded.id"""
    hashes = sorted(each for each in readings if is_storable(each))
    if hashes and is_storable(version):
        asked = [version, hashes, [bytes(readings[each]) for each in hashes]]
        yield [_lock_timeout_statement(), Statement(names.sql(query), asked)]


def _lock_timeout_statement() -> Statement:
    return Statement(f"SELECT set_config('lock_timeout', '{_LOCK_TIMEOUT}', true)")
