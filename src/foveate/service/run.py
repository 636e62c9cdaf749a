"""`foveate serve`: the application in one server process, or in several under uvicorn's supervisor.

At SIGTERM or Ctrl-C it accepts no more requests, finishes the open ones, and ends with 0; at a
second Ctrl-C it ends at once. What sends the signal waits for load balancers to notice: see the
`preStop` of `deploy/kubernetes/deployment.yaml`.
"""

from __future__ import annotations

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

from fastapi import FastAPI
from prometheus_client.multiprocess import mark_process_dead
from uvicorn import Config, Server
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from foveate.core.errors import ExternalError, FoveateError
from foveate.plugins import broken
from foveate.service.app import create_app
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
    """uvicorn's supervisor, which notices at once that a process ended, and outlives a HUP."""

    def keep_subprocess_alive(self) -> None:
        """Replace processes that ended or hang."""
        for process in self.processes:
            process.child_conn.close()  # or the end of one that is being asked is not noticed
        before = {process.pid for process in self.processes}
        super().keep_subprocess_alive()
        for ended in before - {process.pid for process in self.processes}:
            # Its gauges go, and what it counted stays.
            mark_process_dead(ended)  # type: ignore[no-untyped-call]

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
        server = Server(build_config(create_app(settings), settings))
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
        proxy_headers=False,
        timeout_graceful_shutdown=ceil(settings.grace),
        timeout_worker_healthcheck=HANGING_SECONDS,
    )


def build_worker(settings: Settings) -> FastAPI:
    """The application of one of several processes, which ends with its supervisor."""
    logs.configure_logging(settings)
    if (parent := parent_process()) is not None:
        Thread(target=_end_with, args=(parent,), daemon=True).start()
    try:
        return create_app(settings)
    except FoveateError as error:
        log.error("%s", error)  # noqa: TRY400  # said in full; where it was raised says nothing
        sys.exit(STARTUP_FAILURE)


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
