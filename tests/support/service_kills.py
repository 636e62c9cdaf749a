"""Kills a service under load and looks at what it leaves; and tells it to stop under load.

    python tests/support/service_kills.py --kills 50 --seed 1

Writers keep documents of their own over HTTP, and note each request and each answer. After a kill
the store is checked from scratch and served again: what was acknowledged is there, what was under
way is there whole or not at all.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from threading import Condition, Event, Thread
from typing import Any

from foveate.stores import open_store
from foveate.stores.sqlite.check import check
from http_wire import Answer, Wire, request
from service_process import Address, Service

WRITERS, OWN = 4, 5
QUESTION = {"query": "which stone is it", "budget": 200}


@dataclass(slots=True, kw_only=True)
class Noted:
    """What clients saw, all of them together. `state`: the title of each document that is there.

    `broken`: requests whose connection ended before an answer; `cut`: within one.
    """

    state: dict[str, str] = field(default_factory=dict)
    statuses: list[int] = field(default_factory=list)
    broken: int = 0
    acknowledged: int = 0
    changed: Condition = field(default_factory=Condition)
    wrong: list[str] = field(default_factory=list)

    def note(self, status: int, *, acknowledged: bool) -> None:
        """An answer."""
        with self.changed:
            self.statuses.append(status)
            self.acknowledged += acknowledged
            self.changed.notify_all()

    def wait_for(self, acknowledged: int) -> None:
        """Until so many writes are acknowledged."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.acknowledged >= acknowledged, timeout=300)


@dataclass(slots=True, kw_only=True)
class Writer:
    """One client, on its own thread. `doing`: the write that nobody has answered yet."""

    number: int
    random: Random
    noted: Noted
    own: dict[str, str] = field(default_factory=dict)
    doing: tuple[str, str] | None = None
    made: int = 0

    def step(self) -> tuple[bytes, tuple[str, str] | None]:
        """The next request, and what becomes of which document; an empty title: it is deleted."""
        self.made += 1
        if self.random.random() < 0.2:
            return post(QUESTION), None
        name = f"w{self.number}-{self.random.randrange(OWN)}"
        if self.random.random() < 0.25:
            return request("DELETE", f"/v1/documents/{name}"), (name, "")
        title = f"w{self.number} {self.made:06}"
        lines = [f"{title}: stone {n} lies {n * 7} feet deep." for n in range(1, 6)]
        value = {"text": "\n\n".join(lines), "title": title}
        return request("PUT", f"/v1/documents/{name}", encoded(value)), (name, title)

    def run(self, address: Address, stop: Event) -> None:
        """Until it is told to stop, or until nobody listens any more."""
        with ExitStack() as open_one:
            wire: Wire | None = None
            while not stop.is_set():
                if wire is None:
                    try:
                        wire = open_one.enter_context(Wire(address))
                    except OSError:
                        return
                data, self.doing = self.step()
                wire.send(data)
                answer = wire.answer()
                if answer is None:
                    self.noted.broken += 1
                    return
                self.heard(answer)
                if answer.headers.get("connection") == "close":
                    wire.close()
                    wire = None

    def heard(self, answer: Answer) -> None:
        """An answer came: the write counts, or was refused whole."""
        if answer.status in (200, 204) and self.doing is not None:
            name, title = self.doing
            self.own.pop(name, None)
            if title:
                self.own[name] = title
        elif self.doing is None and answer.status == 400:
            pass  # a question while no document is there
        elif answer.status not in (200, 429, 503):
            self.noted.wrong.append(f"{answer.status}: {answer.body[:200]!r}")
        known = self.doing is not None and answer.status in (200, 204)
        self.doing = None
        self.noted.note(answer.status, acknowledged=known)


def encoded(value: Any) -> bytes:
    """As JSON."""
    return json.dumps(value).encode()


def post(value: Any) -> bytes:
    """A question."""
    return request("POST", "/v1/assemble", encoded(value))


def under_load(service: Service, noted: Noted, seed: int, act: Callable[[], None]) -> list[Writer]:
    """Writers at work while something happens to the service; when all have ended."""
    stop = Event()
    writers = [
        Writer(number=n, random=Random(f"{seed} {n}"), noted=noted, own=own_of(noted.state, n))
        for n in range(WRITERS)
    ]
    threads = [Thread(target=writer.run, args=(service.address, stop)) for writer in writers]
    for thread in threads:
        thread.start()
    try:
        act()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    return writers


def own_of(state: dict[str, str], number: int) -> dict[str, str]:
    """A writer's documents."""
    return {name: title for name, title in state.items() if name.startswith(f"w{number}-")}


def settle(store: Path, writers: list[Writer], noted: Noted) -> int:
    """Hold the store against what was acknowledged; how many writes under way were kept."""
    report = check(store)
    assert report.findings == (), report.findings
    with closing(open_store(store, create=False)) as reader:
        assert reader.state_root() == report.state_root
        found = {name: title_of(reader, name) for name, _ in reader.documents()}
    kept, state = 0, dict[str, str]()
    for writer in writers:
        present, possible = own_of(found, writer.number), dict(writer.own)
        if writer.doing is not None:
            name, title = writer.doing
            possible.pop(name, None)
            if title:
                possible[name] = title
            kept += present == possible != writer.own
        assert present in (writer.own, possible), f"acknowledged {writer.own}, there is {present}"
        state |= present
    noted.state = state
    return kept


def title_of(reader: Any, name: str) -> str:
    """The title that all chunks of a document have, and that stands in each."""
    chunks = reader.neighbours([(name, n) for n in range(20)], 0)
    titles = {chunk.title for chunk in chunks} | {c.text.partition(":")[0][:9] for c in chunks}
    assert len(titles) == 1, f"{name} is of several writes: {titles}"
    title: str = titles.pop()
    return title


@dataclass(slots=True, kw_only=True)
class Tally:
    """What was done, for the last line."""

    kills: int = 0
    acknowledged: int = 0
    under_way: int = 0
    kept: int = 0

    def __str__(self) -> str:
        return (
            f"{self.kills} kills of a service with {WRITERS} writers: {self.acknowledged:,} "
            f"acknowledged writes, 0 lost; {self.under_way} were under way, {self.kept} of them "
            "kept whole, 0 torn; every store was whole and served again"
        )


def kill_often(folder: Path, kills: int, seed: int, workers: int = 1) -> Tally:
    """So many services, one after the other, on one store, each killed at a chosen moment."""
    random, tally, noted = Random(seed), Tally(), Noted()
    store = folder / "store"
    for number in range(kills):
        service = Service(
            folder / f"service{number}",
            store=str(store),
            embedder="hashing",
            workers=workers,
            size=16,
            overlap=0,
        )
        noted.acknowledged = 0
        act = partial(killed, service, noted, random.randint(5, 40))
        writers = under_load(service, noted, seed + number, act)
        assert noted.wrong == [], noted.wrong
        tally.kills += 1
        tally.acknowledged += noted.acknowledged
        tally.under_way += sum(writer.doing is not None for writer in writers)
        tally.kept += settle(store, writers, noted)
    return tally


def killed(service: Service, noted: Noted, after: int) -> None:
    """Kill it when so many writes are acknowledged; its children end by themselves."""
    noted.wait_for(after)
    children = service.children()
    service.kill()
    for child in children:
        wait_for_end(child)


def wait_for_end(pid: int) -> None:
    """Of a process that is not our child."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    assert poll.poll(120_000), f"{pid} goes on"
    os.close(handle)


def main() -> int:
    """Kill, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(kill_often(Path(folder), asked.kills, asked.seed, asked.workers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
