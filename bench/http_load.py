"""A closed loop of HTTP clients, cheap enough not to be what is measured.

Each client keeps one connection and sends its next request when the last answer is whole. Requests
are bytes made beforehand, answers are looked at no further than their status and length, so that a
request costs the clients' process some hundred microseconds; what it did cost is among the figures.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

Seconds = float


@dataclass(slots=True, kw_only=True)
class Seen:
    """What the clients saw. `waits`: seconds from sending to the whole answer, those of 200 alone.

    `broken`: what kept a request from its answer. `spent`: processor seconds of the clients.
    """

    waits: list[Seconds] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    took: Seconds = 0.0
    spent: Seconds = 0.0
    unadvised: int = 0
    """Refusals (429, 503) that do not say when to come again."""
    order: list[int] = field(default_factory=list)
    """The statuses as they came."""

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.waits) / self.took

    def at(self, share: float) -> Seconds:
        """The wait that this share of the answers did not exceed."""
        ordered = sorted(self.waits)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@dataclass(slots=True, kw_only=True)
class Round:
    """What all clients share: the requests in turn, until the time or the number is up."""

    requests: Sequence[bytes]
    until: Seconds
    most: int | None
    numbers: Iterator[int] = field(default_factory=count)
    seen: Seen = field(default_factory=Seen)

    def following(self) -> bytes | None:
        """The next request; None at the end."""
        number = next(self.numbers)
        if time.perf_counter() >= self.until or (self.most is not None and number >= self.most):
            return None
        return self.requests[number % len(self.requests)]


class Client(asyncio.Protocol):
    """One connection."""

    def __init__(self, shared: Round, ended: asyncio.Future[None]) -> None:
        """Begin as soon as there is a connection."""
        self._round, self._ended = shared, ended
        self._got = bytearray()
        self._whole = self._status = 0
        self._sent = 0.0
        self._waiting = False
        self._wire: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first one."""
        assert isinstance(transport, asyncio.Transport)
        self._wire = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        """Wait until the answer is whole; then the next."""
        got = self._got
        got += data
        if not self._whole and (end := got.find(b"\r\n\r\n")) >= 0:
            self._status, length = self._head(bytes(got[:end]).lower())
            self._whole = end + 4 + length
        if not self._whole or len(got) < self._whole:
            return
        wait = time.perf_counter() - self._sent
        seen = self._round.seen
        seen.statuses[self._status] += 1
        seen.order.append(self._status)
        if self._status == 200:
            seen.waits.append(wait)
        del got[: self._whole]
        self._whole, self._waiting = 0, False
        self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        """Only the server's end can come while an answer is waited for."""
        if self._waiting:
            self._round.seen.broken[type(exc).__name__ if exc else "closed"] += 1
        if not self._ended.done():
            self._ended.set_result(None)

    def _head(self, head: bytes) -> tuple[int, int]:
        """Status and length."""
        status = int(head[9:12])
        length = head.find(b"\r\ncontent-length:")
        assert length >= 0 or status == 204, head
        if status in (429, 503) and b"\r\nretry-after:" not in head:
            self._round.seen.unadvised += 1
        return status, 0 if status == 204 else int(head[length + 17 :].split(b"\r", 1)[0])

    def _send(self) -> None:
        assert self._wire is not None
        request = self._round.following()
        if request is None:
            self._wire.close()
            return
        self._waiting, self._sent = True, time.perf_counter()
        self._wire.write(request)


async def _run(address: tuple[str, int], shared: Round, clients: int) -> None:
    loop = asyncio.get_running_loop()
    ends = []
    for _ in range(clients):
        ended: asyncio.Future[None] = loop.create_future()
        ends.append(ended)
        await loop.create_connection(lambda ended=ended: Client(shared, ended), *address)  # type: ignore[misc]
    await asyncio.gather(*ends)


def load(
    address: tuple[str, int],
    requests: Sequence[bytes],
    *,
    clients: int,
    seconds: Seconds = 1e9,
    most: int | None = None,
) -> Seen:
    """So many clients at once, for so long or so many requests."""
    began, spent = time.perf_counter(), time.process_time()
    shared = Round(requests=requests, until=began + seconds, most=most)
    asyncio.run(_run(address, shared, clients))
    shared.seen.took = time.perf_counter() - began
    shared.seen.spent = time.process_time() - spent
    return shared.seen


def request(method: str, path: str, body: bytes = b"", *, key: str = "", host: str) -> bytes:
    """The bytes of a request."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", f"Content-Length: {len(body)}"]
    if body:
        lines.append("Content-Type: application/json")
    if key:
        lines.append(f"Authorization: Bearer {key}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body
