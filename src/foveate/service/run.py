"""`foveate serve`: the application in a server, or in several, that stop in good order.

Told to stop (SIGTERM, Ctrl-C), it says at once that it is not ready, still takes requests for
`drain` seconds, since whoever sends them has yet to notice, then takes no more, finishes what it
took, and ends with 0. Told again, it does not wait to be noticed; a third time, for nothing.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
from collections.abc import Callable
from types import FrameType

from fastapi import FastAPI
from uvicorn import Config, Server

from foveate.core.errors import ExternalError, FoveateError
from foveate.plugins import broken
from foveate.service.app import create_app
from foveate.service.guard import build_guard
from foveate.service.limits.connections import Connection
from foveate.service.observe import logs
from foveate.service.observe.processes import shared_metrics_folder
from foveate.service.request_options import RequestOptions
from foveate.service.settings import Settings
from foveate.service.workers import ParentLine, WorkerProcesses

BACKLOG = 2_048
"""Connections that wait to be taken."""
GC_THRESHOLD = 10_000
"""Objects more than before, after which circles of them are looked for."""

log = logging.getLogger("foveate.service")


class DrainingServer(Server):
    """A server that is not ready some time before it stops.

    `leash`: where it is one of several, the line to who started it, who hands signals on.
    """

    def __init__(
        self,
        app: FastAPI,
        settings: Settings,
        *,
        on_started: Callable[[], None] | None = None,
        leash: ParentLine | None = None,
    ) -> None:
        super().__init__(build_config(app, settings, shares=leash is not None))
        self._app = app
        self._drain = settings.drain
        self._on_started = on_started
        self._parent = leash
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop_requests = 0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if not self.started:
            return
        for listening in sockets or ():
            listening.listen(BACKLOG)
        if self._parent is not None:
            self._parent.on_parent_exit(self.request_stop)
            self._parent.send_ready()
        if self._on_started is not None:
            self._on_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal: red, then closed; the next one hurries."""
        if self._parent is None or sig != signal.SIGINT:
            self.request_stop()

    def request_stop(self) -> None:
        """As by a signal, from any thread."""
        self._stop_requests += 1
        if self._stop_requests > 2:
            self.force_exit = True
        if self._loop is None:
            self.should_exit = True
        else:
            self._loop.call_soon_threadsafe(self._begin_drain)

    def _begin_drain(self) -> None:
        """Red; and every answer from now on is the last one of its connection."""
        self._app.state.app_state.draining = True
        if (b"connection", b"close") not in self.config.encoded_headers:
            self.config.encoded_headers.append((b"connection", b"close"))
            self.server_state.default_headers = [
                *self.server_state.default_headers,
                (b"connection", b"close"),
            ]
        if self._stop_requests > 1 or not self._drain:
            self.should_exit = True
        else:
            if self._parent is None:
                log.info(
                    "ends in %g seconds, so that callers notice; a second signal ends it now",
                    self._drain,
                )
            asyncio.get_running_loop().call_later(self._drain, self._stop)

    def _stop(self) -> None:
        self.should_exit = True


def build_config(app: FastAPI, settings: Settings, *, shares: bool = False) -> Config:
    """How the server is set up: no log of its own for each request, no name in its answers.

    `shares`: it has the port with others, and takes one connection at a time, so that none of
    them takes all that wait.
    """
    return Config(
        app,
        host=settings.host,
        port=settings.port,
        access_log=False,
        server_header=False,
        log_config=None,
        lifespan="on",
        ws="none",
        http=Connection,
        backlog=1 if shares else BACKLOG,
        h11_max_incomplete_event_size=settings.header_bytes,
        proxy_headers=False,  # guard.py: from proxies that the settings name
        timeout_graceful_shutdown=int(settings.grace),
    )


def serve(settings: Settings) -> int:
    """Serve until told to stop; the exit code.

    Raises `BadOption` where `guard.py` lets nobody, `UnknownName` or `BadInput` for a setting that
    names nothing, `ExternalError` where the port is taken.
    """
    logs.configure_logging(settings)
    for one in broken():
        log.warning("%s", one)
    if settings.audit is not None and hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # what rotates logs sends it; workers inherit
    if settings.workers == 1:
        server = DrainingServer(
            create_app(settings), settings, on_started=reduce_garbage_collection
        )
        with open_listener(settings) as port:
            server.run([port])
        return 0 if server.started else 1
    build_guard(settings)
    RequestOptions(settings)
    with open_listener(settings) as port, shared_metrics_folder():
        return WorkerProcesses(settings=settings, listener=port, run=run_worker).serve()


def run_worker(settings: Settings, port: socket.socket, leash: ParentLine) -> int:
    """One of several processes, from beginning to end; its exit code."""
    logs.configure_logging(settings)
    try:
        server = DrainingServer(
            create_app(settings), settings, leash=leash, on_started=reduce_garbage_collection
        )
    except FoveateError as error:
        log.error("%s", error)  # noqa: TRY400  # said in full; where it was raised says nothing
        return os.EX_CONFIG
    server.run([port])
    return 0 if server.started else 1


def reduce_garbage_collection() -> None:
    """Look less often for objects that only hold each other: an assembly leaves none.

    What a process has when it begins to serve, it keeps; looking through all of that takes longer
    than most requests do.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, 10, 10)


def open_listener(settings: Settings) -> socket.socket:
    """The port, taken; the log says where it is."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        port = socket.create_server((settings.host, settings.port), family=family, backlog=BACKLOG)
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        raise ExternalError(
            f"cannot listen on {where}: {error.strerror or error}; give another --port, or --host"
        ) from error
    host, number = port.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    log.info("listening on http://%s:%s (a page at /playground/)", shown, number)
    return port
