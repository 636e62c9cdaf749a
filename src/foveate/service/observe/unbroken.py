"""Watching must not break what is watched: where it fails, the log says so, by kind."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec

P = ParamSpec("P")

log = logging.getLogger("foveate.service")


@contextmanager
def unbroken() -> Iterator[None]:
    """What fails inside is logged, and over."""
    try:
        yield
    except Exception as error:  # a full disk under the metrics is no request's fault
        log.warning("watching failed: %s", type(error).__name__, exc_info=error)


def never_raising(tell: Callable[P, None]) -> Callable[P, None]:
    """The same function, that raises nothing."""

    def told(*given: P.args, **named: P.kwargs) -> None:
        with unbroken():
            tell(*given, **named)

    return told
