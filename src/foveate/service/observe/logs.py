"""Logs: one JSON object a line on standard error, or one plain line on a terminal.

Records hold no content. Of an error they hold its kind and where it was raised, since messages
quote values; of records of unknown libraries only their place. With content allowed, all is
written.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

from foveate.service.audit import AUDIT_LOG
from foveate.service.observe.request_state import REQUEST_STATE
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
    handler.setFormatter(LogFormatter(content=content, plain=plain))
    logging.captureWarnings(capture=True)
    AUDIT_LOG.setLevel(logging.INFO)  # whatever the level of other records
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in ("foveate", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(settings.log_level)


class LogFormatter(logging.Formatter):
    """One line for a record: a JSON object, or if it is `plain`, what a person reads.

    A plain line has time, level and message, then what else there is.
    """

    def __init__(self, *, content: bool, plain: bool = False) -> None:
        super().__init__()
        self._content, self._plain = content, plain

    def record_to_json(self, record: logging.LogRecord) -> dict[str, Any]:
        """The fields of a record."""
        state = REQUEST_STATE.get(None)
        found: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._message(record),
        }
        if state is not None:
            found |= {"request_id": state.request_id, "trace_id": state.trace_id}
        found |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[1] is not None:
            found["error"] = self._error(record.exc_info[1])
        return {name: value for name, value in found.items() if value != ""}

    def _message(self, record: logging.LogRecord) -> str:
        if self._content or record.name.partition(".")[0] in SAFE_LOGGERS:
            return record.getMessage()
        return f"{record.module}.{record.funcName}, line {record.lineno} (message withheld)"

    def _error(self, error: BaseException) -> dict[str, Any]:
        kinds, found, one = list[str](), set[int](), error
        while one is not None and id(one) not in found:
            found.add(id(one))
            kinds.append(type(one).__name__)
            one = one.__cause__ or one.__context__  # type: ignore[assignment]
        frames = traceback.extract_tb(error.__traceback__)[-MAX_FRAMES:]
        places = [f"{_short_path(f.filename)}:{f.lineno} {f.name}" for f in frames]
        fields: dict[str, Any] = {"kinds": kinds, "at": places}
        if self._content:
            fields["message"] = str(error)
        return fields

    def format(self, record: logging.LogRecord) -> str:
        """The record in one line."""
        fields = self.record_to_json(record)
        if not self._plain:
            return json.dumps(fields, default=str)  # ASCII: no odd line ends
        head = f"{fields.pop('time')[11:19]} {fields.pop('level').upper():7}"
        message = fields.pop("message")
        if fields.pop("logger") == ACCESS_LOG.name:
            message = f"{fields.pop('method')} {fields.pop('route')} {fields.pop('status')}"
        rest = " ".join(f"{name}={value}" for name, value in fields.items())
        line = f"{head} {message} {rest}".rstrip()
        return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)


def _short_path(path: str) -> str:
    """The path from the package's name on, which does not reveal where it is installed."""
    parts = path.replace("\\", "/").split("/")
    for name in ("site-packages", "src"):
        if name in parts:
            return "/".join(parts[len(parts) - parts[::-1].index(name) :])
    return "/".join(parts[-2:])
