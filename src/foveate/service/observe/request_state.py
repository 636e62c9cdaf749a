"""What is known of the request at hand, wherever its work is done: for its log line and others'.

Threads that work for a request run in a copy of its context, and find the same `RequestState`
there.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foveate.service.observe.metrics import Metrics
    from foveate.service.observe.tracing import Traces


@dataclass(slots=True, kw_only=True)
class RequestState:
    """One request. `counts` go into its log line, `content` only where settings say so."""

    scope: Any
    metrics: Metrics
    traces: Traces | None = None
    trace_id: str = ""
    counts: dict[str, int | float | str] = field(default_factory=dict)
    content: dict[str, str] = field(default_factory=dict)

    @property
    def request_id(self) -> str:
        """The id that the answer carries; empty before it was given one."""
        return str(self.scope.get("state", {}).get("request_id", ""))


REQUEST_STATE: ContextVar[RequestState | None] = ContextVar("foveate_seen", default=None)


def add_log_fields(**counts: float | str) -> None:
    """Figures for the log line of the request at hand, if there is one."""
    seen = REQUEST_STATE.get()
    if seen is not None:
        seen.counts.update(counts)
