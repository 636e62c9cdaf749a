from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

import foveate
from foveate.core.errors import ExternalError
from foveate.stores.postgres import PostgresStore, schema
from foveate.testing.store_corpus import EMBEDDER, change_entry, corpus
from store_urls import opened

SOURCE = str(Path(foveate.__file__).parent.parent)
INGEST = """
import sys
from foveate.stores import open_store
from foveate.testing.store_corpus import EMBEDDER, change_entry, corpus
store = open_store(sys.argv[1], embedder_name=EMBEDDER.name, dimensions=EMBEDDER.dimensions)
entries = corpus(count=12)
for round in range(int(sys.argv[2])):
    for entry in entries:
        (entry if round % 2 == 0 else change_entry(entry)).put(store)
        print(entry.document.id, flush=True)
"""
EVERYONE = ("blue", "red")


def ingesting(url: str, rounds: int) -> subprocess.Popen[bytes]:
    """A process of its own that writes the corpus again and again."""
    environment = {"PYTHONPATH": SOURCE, "PATH": os.environ.get("PATH", "")}
    command = [sys.executable, "-c", INGEST, url, str(rounds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)


def roots() -> dict[str, set[str]]:
    """What each document of the corpus may look like: its text."""
    return {
        entry.document.id: {entry.document.text, change_entry(entry).document.text}
        for entry in corpus(count=12)
    }


def check_whole(store: PostgresStore) -> int:
    """Every document there is one that was put, and all that is derived agrees; how many."""
    assert store.check().findings == ()
    known = roots()
    present = [name for name, _ in store.documents()]
    for name in present:
        document = store.document(name, principals=EVERYONE)
        assert document is not None
        assert document.text in known[name]
    return len(present)


def test_a_killed_client_leaves_the_last_good_state(new_schema: Callable[[], str]):
    """T5: killed at five moments, the store is whole, and nothing acknowledged is lost."""
    url = new_schema()
    counts = []
    for after in (1, 2, 5, 13, 17):
        process = ingesting(url, 1000)
        assert process.stdout is not None
        for _ in range(after):
            assert process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        process.stdout.close()
        with closing(opened(url)) as store:
            counts.append(check_whole(store))
            assert counts[-1] >= min(after, 12)
    assert counts == sorted(counts)
    with closing(opened(url)) as store, closing(opened(new_schema())) as plain:
        for entry in corpus(count=12):
            entry.put(store)
            entry.put(plain)
        assert store.state_root() == plain.state_root()


def test_a_killed_backend_leaves_the_last_good_state(new_schema: Callable[[], str], postgres: str):
    """T5, X3: the server ends our session in the middle of a batch; what was before is there."""
    entries = corpus(count=6)
    with closing(opened(new_schema())) as store:
        for entry in entries[:3]:
            entry.put(store)
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
    with closing(opened(f"{new_schema()}&wait=60")) as store:
        for entry in entries[:3]:
            entry.put(store)
        before = store.state_root()

        def broken_off() -> None:
            with store.batch():
                entries[3].put(store)
                connection = store._current_batch.own_connection()
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


def test_two_writers_and_a_reader_do_not_disturb_each_other(new_schema: Callable[[], str]):
    """T5: two processes write the same documents while this one reads whole states only."""
    url = new_schema()
    known = {
        text
        for entry in corpus(count=12)
        for text in (*(c.text for c in entry.chunks), change_entry(entry).document.text)
    }
    with closing(opened(url)) as store:
        writers = [ingesting(url, 4), ingesting(url, 4)]
        for round_ in range(60):
            found = store.search("cold lamp", EMBEDDER.embed(["cold lamp"])[0], depth=20)
            assert {candidate.text for candidate in found.candidates} <= known, round_
        for writer in writers:
            output, _ = writer.communicate()
            assert (writer.returncode, len(output.splitlines())) == (0, 48)
        assert check_whole(store) == 12


def test_a_writer_that_waits_too_long_changes_nothing(new_schema, monkeypatch):
    """T5: while a batch is open others wait, then are told; readers do not wait at all."""
    url = new_schema()
    entries = corpus(count=3)
    monkeypatch.setattr(schema, "LOCK_TIMEOUT", "50ms")
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


def test_neighbours_take_one_round_trip_for_all_places(new_schema, postgres: str, round_trips):
    """S5: fifty places cost one round trip, which no scan of a whole table answers."""
    entries = corpus(count=30)
    with closing(opened(new_schema())) as store:
        for entry in entries:
            entry.put(store)
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
