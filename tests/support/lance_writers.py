"""Writers of a distributed store side by side, each a process of its own."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from foveate.stores.lance import LanceStore
from foveate.testing.store_corpus import CorpusEntry
from store_kills import (
    ENTRIES,
    IMPORTS,
    State,
    apply,
    batch,
    check_same,
    processes,
    versions,
)
from store_urls import OPTIONS, opened


def beside(url: str, options: dict[str, str], number: int, writes: int, say: Connection) -> None:
    """Puts documents of its own, and changes and deletes some that the others write too."""
    random = Random(number)
    shared = sorted(ENTRIES)[:3]
    with closing(LanceStore(url, storage_options=options, **OPTIONS)) as store:
        say.send(("ready", ""))
        say.recv()
        for write in range(writes):
            own = _own(number, write)
            if write % 4 == 3:
                name = random.choice(shared)
                entry = random.choice(versions(name))
                batch(store, [own, entry])
                say.send((name, entry.document.content_hash))
            else:
                own.put(store)
            say.send((own.document.id, own.document.content_hash))
            if write % 5 == 4:
                gone = _own(number, write - 2).document.id
                assert store.delete(gone)
                say.send((gone, ""))
        say.send(None)


def _own(number: int, write: int) -> CorpusEntry:
    entry = ENTRIES[sorted(ENTRIES)[write % len(ENTRIES)]]
    name = f"w{number}-{write:02}"
    document = replace(entry.document, id=name, content_hash=name)
    chunks = [replace(c, document_id=name, id=f"{name}-{c.sequence}") for c in entry.chunks]
    return CorpusEntry(document=document, chunks=tuple(chunks))


def entry_of(name: str, hash_: str) -> CorpusEntry:
    """The document that was put under this name with this hash."""
    if name.startswith("w"):
        number, write = name[1:].split("-")
        return _own(int(number), int(write))
    return next(e for e in versions(name) if e.document.content_hash == hash_)


def check_whole(url: str, state: State, plain: Path, **options: object) -> None:
    """A store that was never disturbed has the same root and finds the same."""
    with (
        closing(opened(plain)) as expected,
        closing(LanceStore(url, create=False, **options)) as store,
    ):
        with expected.batch():
            for name, hash_ in sorted(state.items()):
                entry_of(name, hash_).put(expected)
        check_same(store, expected)


def write_beside(url: str, options: dict[str, str], writers: int, writes: int) -> State:
    """Several writers at once; what all acknowledged, and for shared documents who was last."""
    context = processes(*IMPORTS["lance"], "lance_writers")
    running = []
    for number in range(writers):
        ours, theirs = context.Pipe()
        arguments = (url, options, number, writes, theirs)
        writer = context.Process(target=beside, args=arguments, daemon=True)
        writer.start()
        theirs.close()
        running.append((writer, ours))
    for _, ours in running:
        assert ours.recv() == ("ready", "")
    for _, ours in running:
        ours.send("go")
    state = State()
    for writer, ours in running:
        with closing(ours):
            while (said := ours.recv()) is not None:
                apply(state, dict([said]))
        writer.join()
        assert writer.exitcode == 0
    return state
