"""How much memory a piece of work adds at most.

On Linux the kernel's own mark of the highest resident size is reset before, and what the
allocator holds free is given back, so that earlier work cannot lend its memory. Elsewhere the
highest size of the process so far is taken, which is a lower bound of what was added.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from pathlib import Path

_RESET, _STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


class Peak:
    """Begins when it is made."""

    def __init__(self) -> None:
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
        self.exact = True
        try:
            _RESET.write_text("5")
            self.before = _resident("VmRSS")
        except OSError:
            self.exact, self.before = False, _highest()

    def megabytes(self) -> float:
        """What was added at most since."""
        after = _resident("VmHWM") if self.exact else _highest()
        return round((after - self.before) / 1024, 1)


def _resident(name: str) -> int:
    """A figure of this process's status, in kilobytes."""
    for line in _STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    raise OSError(f"no {name}")


def _highest() -> int:
    """The highest resident size so far, in kilobytes."""
    import resource
    import sys

    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return highest // 1024 if sys.platform == "darwin" else highest
