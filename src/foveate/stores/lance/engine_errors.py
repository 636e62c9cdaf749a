"""Where Lance's errors become ours, each with what to do; and where Lance is imported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from foveate.core.errors import BadInput, ExternalError, FoveateError, MissingExtra
from foveate.stores.checksums import damage
from foveate.stores.lance.location import Location

_LOCATION_MARK = ", /"
"""Lance says at the end of a message where in its own source it stands."""


def import_lance() -> Any:
    """The `lance` module; raises `MissingExtra`."""
    try:
        import lance
    except ModuleNotFoundError as error:
        if error.name not in {"lance", "pyarrow"}:
            raise
        raise MissingExtra("pylance", "lance") from None
    return lance


class CommitConflict(ExternalError):
    """Another writer committed first; nothing was changed."""


@contextmanager
def convert_engine_errors(place: Location) -> Iterator[None]:
    """What Lance and Arrow raise inside leaves as `ExternalError` or `BadInput`, keys left out.

    The cause is not chained: its text may have what ours has not.
    """
    try:
        yield
    except FoveateError:
        raise
    except UnicodeEncodeError as error:
        raise BadInput(f"a text cannot be stored: {error.reason}") from None
    except OverflowError as error:
        raise BadInput(f"a number is too large for the store: {error}") from None
    except OSError as error:
        raise ExternalError(
            f"store {place.name}: {_error_message(place, error)}; {_ADVICE}"
        ) from None
    except (ValueError, RuntimeError, KeyError, TypeError) as error:
        if not _is_engine_error(error):
            raise
        raise ExternalError(
            f"store {place.name}: {_error_message(place, error)}; {_ADVICE}"
        ) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # how Lance ends on bytes that make no sense
            raise
        raise damage("Lance cannot read one of its files") from None


_ADVICE = (
    "what was not acknowledged may be done again; foveate store check says whether it is whole"
)


def _is_engine_error(error: BaseException) -> bool:
    """Whether Lance or Arrow raised it, and not a mistake of our own."""
    return type(error).__module__.startswith(("pyarrow", "lance")) or "/rust/" in str(error)


def _error_message(place: Location, error: BaseException) -> str:
    text = str(error)
    return place.redact(text.split(_LOCATION_MARK, 1)[0] if _LOCATION_MARK in text else text)


def is_conflict(error: BaseException) -> bool:
    """Whether another writer was faster."""
    return type(error).__name__ == "CommitConflictError" or "commit conflict" in str(error).lower()
