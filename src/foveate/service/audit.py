"""The audit log: who read which state of the store, and which context was made.

A line is a JSON object with the time, the request's id, the key's id, tenant, principals, the
endpoint's pattern, the status, the state root, and the hashes of recipe, inputs and output. It
never holds a text, a question, a document's id or a key.

A line is appended in one piece before the first byte of the response, so several processes share
a file; if it cannot be written, the response is not sent. With `sync` each line is on the disk
first. A file that was moved is opened again, and one that was emptied is appended to, so that logs
are rotated without a signal.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveate.core.errors import ExternalError
from foveate.service.auth.caller import Caller
from foveate.service.limits.asgi import Layer, is_public, send_problem
from foveate.service.problems import busy_problem

HASHES = ("recipe_hash", "inputs_hash", "output_hash")
UNAUDITED_PATHS = frozenset({"/metrics", "/openapi.json"})
"""Polled by machines; they concern no documents."""

log = logging.getLogger("foveate.service.audit")


def add_audit_fields(
    scope: Scope,
    *manifests: Mapping[str, Any],
    state_root: str | None = None,
    principals: Iterable[str] | None = None,
) -> None:
    """Note what a response is made of; a route calls it before it responds.

    `manifests` are those of `core/context_json.py`; `state_root` is for a response without one;
    `principals` is for a request with fewer than the key has.
    """
    found: dict[str, Any] = scope["state"].setdefault("audit", {})
    if principals is not None:
        found["principals"] = list(principals)
    if state_root is not None:
        found["state_root"] = state_root
    for manifest in manifests:
        found.setdefault("state_root", manifest["state_root"])
        made = found.setdefault("manifests", [])
        found["manifests"] = [*made, {name: manifest[name] for name in HASHES}]


class Audit:
    """The file. Threads may share it."""

    def __init__(self, path: Path, *, sync: bool = False) -> None:
        self.path = path
        self.sync = sync
        self._lock = Lock()
        self._file: int | None = None
        self._has_partial_line = False
        with self._lock:
            self._open()

    def write(self, record: Mapping[str, Any]) -> None:
        """Append a line; raises `ExternalError`."""
        data = json.dumps(record, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        with self._lock:
            try:
                self._append(data)
            except OSError as error:
                raise ExternalError(_write_error_message(self.path, error)) from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._close()

    def _append(self, data: bytes) -> None:
        number = self._current_file()
        if self._has_partial_line:
            data = b"\n" + data  # a full disk took half a line: it stays one line
        taken = os.write(number, data)
        self._has_partial_line = not data[:taken].endswith(b"\n") and (
            taken > 0 or self._has_partial_line
        )
        if taken < len(data):
            raise OSError(28, "no room for a whole line")
        if self.sync:
            os.fsync(number)

    def _current_file(self) -> int:
        """The file that has the path now."""
        if self._file is not None:
            try:
                if os.path.samestat(os.fstat(self._file), self.path.stat()):
                    return self._file
            except FileNotFoundError:
                pass
            self._close()
        return self._open()

    def _open(self) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        try:
            self._file = os.open(self.path, flags, 0o600)
        except OSError as error:
            raise ExternalError(_write_error_message(self.path, error)) from error
        self._has_partial_line = False
        return self._file

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


class AuditMiddleware(Layer):
    """Writes a line for every admitted request, before its response begins."""

    def __init__(self, app: ASGIApp, *, audit: Audit) -> None:
        super().__init__(app)
        self._audit = audit

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hold back the start of the response until its line is written."""
        if is_public(scope["path"]) or scope["path"] in UNAUDITED_PATHS:
            await self._app(scope, receive, send)
            return
        line = _RequestRecord(scope=scope, audit=self._audit)
        held: list[Message] = []
        lost = False

        async def sending(message: Message) -> None:
            nonlocal lost
            if message["type"] == "http.response.start":
                held.append(message)
                return
            if held:
                lost = not await line.write(held[0]["status"])
                if lost:
                    detail = "the service cannot keep its audit, so it gives no answers"
                    problem = busy_problem(detail, after=5, kind="audit")
                    await send_problem(scope, receive, send, problem)
                else:
                    await send(held[0])
                held.clear()
            if not lost:
                await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception:
            await line.write(500)
            raise
        await line.write(None)  # the client left before, or more was noted since


class _RequestRecord:
    """The lines of one request: a second one if more is noted after the response began."""

    def __init__(self, *, scope: Scope, audit: Audit) -> None:
        self._scope = scope
        self._audit = audit
        self._status: int | None = None
        self._last_written: dict[str, Any] | None = None

    async def write(self, status: int | None) -> bool:
        """Write the line, unless it is written; False if that fails."""
        self._status = self._status or status
        record = audit_record(self._scope, self._status)
        content = {name: value for name, value in record.items() if name != "when"}
        if content == self._last_written:
            return True
        try:
            if self._audit.sync:
                await asyncio.to_thread(self._audit.write, record)
            else:
                self._audit.write(record)
        except ExternalError as error:
            log.error("request %s is not in the audit: %s", record["request"], error)  # noqa: TRY400
            return False
        self._last_written = content
        return True


def audit_record(scope: Scope, status: int | None) -> dict[str, Any]:
    """The line of a request; `status` is None if the client left before a response."""
    state = scope["state"]
    caller: Caller = state["caller"]
    pattern = getattr(scope.get("route"), "path", "-")
    return {
        "when": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "request": state.get("request_id", ""),
        "key": caller.key_id,
        "tenant": caller.tenant,
        "principals": list(caller.principals),
        "endpoint": f"{scope['method']} {pattern}",
        "status": status,
        **state.get("audit", {}),
    }


def _write_error_message(path: Path, error: OSError) -> str:
    return f"{path.name}: the audit cannot be written: {error.strerror or error}; make room for it"
