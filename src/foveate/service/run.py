"""`foveate serve`: the application in a server that stops in good order.

Told to stop (SIGTERM, Ctrl-C), it says at once that it is not ready, still takes requests for
`drain` seconds, since whoever sends them has yet to notice, then takes no more, finishes what it
took, and ends with 0. Told again, it does not wait to be noticed; a third time, for nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import FrameType

from fastapi import FastAPI
from uvicorn import Config, Server

from foveate.service.app import create_app
from foveate.service.limits.connections import Connection
from foveate.service.observe import logs
from foveate.service.settings import Settings


class Served(Server):
    """A server that is not ready some time before it stops."""

    def __init__(
        self, app: FastAPI, settings: Settings, *, on_started: Callable[[], None] | None = None
    ) -> None:
        super().__init__(config_of(app, settings))
        self._app = app
        self._drain = settings.drain
        self._on_started = on_started
        self._told = 0

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        """Say when it listens."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)  # type: ignore[arg-type]
        if self._on_started is not None:
            self._on_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal: red, then closed; the next one hurries."""
        self._told += 1
        if self._told > 2:
            self.force_exit = True
        self._loop.call_soon_threadsafe(self._stop_soon)

    def _stop_soon(self) -> None:
        self._app.state.held.draining = True
        if self._told > 1 or not self._drain:
            self.should_exit = True
        else:
            self._loop.call_later(self._drain, self._stop)

    def _stop(self) -> None:
        self.should_exit = True


def config_of(app: FastAPI, settings: Settings) -> Config:
    """How the server is set up: no log of its own for each request, no name in its answers."""
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
        h11_max_incomplete_event_size=settings.header_bytes,
        proxy_headers=False,  # guard.py: from proxies that the settings name
        timeout_graceful_shutdown=int(settings.grace),
    )


def serve(settings: Settings) -> int:
    """Serve until told to stop; the exit code. Raises `BadOption` where `guard.py` lets nobody."""
    logs.set_up(settings)
    server = Served(create_app(settings), settings)
    server.run()
    return 0 if server.started else 1
