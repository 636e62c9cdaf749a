"""Where Lance's errors become ours, each with what to do; and where Lance is imported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from foveate.adapters.stores.lance.place import Place
from foveate.core.errors import BadInput, FoveateError, MissingExtra, OutsideFailure

_CUT = ", /"
"""Lance says at the end of a message where in its own source it stands."""


def engine() -> Any:
    """The `lance` module; raises `MissingExtra`."""
    try:
        import lance
    except ModuleNotFoundError as error:
        if error.name not in {"lance", "pyarrow"}:
            raise
        raise MissingExtra("pylance", "lance") from None
    return lance


class Faster(OutsideFailure):
    """Another writer committed first; nothing was changed."""


@contextmanager
def guard(place: Place) -> Iterator[None]:
    """What Lance and Arrow raise inside leaves as `OutsideFailure` or `BadInput`, keys left out.

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
        raise OutsideFailure(f"store {place.name}: {_said(place, error)}; {_ADVICE}") from None
    except (ValueError, RuntimeError, KeyError, TypeError) as error:
        if not _of_engine(error):
            raise
        raise OutsideFailure(f"store {place.name}: {_said(place, error)}; {_ADVICE}") from None


_ADVICE = "what was not acknowledged may be done again"


def _of_engine(error: BaseException) -> bool:
    """Whether Lance or Arrow raised it, and not a mistake of our own."""
    return type(error).__module__.startswith(("pyarrow", "lance")) or "/rust/" in str(error)


def _said(place: Place, error: BaseException) -> str:
    text = str(error)
    return place.redacted(text.split(_CUT, 1)[0] if _CUT in text else text)


def conflict(error: BaseException) -> bool:
    """Whether another writer was faster."""
    return type(error).__name__ == "CommitConflictError" or "commit conflict" in str(error).lower()
