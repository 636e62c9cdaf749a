"""`foveate serve`: the application in one server process, or in several under uvicorn's supervisor.

At SIGTERM or Ctrl-C it reports at once that it is not ready, and still accepts requests for `drain`
seconds, until callers notice. Then it accepts no more, finishes the open ones, and ends with 0. A
second signal skips the wait for callers; a third one that for requests.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from functools import partial
from math import ceil
from multiprocessing import parent_process
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any

from fastapi import FastAPI
from prometheus_client.multiprocess import mark_process_dead
from uvicorn import Config, Server
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from foveate.core.errors import ExternalError, FoveateError
from foveate.plugins import broken
from foveate.service.app import create_app
from foveate.service.app_state import AppState
from foveate.service.guard import open_key_ring
from foveate.service.observe import logs
from foveate.service.observe.metrics import shared_metrics_folder
from foveate.service.request_options import RequestOptions
from foveate.service.settings import Settings
from foveate.service.start import check_start

BACKLOG = 2_048
"""Connections that wait to be accepted."""
HANGING_SECONDS = 20
"""Seconds after which a process that does not answer its supervisor is replaced."""
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)

log = logging.getLogger("foveate.service")


class Workers(Multiprocess):
    """uvicorn's supervisor, which hands further stop signals on to processes that are ending."""

    def keep_subprocess_alive(self) -> None:
        """Replace processes that ended or hang."""
        for process in self.processes:
            process.child_conn.close()  # or the end of one that is being asked is not noticed
        before = {process.pid for process in self.processes}
        super().keep_subprocess_alive()
        for ended in before - {process.pid for process in self.processes}:
            # Its gauges go, and what it counted stays.
            mark_process_dead(ended)  # type: ignore[no-untyped-call]

    def join_all(self) -> None:
        """Wait for the end of all processes."""
        while running := [one.process for one in self.processes if one.process.is_alive()]:
            if self.signal_queue:
                self.signal_queue.clear()
                self.terminate_all()
            running[0].join(0.1)
        super().join_all()

    def handle_hup(self) -> None:
        """Go on: what rotates logs sends it."""


def serve(settings: Settings) -> int:
    """Serve until a stop signal; the exit code.

    Raises `BadOption`, `UnknownName` or `BadInput` for wrong settings, a model that cannot be asked
    or a store that is not there, `ExternalError` if the port is taken.
    """
    logs.configure_logging(settings)
    for one in broken():
        log.warning("%s", one)
    check_start(settings)
    if settings.workers == 1:
        server = Server(build_config(build_app(settings), settings))
        for number in STOP_SIGNALS:  # before the server takes over, and once it has ended
            signal.signal(number, lambda *_: sys.exit(0))
        with open_listener(settings) as port:
            server.run([port])
        return 0 if server.started else 1
    open_key_ring(settings)
    RequestOptions(settings)
    config = build_config(partial(build_worker, settings), settings)
    with open_listener(settings) as port, shared_metrics_folder():
        workers = Workers(config, [port])
        workers.run()
    return int(any(one.exitcode == STARTUP_FAILURE for one in workers.processes))


def build_config(app: object, settings: Settings) -> Config:
    """The server's settings: no access log of its own, and no server header."""
    return Config(
        app,  # type: ignore[arg-type]  # an application, or a function that makes one
        factory=not isinstance(app, FastAPI),
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        access_log=False,
        server_header=False,
        log_config=None,
        lifespan="on",
        ws="none",
        http="h11",
        backlog=BACKLOG,
        h11_max_incomplete_event_size=settings.header_bytes,
        proxy_headers=False,  # guard.py: from proxies that the settings name
        timeout_graceful_shutdown=ceil(settings.grace),
        timeout_worker_healthcheck=HANGING_SECONDS,
    )


def build_app(settings: Settings) -> FastAPI:
    """The application, which drains at a stop signal."""
    app = create_app(settings)
    app.state.on_start = partial(drain_on_signals, app.state.app_state)
    return app


def build_worker(settings: Settings) -> FastAPI:
    """The application of one of several processes, which ends with its supervisor."""
    logs.configure_logging(settings)
    try:
        return build_app(settings)
    except FoveateError as error:
        log.error("%s", error)  # noqa: TRY400  # said in full; where it was raised says nothing
        sys.exit(STARTUP_FAILURE)


def drain_on_signals(state: AppState) -> None:
    """From now on, a stop signal reports not ready first; the server gets it `drain` seconds later.

    A second one, and a third one, reach it at once.
    """
    loop, parent = asyncio.get_running_loop(), parent_process()
    stop: Any = signal.getsignal(signal.SIGTERM)  # the server's own
    count = 0

    def pass_on() -> None:
        stop(signal.SIGINT, None)

    def handle(number: int, _: object) -> None:
        if parent is None or number != signal.SIGINT:  # a terminal sends it to every process
            loop.call_soon_threadsafe(begin)

    def begin() -> None:
        nonlocal count
        count += 1
        state.draining = True
        if count > 1 or not state.settings.drain:
            pass_on()
            return
        if parent is None:
            text = "ends in %g seconds, so that callers notice; a second signal ends it now"
            log.info(text, state.settings.drain)
        loop.call_later(state.settings.drain, lambda: pass_on() if count == 1 else None)

    for number in STOP_SIGNALS:
        signal.signal(number, handle)
    if parent is not None:
        Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    """A supervisor that is killed leaves no process behind that holds the port."""
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def open_listener(settings: Settings) -> socket.socket:
    """Open the port, and log its address.

    Data after the head of a response is sent without waiting for its confirmation: connections
    inherit that from the port, and the event loop sets it only on sockets that it made itself.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        port = socket.create_server((settings.host, settings.port), family=family, backlog=BACKLOG)
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        raise ExternalError(
            f"cannot listen on {where}: {error.strerror or error}; give another --port, or --host"
        ) from error
    port.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    host, number = port.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    log.info("listening on http://%s:%s (a page at /playground/)", shown, number)
    return port
