"""The moving windows of this process, as a storage of the library that judges rates.

The library's own looks at every caller's window again with each request; here a window goes when
others are used and nobody used it for its length. So a request costs the same however many
callers there were.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import Callable

from limits.aio.storage import MemoryStorage


class MovingWindows(MemoryStorage):
    """For each caller the times of its last requests, latest last, at most as many as its limit."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._max_expiry = 0

    def __len__(self) -> int:
        return len(self._times)

    async def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Whether there was room for `amount` more within the last `expiry` seconds."""
        now = self._clock()
        self._remove_expired(now, expiry)
        times = self._times.get(key) or deque(maxlen=limit)
        if amount > limit or (
            len(times) > limit - amount and times[len(times) - limit + amount - 1] > now - expiry
        ):
            return False
        times.extend([now] * amount)
        self._times[key] = times
        self._times.move_to_end(key)
        return True

    async def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """When the first request of the window was, and how many there are in it."""
        now = self._clock()
        times = list(self._times.get(key, ()))
        first = bisect_right(times, now - expiry)
        return (times[first], len(times) - first) if first < len(times) else (now, 0)

    def _remove_expired(self, now: float, expiry: int) -> None:
        """Let go of the windows whose last request is past; the one used longest ago is first."""
        self._max_expiry = max(self._max_expiry, expiry)
        while self._times:
            key, times = next(iter(self._times.items()))
            if times[-1] > now - self._max_expiry:
                return
            del self._times[key]
