"""A worker that ends with the process that started it, however that one ended.

A pool tells its workers to end; who is killed outright tells nobody. They would wait for ever.
"""

from __future__ import annotations

import os
import threading

__all__ = ["end_with_parent"]

_ORPHAN_EXIT_CODE = 1


def end_with_parent() -> None:
    """From now on this process of `multiprocessing` ends as soon as its parent is gone."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_exit_with_parent, args=(parent.sentinel,), daemon=True).start()


def _exit_with_parent(sentinel: int) -> None:
    from multiprocessing.connection import wait

    wait([sentinel])
    os._exit(_ORPHAN_EXIT_CODE)  # nobody is left to take what is at work, or to be told
