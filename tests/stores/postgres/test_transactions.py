from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from time import monotonic

import psycopg
import pytest

from foveate.core.errors import ExternalError
from foveate.stores.postgres import PostgresStore
from foveate.testing.store_corpus import corpus, fill
from store_urls import opened


def check_whole(store: PostgresStore) -> int:
    """All that is derived agrees; how many documents there are."""
    assert store.check().findings == ()
    return len(list(store.documents()))


def test_a_killed_backend_leaves_the_last_good_state(new_schema: Callable[[], str], postgres: str):
    """T5, X3: the server ends our session in the middle of a batch; what was before is there."""
    entries = corpus(count=6)
    with closing(fill(opened(new_schema()), entries[:3])) as store:
        before = store.state_root()
        ended = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> "
        ended += "pg_backend_pid() AND application_name = 'foveate'"

        def broken_off() -> None:
            with store.batch():
                entries[4].put(store)
                with psycopg.connect(postgres, autocommit=True) as admin:
                    assert admin.execute(ended).fetchone() > (0,)
                entries[5].put(store)

        with pytest.raises(ExternalError, match="not there, or went away"):
            broken_off()
        assert store.state_root() == before
        assert check_whole(store) == 3
        entries[4].put(store)
        assert check_whole(store) == 4


def test_a_killed_server_process_leaves_the_last_good_state(
    new_schema: Callable[[], str], postgres: str
):
    """T5, X3: `kill -9` of a backend restarts the whole server; the store is as it was."""
    entries = corpus(count=4)
    with closing(fill(opened(f"{new_schema()}&wait=60"), entries[:3])) as store:
        before = store.state_root()

        def broken_off() -> None:
            with store.batch():
                entries[3].put(store)
                connection = store._batch_connection
                assert connection is not None
                os.kill(connection.info.backend_pid, signal.SIGKILL)
                entries[3].put(store)

        with psycopg.connect(postgres) as sibling:
            with pytest.raises(ExternalError):
                broken_off()
            with pytest.raises(psycopg.OperationalError):  # ended with all others
                sibling.execute("SELECT pg_sleep(60)")
        # The server refuses connections while it recovers; the pool goes on trying.
        assert store.state_root() == before
        assert check_whole(store) == 3


def test_a_writer_that_waits_too_long_changes_nothing(new_schema):
    """T5: while a batch is open others wait, then are told; readers do not wait at all."""
    url = f"{new_schema()}&wait=1"
    entries = corpus(count=3)
    with closing(opened(url)) as store, closing(opened(url)) as other:
        entries[0].put(store)
        before = other.state_root()
        with store.batch():
            entries[1].put(store)
            assert store.state_root() != before
            with pytest.raises(ExternalError, match="another process is writing.*try again"):
                entries[2].put(other)
            assert other.state_root() == before
            other.remember("f1", dict.fromkeys((c.content_hash for c in entries[1].chunks), 7))
        assert other.state_root() == store.state_root()
        entries[2].put(other)
        assert check_whole(store) == 3


def test_a_read_waits_for_locked_tables_no_longer_than_wait(new_schema, postgres: str):
    """X3: it is told why; a check, which takes long, has no limit, and the next read is whole."""
    url = new_schema()
    with closing(fill(opened(f"{url}&wait=1"), corpus(count=3))) as store:
        with psycopg.connect(postgres) as other:
            other.execute(f"LOCK TABLE {url.rpartition('=')[2]}.documents")
            begun = monotonic()
            with pytest.raises(ExternalError, match="has locked its tables"):
                store.documents()
            assert monotonic() - begun < 5
            other.rollback()
        assert check_whole(store) == 3
        with (
            store._read_transaction() as bounded,
            store._read_transaction(replace(store._context, wait=0)) as free,
        ):
            query = "SELECT current_setting('statement_timeout'), current_setting('lock_timeout')"
            assert [one.rows(query) for one in (bounded, free)] == [
                [("1200ms", "1s")],
                [("0", "0")],
            ]


def test_neighbours_take_one_round_trip_for_all_places(new_schema, postgres: str, round_trips):
    """S5: fifty places cost one round trip, which no scan of a whole table answers."""
    entries = corpus(count=30)
    with closing(fill(opened(new_schema()), entries)) as store:
        places = [(c.document_id, c.sequence) for e in entries for c in e.chunks][:50]
        round_trips.clear()
        assert len(store.neighbours(places, 1, principals=("red",))) > 20
        (asks,) = round_trips
        with psycopg.connect(postgres) as connection:
            connection.execute("SET enable_seqscan = off")
            plan = [
                line
                for ask in asks
                for line in connection.execute("EXPLAIN " + ask.sql, ask.bound).fetchall()
            ]
    assert not [line for (line,) in plan if "Seq Scan" in line]
