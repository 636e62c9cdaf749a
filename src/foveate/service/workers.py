"""Several processes that share one port: started, watched, started again, stopped in good order.

Each is a whole service of its own; the system hands each connection to one of them. One that dies
is started again, ever later the sooner it died; where none could be started at all, that is the
end. Whoever started them waits for events and does nothing else: no process asks another how it
is. A worker whose starter is gone stops by itself, so that no port is held by nobody.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from threading import Thread
from time import monotonic

from foveate.service.settings import Settings

SPAWN_CONTEXT = multiprocessing.get_context("spawn")
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
EARLY_EXIT_SECONDS = 10.0
"""Seconds of life; one that dies sooner is started again later."""
MAX_RESTART_SECONDS = 30.0
READY_MESSAGE = b"ready"

log = logging.getLogger("foveate.service")

WorkerFunction = Callable[[Settings, socket.socket, "ParentLine"], int]


@dataclass(slots=True)
class ParentLine:
    """A worker's end of the line to who started it."""

    line: Connection

    def send_ready(self) -> None:
        """Say that it serves; where nobody is there to hear it, `when_cut` ends it."""
        with suppress(OSError):
            self.line.send_bytes(READY_MESSAGE)

    def on_parent_exit(self, stop: Callable[[], None]) -> None:
        """Call this once whoever started it is gone."""

        def listen() -> None:
            try:
                while True:
                    self.line.recv_bytes()
            except (EOFError, OSError):
                stop()

        Thread(target=listen, name="foveate-leash", daemon=True).start()


@dataclass(slots=True, kw_only=True)
class _Worker:
    """One process. `silent`: nothing more is to be heard of it but its end."""

    process: SpawnProcess
    line: Connection
    started_at: float
    has_reported: bool = False
    is_ready: bool = False


@dataclass(slots=True, kw_only=True)
class _WorkerSlot:
    """Where a worker is, or will be again at `due`. `early`: deaths in a row before their time."""

    worker: _Worker | None = None
    restart_at: float = 0.0
    early_exits: int = 0


@dataclass(slots=True, kw_only=True)
class WorkerProcesses:
    """`settings.workers` processes that run `run`, until told to stop."""

    settings: Settings
    listener: socket.socket
    run: WorkerFunction
    on_ready: Callable[[int], None] | None = None
    _slots: list[_WorkerSlot] = field(default_factory=list)
    _stopping: bool = False
    _failed: bool = False
    _has_served: bool = False

    def serve(self) -> int:
        """Start them, watch them, and wait for their end; the exit code."""
        with _signal_line() as told:
            self._slots = [_WorkerSlot() for _ in range(self.settings.workers)]
            while not self._stopping or any(place.worker for place in self._slots):
                self._start_due()
                self._wait_for_event(told)
        return 1 if self._failed else 0

    def pids(self) -> list[int]:
        """The processes that run now."""
        return [p.worker.process.pid or 0 for p in self._slots if p.worker is not None]

    def _start_due(self) -> None:
        now = monotonic()
        for place in self._slots:
            if place.worker is None and not self._stopping and place.restart_at <= now:
                place.worker = self._start_worker()

    def _start_worker(self) -> _Worker:
        ours, theirs = SPAWN_CONTEXT.Pipe()
        process = SPAWN_CONTEXT.Process(
            target=_worker_main,
            args=(self.settings, self.listener, theirs, self.run),
            name="worker",
        )
        process.start()
        theirs.close()
        return _Worker(process=process, line=ours, started_at=monotonic())

    def _wait_for_event(self, told: Connection) -> None:
        """Until something happens, or a place is due."""
        workers = [place.worker for place in self._slots if place.worker is not None]
        waiting: list[Connection | int] = [told]
        waiting += [worker.process.sentinel for worker in workers]
        waiting += [worker.line for worker in workers if not worker.has_reported]
        happened = wait(waiting, self._restart_wait())
        if told in happened:
            self._on_signal(told)
        for place in self._slots:
            worker = place.worker
            if worker is None:
                continue
            if not worker.has_reported and worker.line in happened:
                self._on_message(worker)
            if worker.process.sentinel in happened:
                self._on_exit(place, worker)

    def _restart_wait(self) -> float | None:
        """Seconds until the next place is due; None where none is."""
        due = [place.restart_at for place in self._slots if place.worker is None]
        return max(0.0, min(due) - monotonic()) if due and not self._stopping else None

    def _on_message(self, worker: _Worker) -> None:
        worker.has_reported = True
        try:
            worker.is_ready = worker.line.recv_bytes() == READY_MESSAGE
        except (EOFError, OSError):
            return  # it is dying, which its sentinel says
        self._has_served = True
        if self.on_ready is not None:
            self.on_ready(worker.process.pid or 0)

    def _on_signal(self, told: Connection) -> None:
        """Hand the signal on: once is 'stop', again is 'hurry'."""
        told.recv_bytes()
        self._stop()

    def _stop(self) -> None:
        self._stopping = True
        for place in self._slots:
            if place.worker is not None and place.worker.process.is_alive():
                place.worker.process.terminate()

    def _on_exit(self, place: _WorkerSlot, worker: _Worker) -> None:
        worker.process.join()
        worker.line.close()
        code = worker.process.exitcode
        place.worker = None
        if self._stopping:
            # One that was still on its way up when it was told had nothing to finish.
            self._failed = self._failed or code not in {
                0,
                *([] if worker.is_ready else [-STOP_SIGNALS[0]]),
            }
            return
        if not worker.is_ready and not self._has_served:
            log.error("a worker could not be started; this service stops")
            self._failed = True
            self._stop()
            return
        young = monotonic() - worker.started_at < EARLY_EXIT_SECONDS
        place.early_exits = place.early_exits + 1 if young else 0
        after = min(MAX_RESTART_SECONDS, 0.1 * 2**place.early_exits) if young else 0.0
        place.restart_at = monotonic() + after
        log.warning("worker %s ended with %s; another one is started", worker.process.pid, code)


def _worker_main(
    settings: Settings, listening: socket.socket, line: Connection, run: WorkerFunction
) -> None:  # pragma: no cover  # in another process
    # Ctrl-C reaches all processes of a terminal; the one that started this hands it on. Until the
    # server takes over, nothing was taken that would have to be finished.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    raise SystemExit(run(settings, listening, ParentLine(line)))


@contextmanager
def _signal_line() -> Iterator[Connection]:
    """A line on which every signal to stop arrives, as an event among others."""
    heard, told = multiprocessing.Pipe(duplex=False)

    def handle(number: int, _frame: object) -> None:
        told.send_bytes(bytes([number]))

    before = {number: signal.signal(number, handle) for number in STOP_SIGNALS}
    try:
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        told.close()
        heard.close()
