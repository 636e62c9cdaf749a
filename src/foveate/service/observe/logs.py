"""Logs: one JSON object a line on standard error, or for terminals one plain line.

A record says when, how bad, who logs, what, and of which request and trace. Never content: of an
error its kind and where it was raised, for messages quote what they are about; of other
libraries' records the place alone, unless the library is known to quote nothing. With content
allowed, all of it is written.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

from foveate.service.observe.request_state import REQUEST_STATE, RequestState
from foveate.service.settings import Settings

ACCESS_LOG = logging.getLogger("foveate.access")
SAFE_LOGGERS = ("foveate", "uvicorn", "opentelemetry")
"""Whose messages are written as they are."""
MAX_FRAMES = 12
"""Of a trace back, the innermost ones."""


def configure_logging(settings: Settings) -> None:
    """Send all logs of this process to standard error: plain on a terminal, else JSON."""
    wanted, content = settings.log_format, settings.log_content
    plain = wanted == "plain" or (wanted == "auto" and sys.stderr.isatty())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        PlainFormatter(content=content) if plain else JsonFormatter(content=content)
    )
    logging.captureWarnings(capture=True)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in ("foveate", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(settings.log_level)


def log_request(
    seen: RequestState,
    *,
    verb: str,
    route: str,
    status: int,
    seconds: float,
    bytes: int,
    quiet: bool,
    content: bool,
) -> None:
    """The line of one request, in place of the server's."""
    level = logging.DEBUG if quiet else logging.INFO
    if not ACCESS_LOG.isEnabledFor(level):
        return
    fields: dict[str, Any] = {
        "method": verb,
        "route": route,
        "status": status,
        "seconds": round(seconds, 6),
        "bytes": bytes,
        **seen.counts,
        **(seen.content if content else {}),
    }
    ACCESS_LOG.log(level, "request", extra={"fields": fields})


class _Formatter(logging.Formatter):
    def __init__(self, *, content: bool) -> None:
        super().__init__()
        self._content = content

    def record_to_json(self, record: logging.LogRecord) -> dict[str, Any]:
        """All that a record says."""
        seen = REQUEST_STATE.get()
        found: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._message(record),
        }
        if seen is not None:
            found |= {"request_id": seen.request_id, "trace_id": seen.trace_id}
        found |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[1] is not None:
            found["error"] = self._error(record.exc_info[1])
        return {name: value for name, value in found.items() if value != ""}

    def _message(self, record: logging.LogRecord) -> str:
        if self._content or record.name.partition(".")[0] in SAFE_LOGGERS:
            return record.getMessage()
        return f"{record.module}.{record.funcName}, line {record.lineno} (message withheld)"

    def _error(self, error: BaseException) -> dict[str, Any]:
        """Its kind and those of its causes, and where it was raised."""
        kinds, found, one = list[str](), set[int](), error
        while one is not None and id(one) not in found:
            found.add(id(one))
            kinds.append(type(one).__name__)
            one = one.__cause__ or one.__context__  # type: ignore[assignment]
        frames = traceback.extract_tb(error.__traceback__)[-MAX_FRAMES:]
        places = [f"{_short_path(f.filename)}:{f.lineno} {f.name}" for f in frames]
        said: dict[str, Any] = {"kinds": kinds, "at": places}
        if self._content:
            said["message"] = str(error)
        return said


class JsonFormatter(_Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The record in one line, whatever stands in it."""
        return json.dumps(
            self.record_to_json(record), default=str
        )  # ASCII: some line ends are beyond it


class PlainFormatter(_Formatter):
    """One line that a person reads: time, level, message, then what else there is."""

    def format(self, record: logging.LogRecord) -> str:
        """The record in one line, control characters written out."""
        said = self.record_to_json(record)
        head = f"{said.pop('time')[11:19]} {said.pop('level').upper():7}"
        if record.name == ACCESS_LOG.name:
            message = f"{said.pop('method')} {said.pop('route')} {said.pop('status')}"
            said.pop("message")
        else:
            message = said.pop("message")
        said.pop("logger")
        rest = " ".join(f"{name}={value}" for name, value in said.items())
        return _printable(f"{head} {message} {rest}".rstrip())


def _short_path(path: str) -> str:
    """From the package's name on: where it is installed is nobody's business."""
    parts = path.replace("\\", "/").split("/")
    for name in ("site-packages", "src"):
        if name in parts:
            return "/".join(parts[len(parts) - parts[::-1].index(name) :])
    return "/".join(parts[-2:])


def _printable(line: str) -> str:
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
