"""A server on this machine that takes JSON by POST, notes it, and answers as a test wants."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, TypeAlias

Headers: TypeAlias = dict[str, str]
Answer: TypeAlias = tuple[int, bytes] | tuple[int, bytes, Headers]


class JsonServer:
    """`answer`: path, headers by small names, and body → status, data, and headers.

    `asked`: path, headers and body of each request so far.
    """

    def __init__(self, answer: Callable[[str, Headers, Any], Answer]) -> None:
        self.answer = answer
        self.asked: list[tuple[str, Headers, Any]] = []
        self.url = ""


@contextmanager
def serving(answer: Callable[[str, Headers, Any], Answer]) -> Iterator[JsonServer]:
    """The server, while it is needed."""
    told = JsonServer(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = json.loads(self.rfile.read(int(headers["content-length"])))
            told.asked.append((self.path, headers, body))
            status, data, *more = told.answer(self.path, headers, body)
            self.send_response(status)
            for name, value in (more[0] if more else {}).items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
