"""Makes a process forget what foveate's core remembers of texts."""

from __future__ import annotations

import sys
from functools import _lru_cache_wrapper

from foveate.core.bounded_cache import BoundedCache


def forget() -> None:
    """Empty every cache of the core."""
    for name, module in list(sys.modules.items()):
        if name.startswith("foveate.core."):
            for value in list(vars(module).values()):
                if isinstance(value, _lru_cache_wrapper):
                    value.cache_clear()
                elif isinstance(value, BoundedCache):
                    value.clear()
