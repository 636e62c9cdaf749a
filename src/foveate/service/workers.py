"""Several processes that share one port: started, restarted and stopped by one parent.

Each is a whole service of its own; the system hands each connection to one of them. One that dies
is started again, later the sooner it died; if none could be started at all, the service ends. The
parent waits for events alone. A worker whose parent is gone stops, so that it releases the port.
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
"""A worker that dies sooner is started again later."""
MAX_RESTART_SECONDS = 30.0
READY_MESSAGE = b"ready"

log = logging.getLogger("foveate.service")

WorkerFunction = Callable[[Settings, socket.socket, "ParentLine"], int]


@dataclass(slots=True)
class ParentLine:
    """A worker's end of the pipe to its parent."""

    line: Connection

    def send_ready(self) -> None:
        """Report that the worker serves."""
        with suppress(OSError):
            self.line.send_bytes(READY_MESSAGE)

    def on_parent_exit(self, stop: Callable[[], None]) -> None:
        """Call this when the parent is gone."""

        def listen() -> None:
            try:
                while True:
                    self.line.recv_bytes()
            except (EOFError, OSError):
                stop()

        Thread(target=listen, name="foveate-leash", daemon=True).start()


@dataclass(slots=True, kw_only=True)
class _Worker:
    """One process. `has_reported`: its pipe has no more messages."""

    process: SpawnProcess
    line: Connection
    started_at: float
    has_reported: bool = False
    is_ready: bool = False


@dataclass(slots=True, kw_only=True)
class _WorkerSlot:
    """A worker, or the time of its restart; `early_exits` in a row."""

    worker: _Worker | None = None
    restart_at: float = 0.0
    early_exits: int = 0


@dataclass(slots=True, kw_only=True)
class WorkerProcesses:
    """`settings.workers` processes that run `run`, until a stop signal."""

    settings: Settings
    listener: socket.socket
    run: WorkerFunction
    on_ready: Callable[[int], None] | None = None
    _slots: list[_WorkerSlot] = field(default_factory=list)
    _stopping: bool = False
    _failed: bool = False
    _has_served: bool = False

    def serve(self) -> int:
        """Run the processes until their end; the exit code."""
        with _signal_line() as signals:
            self._slots = [_WorkerSlot() for _ in range(self.settings.workers)]
            while not self._stopping or self._running():
                for slot in self._slots:
                    if not (slot.worker or self._stopping) and slot.restart_at <= monotonic():
                        slot.worker = self._start_worker()
                self._wait_for_event(signals)
        return 1 if self._failed else 0

    def _running(self) -> list[_Worker]:
        return [slot.worker for slot in self._slots if slot.worker is not None]

    def _start_worker(self) -> _Worker:
        ours, theirs = SPAWN_CONTEXT.Pipe()
        arguments = (self.settings, self.listener, theirs, self.run)
        process = SPAWN_CONTEXT.Process(target=_worker_main, args=arguments, name="worker")
        process.start()
        theirs.close()
        return _Worker(process=process, line=ours, started_at=monotonic())

    def _wait_for_event(self, signals: Connection) -> None:
        workers = self._running()
        events: list[Connection | int] = [signals]
        events += [worker.process.sentinel for worker in workers]
        events += [worker.line for worker in workers if not worker.has_reported]
        restarts = [slot.restart_at for slot in self._slots if slot.worker is None]
        is_due = restarts and not self._stopping
        happened = wait(events, max(0.0, min(restarts) - monotonic()) if is_due else None)
        if signals in happened:  # the first one stops, the second hurries
            signals.recv_bytes()
            self._stop()
        for slot in self._slots:
            worker = slot.worker
            if worker is None:
                continue
            if not worker.has_reported and worker.line in happened:
                self._on_message(worker)
            if worker.process.sentinel in happened:
                self._on_exit(slot, worker)

    def _on_message(self, worker: _Worker) -> None:
        worker.has_reported = True
        try:
            worker.is_ready = worker.line.recv_bytes() == READY_MESSAGE
        except (EOFError, OSError):
            return  # it is dying, and its sentinel will report that
        self._has_served = True
        if self.on_ready is not None:
            self.on_ready(worker.process.pid or 0)

    def _stop(self) -> None:
        self._stopping = True
        for worker in self._running():
            if worker.process.is_alive():
                worker.process.terminate()

    def _on_exit(self, slot: _WorkerSlot, worker: _Worker) -> None:
        worker.process.join()
        worker.line.close()
        code = worker.process.exitcode
        slot.worker = None
        if self._stopping:
            # A worker that was still starting had nothing to finish.
            fine = {0} if worker.is_ready else {0, -STOP_SIGNALS[0]}
            self._failed = self._failed or code not in fine
            return
        if not worker.is_ready and not self._has_served:
            log.error("a worker could not be started; this service stops")
            self._failed = True
            self._stop()
            return
        is_early = monotonic() - worker.started_at < EARLY_EXIT_SECONDS
        slot.early_exits = slot.early_exits + 1 if is_early else 0
        delay = min(MAX_RESTART_SECONDS, 0.1 * 2**slot.early_exits) if is_early else 0.0
        slot.restart_at = monotonic() + delay
        log.warning("worker %s ended with %s; another one is started", worker.process.pid, code)


def _worker_main(
    settings: Settings, listening: socket.socket, line: Connection, run: WorkerFunction
) -> None:  # pragma: no cover  # in another process
    # Ctrl-C reaches all processes of a terminal, and the parent hands it on. Until the server takes
    # over, there is no request to finish.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    raise SystemExit(run(settings, listening, ParentLine(line)))


@contextmanager
def _signal_line() -> Iterator[Connection]:
    """A pipe on which every stop signal arrives."""
    reader, writer = multiprocessing.Pipe(duplex=False)

    def handle(number: int, _frame: object) -> None:
        writer.send_bytes(bytes([number]))

    before = {number: signal.signal(number, handle) for number in STOP_SIGNALS}
    try:
        yield reader
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        writer.close()
        reader.close()
