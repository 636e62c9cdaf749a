"""Readers and writers on one store at once: no torn read, no error, no lost write.

    python tests/support/store_soak.py --seconds 300

Every document says in each of its chunks, in its title and in its summary which version it is and
how many chunks it has, so that a reader who is shown parts of two versions sees it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from random import Random
from typing import Any

from foveate.core.types import Chunk
from foveate.ports import Document
from foveate.stores.base import BaseStore
from foveate.stores.maintenance import check
from foveate.testing.store_corpus import EMBEDDER
from store_kills import IMPORTS, processes
from store_urls import opened

READERS, WRITERS, OWN, SHARED = 4, 2, 8, 3
QUERY = "where does the river turn"


def put(store: BaseStore, name: str, stamp: str, chunks: int) -> None:
    """A version of a document."""
    texts = [f"{stamp} of {chunks}: the river turns at stone {i}. " for i in range(chunks)]
    document = Document(
        id=name,
        source=name,
        text="".join(texts),
        title=stamp,
        summary=f"{chunks}",
        content_hash=stamp,
    )
    pieces = [
        Chunk(text=text, document_id=name, source=name, sequence=i) for i, text in enumerate(texts)
    ]
    store.put(document, pieces, EMBEDDER.embed(texts))


def write(url: str, number: int, seconds: float, say: Connection) -> None:
    """Own documents and some that the other writer writes too; at the end, what was the last."""
    random, last = Random(number), dict[str, str]()
    writes, ends = 0, time.monotonic() + seconds
    with closing(opened(url)) as store:
        while time.monotonic() < ends:
            shared = random.random() < 0.2
            name = (
                f"s{random.randrange(SHARED)}" if shared else f"w{number}-{random.randrange(OWN)}"
            )
            writes += 1
            if random.random() < 0.1:
                store.delete(name)
                last[name] = ""
            else:
                last[name] = f"w{number} {writes:06}"
                put(store, name, last[name], random.randint(1, 9))
    say.send({"writes": writes, "last": last})


def read(url: str, number: int, seconds: float, say: Connection) -> None:
    """Search, and read whole documents; what was torn or went back."""
    random, torn, newest = Random(number), list[str](), dict[str, str]()
    reads, ends = 0, time.monotonic() + seconds
    vector = EMBEDDER.embed([QUERY])[0]
    while time.monotonic() < ends:
        with closing(opened(url)) as store:
            for _ in range(random.randint(1, 60)):
                found = store.search(QUERY, vector, limit=50)
                chunks = [candidate.chunk for candidate in found.candidates]
                torn += torn_in(chunks, newest, whole=False)
                names = sorted({chunk.document_id for chunk in chunks})
                near = store.neighbours([(name, 0) for name in names], 9)
                torn += torn_in(near, newest, whole=True)
                reads += 2
    say.send({"reads": reads, "torn": torn})


def torn_in(chunks: Sequence[Chunk], newest: dict[str, str], *, whole: bool) -> list[str]:
    """Documents of which parts of two versions, or only a part, or an older one was seen."""
    wrong, by_document = [], dict[str, list[Chunk]]()
    for chunk in chunks:
        by_document.setdefault(chunk.document_id, []).append(chunk)
    for name, parts in by_document.items():
        stamps = {chunk.title for chunk in parts} | {c.text.partition(" of ")[0] for c in parts}
        counts = {int(chunk.summary) for chunk in parts}
        missing = whole and [c.sequence for c in parts] != list(range(max(counts)))
        # What one writer alone writes never goes back to an earlier version.
        back = name.startswith("w") and min(stamps) < newest.get(name, "")
        if len(stamps) != 1 or len(counts) != 1 or missing or back:
            wrong.append(f"{name}: {sorted(stamps)}, {sorted(counts)}, {len(parts)} parts")
        newest[name] = max(stamps)
    return wrong


@dataclass(frozen=True, kw_only=True)
class Soaked:
    """What readers and writers said at their end."""

    seconds: float
    reads: int
    writes: int
    torn: tuple[str, ...]
    errors: int
    lost: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{READERS} readers and {WRITERS} writers, {self.seconds:g} s: {self.reads:,} reads, "
            f"{self.writes:,} writes, {len(self.torn)} torn reads, {self.errors} errors, "
            f"{len(self.lost)} lost writes; the store is whole"
        )


def soak(url: str, seconds: float) -> Soaked:
    """All of them at once; then the store is checked from scratch."""
    context = processes(*IMPORTS.get(url.partition(":")[0], ()))
    opened(url).close()
    running = []
    for work, many in ((write, WRITERS), (read, READERS)):
        for number in range(many):
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=work, args=(url, number, seconds, theirs))
            process.start()
            theirs.close()
            running.append((process, ours))
    said: list[dict[str, Any]] = []
    for process, ours in running:
        with closing(ours), suppress(EOFError):  # one that failed says nothing
            said.append(ours.recv())
        process.join()
    errors = sum(process.exitcode != 0 for process, _ in running)
    writers = [answer for answer in said if "last" in answer]
    readers = [answer for answer in said if "reads" in answer]
    report = check(url)
    assert report.findings == (), report.findings
    return Soaked(
        seconds=seconds,
        reads=sum(answer["reads"] for answer in readers),
        writes=sum(answer["writes"] for answer in writers),
        torn=tuple(wrong for answer in readers for wrong in answer["torn"]),
        errors=errors,
        lost=tuple(lost(url, [answer["last"] for answer in writers])),
    )


def lost(url: str, last: Sequence[dict[str, str]]) -> list[str]:
    """Documents that are not as the last write to them left them (of two writers, one's last)."""
    with closing(opened(url)) as store:
        present = dict(store.documents())
    names = sorted({name for one in last for name in one} | set(present))
    possible = {name: {one[name] for one in last if name in one} for name in names}
    return [name for name in names if present.get(name, "") not in possible[name]]


def main() -> int:
    """Soak, and say what was seen; 1 where anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300)
    with tempfile.TemporaryDirectory() as folder:
        soaked = soak(f"{folder}/store", parser.parse_args().seconds)
    print(soaked)
    return int(bool(soaked.torn or soaked.errors or soaked.lost))


if __name__ == "__main__":
    import store_soak  # so that a process finds its function in a module, not in a script

    sys.exit(store_soak.main())
