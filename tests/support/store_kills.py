"""Kills writers of a store at random moments and looks at what they leave.

    python tests/support/store_kills.py --kills 200 --seed 1

A writer is a process of its own that says on a pipe what it is about to do and what it has done.
After each kill the store is checked from scratch: what was acknowledged is there, what was under
way is there whole or not at all, rows, words, vectors and state agree, and a copy that has its
name is a whole store. A store that was never disturbed, an embedded one, gives the same answers.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from random import Random
from unittest.mock import patch

from foveate.ports import SearchResult
from foveate.stores import open_store
from foveate.stores.base import BaseStore
from foveate.stores.lazy import StoreNotFound
from foveate.stores.maintenance import backup, check
from foveate.testing.store_corpus import EMBEDDER, CorpusEntry, change_entry, corpus
from store_urls import opened

KINDS = ("ingest", "delete", "batch", "compact", "backup", "search")
"""What a writer does; of a store that is no folder of SQLite, the first four."""
ENTRIES = {entry.document.id: entry for entry in corpus(3, 16)}
EVERYONE = ("blue", "red")
IMPORTS = {"lance": ("pyarrow", "lance"), "postgresql": ("psycopg",)}
"""Scheme of a URL → what its writers import beside all others."""
State = dict[str, str]
"""Document id → content hash: what a store holds."""


def versions(name: str) -> tuple[CorpusEntry, CorpusEntry]:
    """The two forms of a document; their content hashes differ."""
    entry = ENTRIES[name]
    other = change_entry(entry)
    document = replace(other.document, content_hash=f"{entry.document.content_hash} changed")
    return entry, replace(other, document=document)


def write(kind: str, url: str, copies: str, seed: int, say: Connection) -> None:
    """Until it is killed: say what comes, do it, say that it is done."""
    random, numbers = Random(seed), count()

    def copy() -> None:
        backup(url, Path(copies) / f"{os.getpid()}-{next(numbers)}")

    with closing(opened(url)) as store:
        while True:
            for change, act in steps(kind, store, copy, random):
                say.send(("begin", change))
                act()
                say.send(("done", change))


Step = tuple[dict[str, str], Callable[[], object]]


def steps(kind: str, store: BaseStore, copy: Callable[[], None], random: Random) -> Iterator[Step]:
    """(what becomes of which documents, the act); an empty hash says that it is deleted."""
    name = random.choice(sorted(ENTRIES))
    entry = random.choice(versions(name))
    put: Step = ({name: entry.document.content_hash}, lambda: entry.put(store))
    if kind == "delete":
        yield ({name: ""}, lambda: store.delete(name))
        if random.random() < 0.3:
            yield put
    elif kind == "batch":
        some = [random.choice(versions(n)) for n in random.sample(sorted(ENTRIES), 4)]
        yield ({e.document.id: e.document.content_hash for e in some}, lambda: batch(store, some))
    else:
        yield put
        if kind == "compact":
            yield ({}, store.compact)
        elif kind == "backup":
            yield ({}, copy)
        elif kind == "search":
            yield ({}, lambda: store.search("granite", EMBEDDER.embed(["granite"])[0]))


def batch(store: BaseStore, entries: list[CorpusEntry]) -> None:
    """Several documents at once."""
    with store.batch():
        for entry in entries:
            entry.put(store)


def processes(*preload: str) -> ForkServerContext:
    """Where processes start in milliseconds, because all is imported before they fork."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["numpy", "foveate.core.text.terms", "store_kills", *preload])
    # The server of some Python versions looks for modules in this variable alone.
    with patch.dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path))):
        first = context.Process()
        first.start()
    first.join()
    return context


@dataclass(kw_only=True)
class Tally:
    """What was done, for the last line."""

    kills: Counter[str] = field(default_factory=Counter)
    acknowledged: int = 0
    under_way: Counter[str] = field(default_factory=Counter)
    copies: int = 0

    def __str__(self) -> str:
        kinds = ", ".join(f"{self.kills[kind]} in {kind}" for kind in KINDS if self.kills[kind])
        return (
            f"{self.kills.total()} kills ({kinds}): {self.acknowledged:,} acknowledged writes, "
            f"0 lost; {self.under_way.total()} were under way, {self.under_way['kept']} of them "
            f"kept whole, 0 torn; {self.copies} copies, all whole; index, rows and state root agree"
        )


def kill_often(
    url: str, folder: Path, kills: int, seed: int, kinds: Sequence[str] = KINDS
) -> Tally:
    """So many writers, one after the other, each killed at a moment that the seed chooses."""
    context = processes(*IMPORTS.get(url.partition(":")[0], ()))
    random, tally, state = Random(seed), Tally(), State()
    copies = folder / "copies"
    copies.mkdir()
    for number in range(kills):
        kind = kinds[number % len(kinds)]
        said = killed(context, write, (kind, url, str(copies), random.getrandbits(32)), random)
        tally.kills[kind] += 1
        tally.acknowledged += settle(url, state, said, tally)
        tally.copies += check_copies(copies)
        if number % 12 == 11:
            check_answers(url, folder / f"plain{number}", state)
    return tally


def killed(
    context: ForkServerContext, target: Callable[..., None], arguments: tuple[object, ...],
    random: Random,
) -> list[tuple[str, State]]:  # fmt: skip
    """What a writer said until it was killed; the last argument of `target` is its pipe."""
    ours, theirs = context.Pipe(duplex=False)
    writer = context.Process(target=target, args=(*arguments, theirs), daemon=True)
    writer.start()
    theirs.close()
    said = listen(ours, random)
    assert writer.pid is not None
    os.kill(writer.pid, signal.SIGKILL)
    writer.join()
    assert writer.exitcode == -signal.SIGKILL, f"{arguments[0]}: the writer ended by itself"
    return said + rest(ours)


def listen(ours: Connection, random: Random) -> list[tuple[str, State]]:
    """What the writer says until its moment has come: some words, then some milliseconds."""
    said = [ours.recv() for _ in range(random.randint(0, 12))]
    # Nothing is waited for here but the moment itself.
    while ours.poll(random.random() * 0.006):
        said.append(ours.recv())
        if random.random() < 0.5:
            break
    return said


def rest(ours: Connection) -> list[tuple[str, State]]:
    """What it had said before it was killed and nobody had heard."""
    said = []
    with closing(ours):
        try:
            while ours.poll():
                said.append(ours.recv())
        except (EOFError, OSError):  # the end, or a word that was cut off
            pass
    return said


def settle(url: str, state: State, said: list[tuple[str, State]], tally: Tally) -> int:
    """Hold the store against what was said; `state` becomes what is there. How many were done."""
    present = State()
    with suppress(StoreNotFound), closing(open_store(url, create=False)) as reader:
        with reader.batch():  # behind what a server still does for a writer that is gone
            pass
        present = dict(reader.documents())
        report = check(url)
        assert (report.findings, report.state_root) == ((), reader.state_root())
    done = [change for word, change in said if word == "done" and change]
    for change in done:
        apply(state, change)
    possible = dict(state)
    if said and said[-1][0] == "begin" and said[-1][1]:
        apply(possible, said[-1][1])
        tally.under_way["kept" if present == possible else "undone"] += 1
    assert present in (state, possible), f"acknowledged {state}, there is {present}"
    state.clear()
    state.update(present)
    return len(done)


def apply(state: State, change: State) -> None:
    """What becomes of the documents."""
    for name, hash_ in change.items():
        state.pop(name, None)
        if hash_:
            state[name] = hash_


def check_copies(copies: Path) -> int:
    """Every copy that has its name is a whole store; then all are removed."""
    whole = [path for path in copies.iterdir() if path.suffix != ".partial"]
    for path in whole:
        assert check(str(path)).findings == (), path
    for path in copies.iterdir():
        shutil.rmtree(path)
    return len(whole)


def check_answers(url: str, folder: Path, state: State) -> None:
    """A store that was never disturbed has the same root and finds the same."""
    with closing(opened(folder)) as plain, closing(opened(url)) as store:
        for name, hash_ in sorted(state.items()):
            entry = next(e for e in versions(name) if e.document.content_hash == hash_)
            entry.put(plain)
        check_same(store, plain)


def check_same(store: BaseStore, plain: BaseStore) -> None:
    """Both have the same documents and roots, and find the same."""
    report = store.check()
    assert report.findings == (), report.findings
    assert report.state_root == store.state_root() == plain.state_root()
    assert list(store.documents()) == list(plain.documents())
    for query in ("granite", "cold lamp", "where does the river turn"):
        vector = EMBEDDER.embed([query])[0]
        options = {"limit": 999, "depth": 999, "principals": EVERYONE}
        found, expected = (one.search(query, vector, **options) for one in (store, plain))
        if type(store).__name__ == "LanceStore":  # the scores of words are its own
            found, expected = map(_found_chunks, (found, expected))
        assert found == expected


def _found_chunks(found: SearchResult) -> list[object]:
    """What was found, how near it is, and whether by words."""
    each = ((c.id, c.text, c.semantic_score, bool(c.lexical_score)) for c in found.candidates)
    return [found.state_root, found.lexical_matches, *sorted(each)]


def main() -> int:
    """Kill, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(kill_often(f"{folder}/store", Path(folder), asked.kills, asked.seed))
    return 0


if __name__ == "__main__":
    import store_kills  # so that a writer finds its function in a module, not in a script

    sys.exit(store_kills.main())
