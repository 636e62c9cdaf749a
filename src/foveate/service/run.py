"""`foveate serve`: the application in one server process, or in several.

At SIGTERM or Ctrl-C it reports at once that it is not ready, and still accepts requests for `drain`
seconds, until callers notice. Then it accepts no more, finishes the open ones, and ends with 0. A
second signal skips the wait for callers; a third one that for requests.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
from collections.abc import Callable
from functools import partial
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
from foveate.service.start import check_start
from foveate.service.workers import ParentLine, WorkerProcesses

BACKLOG = 2_048
"""Connections that wait to be accepted."""
GC_THRESHOLD = 10_000
"""New objects after which cycles are collected."""

log = logging.getLogger("foveate.service")


class DrainingServer(Server):
    """A server that is not ready some time before it stops.

    `leash`: the pipe to the parent, if it is one of several; the parent hands signals on.
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
        """Listen, and report it."""
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
        """Handle a signal."""
        if self._parent is None or sig != signal.SIGINT:
            self.request_stop()

    def request_stop(self) -> None:
        """Stop as at a signal; from any thread."""
        self._stop_requests += 1
        if self._stop_requests > 2:
            self.force_exit = True
        if self._loop is None:
            self.should_exit = True
        else:
            self._loop.call_soon_threadsafe(self._begin_drain)

    def _begin_drain(self) -> None:
        """Report not ready; each response from now on is the last of its connection."""
        self._app.state.app_state.draining = True
        close = (b"connection", b"close")
        if close not in self.config.encoded_headers:
            self.config.encoded_headers.append(close)
            headers = self.server_state.default_headers
            self.server_state.default_headers = [*headers, close]
        if self._stop_requests > 1 or not self._drain:
            self.should_exit = True
        else:
            if self._parent is None:
                text = "ends in %g seconds, so that callers notice; a second signal ends it now"
                log.info(text, self._drain)
            stop = partial(setattr, self, "should_exit", True)
            asyncio.get_running_loop().call_later(self._drain, stop)


def build_config(app: FastAPI, settings: Settings, *, shares: bool = False) -> Config:
    """The server's settings: no access log of its own, and no server header.

    `shares`: it shares the port with others, and accepts one connection at a time, so that none
    accepts all that wait.
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
    """Serve until a stop signal; the exit code.

    Raises `BadOption`, `UnknownName` or `BadInput` for wrong settings, a model that cannot be asked
    or a store that is not there, `ExternalError` if the port is taken.
    """
    logs.configure_logging(settings)
    for one in broken():
        log.warning("%s", one)
    if settings.audit is not None and hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # what rotates logs sends it; workers inherit
    check_start(settings)
    if settings.workers == 1:
        server = _build_server(settings)
        with open_listener(settings) as port:
            server.run([port])
        return 0 if server.started else 1
    build_guard(settings)
    RequestOptions(settings)
    with open_listener(settings) as port, shared_metrics_folder():
        return WorkerProcesses(settings=settings, listener=port, run=run_worker).serve()


def _build_server(settings: Settings, leash: ParentLine | None = None) -> DrainingServer:
    app = create_app(settings)
    return DrainingServer(app, settings, leash=leash, on_started=reduce_garbage_collection)


def run_worker(settings: Settings, port: socket.socket, leash: ParentLine) -> int:
    """Run one of several processes; its exit code."""
    logs.configure_logging(settings)
    try:
        server = _build_server(settings, leash)
    except FoveateError as error:
        log.error("%s", error)  # noqa: TRY400  # said in full; where it was raised says nothing
        return os.EX_CONFIG
    server.run([port])
    return 0 if server.started else 1


def reduce_garbage_collection() -> None:
    """Collect reference cycles less often: an assembly leaves none.

    Objects from before the first request stay; looking through them takes longer than most
    requests.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, 10, 10)


def open_listener(settings: Settings) -> socket.socket:
    """Open the port, and log its address."""
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
