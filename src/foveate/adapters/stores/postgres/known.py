"""What a store remembers of texts by content hash: token counts, and readings as they were sealed.

Rules: best effort, and never in another's way: rows go in one order, whatever is taken by an
unfinished writer is waited for no longer than a moment; nothing here is part of the content.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foveate.adapters.stores.postgres.filters import storable
from foveate.adapters.stores.postgres.flow import Ask, Flow
from foveate.adapters.stores.postgres.names import Names

_PATIENCE = "200ms"


def counts(names: Names, fingerprint: str, hashes: Sequence[str]) -> Flow[dict[str, int]]:
    """Token counts that are known."""
    query = "SELECT hash, tokens FROM {s}.counts WHERE fingerprint = %s AND hash = ANY(%s::text[])"
    if not storable(fingerprint):
        return {}
    wanted = [each for each in hashes if storable(each)]
    (rows,) = yield [Ask(names.sql(query), [fingerprint, wanted])]
    return dict(rows)


def readings(names: Names, version: str, hashes: Sequence[str]) -> Flow[dict[str, bytes]]:
    """Readings that were kept."""
    query = "SELECT hash, data FROM {s}.readings WHERE version = %s AND hash = ANY(%s::text[])"
    if not storable(version):
        return {}
    wanted = [each for each in hashes if storable(each)]
    (rows,) = yield [Ask(names.sql(query), [version, wanted])]
    return dict(rows)


def remember(names: Names, fingerprint: str, counts: Mapping[str, int]) -> Flow[None]:
    """Keep token counts, where no writer stands in the way."""
    yield [_impatient(), *remembering(names, fingerprint, counts)]


def remembering(names: Names, fingerprint: str, counts: Mapping[str, int]) -> list[Ask]:
    """The statement alone; none where there is nothing to remember."""
    query = """INSERT INTO {s}.counts
        SELECT %s, hash, tokens FROM unnest(%s::text[], %s::bigint[]) AS new (hash, tokens)
        ON CONFLICT (fingerprint, hash) DO UPDATE SET tokens = excluded.tokens
        WHERE counts.tokens <> excluded.tokens"""
    hashes = sorted(each for each in counts if storable(each))
    if not hashes or not storable(fingerprint):
        return []
    return [Ask(names.sql(query), [fingerprint, hashes, [counts[each] for each in hashes]])]


def keep(names: Names, version: str, readings: Mapping[str, bytes]) -> Flow[None]:
    """Keep readings, where no writer stands in the way."""
    query = """INSERT INTO {s}.readings (version, hash, data)
        SELECT %s, hash, data FROM unnest(%s::text[], %s::bytea[]) AS new (hash, data)
        ON CONFLICT (version, hash) DO UPDATE SET data = excluded.data, id = excluded.id"""
    hashes = sorted(each for each in readings if storable(each))
    if hashes and storable(version):
        asked = [version, hashes, [bytes(readings[each]) for each in hashes]]
        yield [_impatient(), Ask(names.sql(query), asked)]


def _impatient() -> Ask:
    return Ask(f"SELECT set_config('lock_timeout', '{_PATIENCE}', true)")
