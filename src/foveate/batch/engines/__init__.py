"""Maps a function over values in order: in this process, in a pool of processes, or on Ray."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from foveate.batch.engines.engine import Engine, SequentialEngine
from foveate.batch.engines.on_ray import open_ray
from foveate.batch.engines.pool import ProcessPoolEngine
from foveate.core.errors import BadOption, UnknownName

ENGINES = ("local", "ray")


def check_engine(name: str, workers: int | None, address: str | None) -> None:
    """Raise `UnknownName` or `BadOption` if `open_engine` would."""
    if name not in ENGINES:
        raise UnknownName("engine", name, ENGINES)
    if workers is not None and workers < 1:
        raise BadOption(f"workers must be 1 or more, not {workers}")
    if address is not None and name != "ray":
        raise BadOption("--address names a Ray cluster; give --engine ray with it")


@contextmanager
def open_engine(
    name: str, workers: int | None = None, address: str | None = None
) -> Iterator[Engine]:
    """The engine, until it is left.

    `local`: this process, or a pool of `workers` processes. `ray`: as many workers as there are
    processors unless said otherwise, on this machine or at `address`. Raises what `check_engine`
    raises, `MissingExtra`, and `ExternalError` if a cluster cannot be started or reached.
    """
    check_engine(name, workers, address)
    if name == "ray":
        with open_ray(workers, address) as engine:
            yield engine
    elif workers is None or workers == 1:
        yield SequentialEngine()
    else:
        yield ProcessPoolEngine(workers)
