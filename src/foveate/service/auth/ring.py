"""The keys of a running service, always those of the file.

A `stat` before each request shows whether the file changed, so a revoked key is refused from the
next request on. While the file is damaged or gone, no key is accepted: one that was valid may be
the one that was being revoked.
"""

from __future__ import annotations

import errno
import logging
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from hmac import compare_digest
from pathlib import Path
from stat import S_ISREG

from foveate.core.errors import BadInput, ExternalError
from foveate.service.auth.keys import KEY_PATTERN, MAX_BYTES, Key, key_digest, parse_keys

log = logging.getLogger("foveate.service.keys")

UNKNOWN_KEY_DIGEST = "0" * 64
"""Compared with where no such key is known, so that this takes as long as a wrong secret."""

RECENT_WRITE_SECONDS = 2.0
"""Seconds within which a file may change again and look the same: clocks of file systems are
coarse, so a file that was written so lately is read once more."""

FileStamp = tuple[int, int, int, int, int]
MISSING_FILE: FileStamp = (0, 0, 0, 0, 0)
"""Of a file that was there and is not, or cannot be looked at: whatever comes is read."""


class KeyRing:
    """Finds the key that a caller sends. For one thread: that of the event loop.

    Raises `BadInput` or `ExternalError` when it is made of a file that is not well. `compared`
    counts comparisons of hashes.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._keys: dict[str, Key] = {}
        self._stamp: FileStamp | None = None
        self._is_stable = True
        self._fault: BadInput | ExternalError | None = None
        self.comparisons = 0
        self._is_started = False
        self._refresh()
        if self._fault is not None:
            raise self._fault
        self._is_started = True

    @property
    def in_use(self) -> bool:
        """Whether there is a file of keys, or was one since the start, whatever it says now."""
        self._refresh()
        return self._stamp is not None

    @property
    def keys(self) -> tuple[Key, ...]:
        """All keys of the file; none where it is not well."""
        self._refresh()
        return tuple(self._keys.values())

    @property
    def fault(self) -> str | None:
        """What is wrong with the file, for the log and readiness; None if nothing is."""
        self._refresh()
        return None if self._fault is None else str(self._fault)

    def find(self, token: str) -> Key | None:
        """The key that is sent, where it counts now; None for whatever else, in the same time.

        Whether the id is unknown, the secret wrong, the key revoked or expired: one hash, one
        comparison. Raises `ExternalError` where the file is not well.
        """
        self._refresh()
        if self._fault is not None:
            raise ExternalError("the keys of this service cannot be read; its operator must see")
        shape = KEY_PATTERN.fullmatch(token)
        key = self._keys.get(shape[1]) if shape else None
        digest = key.digest if key is not None and key.digest else UNKNOWN_KEY_DIGEST
        self.comparisons += 1
        same = compare_digest(digest, key_digest(token))
        if not same or key is None:
            return None
        return key if key.is_usable(datetime.fromtimestamp(self._clock(), UTC)) else None

    def _refresh(self) -> None:
        """Read the file again if it changed."""
        stamp = MISSING_FILE
        try:
            status = self._path.stat()
            if not S_ISREG(status.st_mode):  # opening a pipe would wait for a writer
                raise OSError(errno.EINVAL, "it is not a regular file")  # noqa: TRY301
            if _file_stamp(status) == self._stamp and self._is_stable:
                return
            with self._path.open("rb") as file:
                data, status = file.read(MAX_BYTES + 1), os.fstat(file.fileno())
            self._is_stable = abs(self._clock() - status.st_mtime) > RECENT_WRITE_SECONDS
            stamp = _file_stamp(status)
            keys = {key.id: key for key in parse_keys(data, status.st_mode, self._path.name)}
        except FileNotFoundError:
            if self._stamp is not None:
                self._reject_all(
                    ExternalError(f"{self._path.name}: the file of keys is gone"), stamp
                )
        except OSError as error:
            why = f"the keys cannot be read: {error.strerror or error}"
            self._reject_all(ExternalError(f"{self._path.name}: {why}"), stamp)
        except BadInput as error:
            self._reject_all(error, stamp)
        else:
            if self._fault is not None:
                log.warning("the file of keys is well again")
            self._keys, self._stamp, self._fault = keys, stamp, None

    def _reject_all(self, fault: BadInput | ExternalError, stamp: FileStamp) -> None:
        """Accept no key from now on; logged once."""
        if self._is_started and self._fault is None:
            log.error("no key is accepted: %s", fault)
        self._keys, self._stamp, self._fault = {}, stamp, fault


def _file_stamp(status: os.stat_result) -> FileStamp:
    times = status.st_mtime_ns, status.st_ctime_ns
    return (*times, status.st_size, status.st_ino, status.st_dev)
