"""A circuit breaker by itself."""

from __future__ import annotations

from threading import Thread

import pytest

from foveate import ExternalError
from foveate.service import circuit
from foveate.service.circuit import Circuit


def test_a_thread_that_cannot_start_gives_its_place_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """X3: a process that is out of threads for a moment asks again later."""

    class NoThread(Thread):
        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    tried = Circuit("store", seconds=1.0, at_once=1)
    with monkeypatch.context() as patch:
        patch.setattr(circuit, "Thread", NoThread)
        for _ in range(2):
            with pytest.raises(ExternalError, match="cannot be asked now"):
                tried.call(lambda: 1)

    assert tried.call(lambda: 2) == 2
    assert not tried.is_open
