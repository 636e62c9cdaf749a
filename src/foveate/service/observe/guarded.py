"""Watching must not break what is watched: where it fails, the log says so, by kind."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec

P = ParamSpec("P")

log = logging.getLogger("foveate.service")


@contextmanager
def log_errors() -> Iterator[None]:
    """What fails inside is logged, and over."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  # a full disk is no fault of a request
        _log_error(error)


def never_raise(tell: Callable[P, None]) -> Callable[P, None]:
    """The same function, that raises nothing."""

    def told(*given: P.args, **named: P.kwargs) -> None:
        try:
            tell(*given, **named)
        except Exception as error:  # noqa: BLE001  # as in `unbroken`, and called all the time
            _log_error(error)

    return told


def _log_error(error: Exception) -> None:
    log.warning("watching failed: %s", type(error).__name__, exc_info=error)
