"""What the tests of fleets map over values; workers import it by its name."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

from foveate.batch.engines.engine import Engine
from foveate.core.types import Step


def double(number: int) -> int:
    """Twice as much."""
    return 2 * number


def check_order_and_bound(engine: Engine, ahead: int) -> None:
    """Results come in the order of the values, of which so many are taken for the first of them."""
    taken: list[int] = []

    def values() -> Iterator[int]:
        for number in range(30):
            taken.append(number)
            yield number

    results = engine.map_values(double, values())
    assert (next(results), len(taken)) == ((0, 0), ahead)
    assert list(results) == [(number, 2 * number) for number in range(1, 30)]


def where(number: int) -> tuple[int, str]:
    """The process, and where it stands."""
    return os.getpid(), str(Path.cwd())


def kill_process(candidates: object, request: object) -> Step:
    """A stage that nothing survives."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def dies_counted(given: tuple[int, str]) -> int:
    """The same, with a byte in a file for each time."""
    number, note = given
    if number == 2:
        with Path(note).open("ab") as file:
            file.write(b".")
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def held_open(name: str) -> str:
    """Opens a pipe for good, and writes to it that it came."""
    os.write(os.open(name, os.O_WRONLY), b".")
    return name


def raises(number: int) -> int:
    """Has a fault."""
    raise KeyError(number)


def counts_up(given: tuple[int, str]) -> Iterator[bytes]:
    """Pieces of a megabyte; kills its process at the ninth unless that was noted before."""
    number, note = given
    for piece in range(number):
        if piece == 8 and not Path(note).exists():
            Path(note).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield bytes([piece]) * (1 << 20)


class Deadly:
    """A tokenizer that kills its process at one word."""

    name = fingerprint = "deadly"

    def count(self, text: str) -> int:
        """Words, unless one of them is the one."""
        if "Kill" in text:
            os.kill(os.getpid(), signal.SIGKILL)
        return len(text.split())

    def truncate(self, text: str, n: int) -> str:
        """So many words."""
        return " ".join(text.split()[:n])


STAGE = '''
"""A stage that kills its process, or another one, when the query says so."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

from foveate.core.types import Step


def touchy(candidates, request):
    """Die always, or once, or press Ctrl-C, as the query says; change nothing else."""
    word, _, note = request.query.partition(" ")
    if word == "die" or (word == "once" and not Path(note).exists()):
        if note:
            Path(note).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return Step(candidates=candidates, decisions=())
'''

RECIPE = 'name = "touchy"\nformat = "minimal"\nstages = ["touchy", "pack"]\n'


def install_stage(folder: Path) -> None:
    """Put the stage into a folder as an installed distribution."""
    info = folder / "somebody-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: somebody\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[foveate.stages]\ntouchy = touchy:touchy\n")
    (folder / "touchy.py").write_text(STAGE)
