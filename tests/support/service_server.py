"""The real service on a real port: uvicorn in a thread, over stores of texts of our own."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
from uvicorn import Server

from foveate.core.types import Chunk
from foveate.ingest import Enrich
from foveate.ingest.run import ingest
from foveate.plugins import embedder
from foveate.ports import Document
from foveate.providers.tokenizers import load_tokenizer
from foveate.service.app import create_app
from foveate.service.run import build_config
from foveate.service.settings import Settings
from foveate.stores import open_store

PAGES = {
    "boiler.md": (
        "# Boiler\n\nThe boiler holds forty litres of water. Drain it before the first frost.\n\n"
        "## Pressure\n\nKeep the pressure between one and two bar. "
        "Above three bar the valve opens.\n"
    ),
    "pump.md": (
        "# Pump\n\nThe pump starts at one bar. Clean its filter every spring.\n\n"
        "## Noise\n\nA rattling pump has drawn air; bleed it at the upper screw.\n"
    ),
    "roof.txt": "The roof is of slate. A loose slate is nailed before the winter.\n",
}
SECRET = "The spare key of the tank room hangs behind the blue door of the office."
"""For the principal `staff` alone."""


def filled(folder: Path) -> Path:
    """A store with the pages, and one document that not everybody may read."""
    pages = folder / "manual"
    pages.mkdir(parents=True)
    for name, text in PAGES.items():
        (pages / name).write_text(text, encoding="utf-8")
    hashing = embedder("hashing")
    path = folder / "store"
    with open_store(path, embedder_name=hashing.name, dimensions=hashing.dimensions) as store:
        ingest(
            pages, store, hashing, load_tokenizer("cl100k_base"), size=40, overlap=0,
            enrich=Enrich(questions=True),
        )  # fmt: skip
        document = Document(id="vault", source="vault.md", text=SECRET, principals=("staff",))
        chunk = Chunk(
            text=SECRET, id="vault#0", document_id="vault", source="vault.md",
            principals=("staff",), start=0, end=len(SECRET),
        )  # fmt: skip
        store.put(document, [chunk], hashing.embed([SECRET]))
    return path


@contextmanager
def serving(settings: Settings) -> Iterator[httpx.Client]:
    """A client of the service, which runs in a thread of its own until the end."""
    with socket.create_server((settings.host, 0)) as listening:
        port = listening.getsockname()[1]
        started, failed = Event(), list[BaseException]()
        server = Server(build_config(create_app(settings), settings))
        startup = server.startup

        async def start(sockets: list[socket.socket] | None = None) -> None:
            await startup(sockets)
            started.set()

        server.startup = start  # type: ignore[method-assign]

        def run() -> None:
            try:
                server.run([listening])
            except BaseException as error:  # noqa: BLE001  # for the thread that waits
                failed.append(error)
            finally:
                started.set()

        thread = Thread(target=run, name="service")
        thread.start()
        try:
            assert started.wait(60)
            assert not failed, failed
            with httpx.Client(
                base_url=f"http://{settings.host}:{port}", timeout=60, trust_env=False
            ) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join(60)
            assert not thread.is_alive()


def without_time(answer: httpx.Response) -> bytes:
    """The body of an answer, but for the time at which it was made."""
    return re.sub(rb',"when":"[^"]*"', b"", answer.content)


def problem(answer: httpx.Response) -> dict[str, Any]:
    """The problem that an answer is; its shape holds for all of them."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    found: dict[str, Any] = answer.json()
    assert found["status"] == answer.status_code
    assert found["instance"] == answer.headers["x-request-id"]
    assert found["type"].startswith("urn:foveate:problem:")
    assert found["detail"]
    assert found["title"]
    return found
