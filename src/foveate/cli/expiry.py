"""When a key ends, as one writes it: a number of days, or a time."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from foveate.core.errors import BadOption


def parse_expiry(text: str, now: datetime) -> datetime:
    """The moment, in UTC; a time without a zone is in UTC, a date is its first second.

    Raises `BadOption` where it is no such thing, or has passed.

    >>> print(parse_expiry("90d", datetime(2027, 1, 1, tzinfo=UTC)))
    2027-04-01 00:00:00+00:00
    >>> print(parse_expiry("2027-01-31", datetime(2027, 1, 1, tzinfo=UTC)))
    2027-01-31 00:00:00+00:00
    """
    days = re.fullmatch(r"(\d{1,5})d", text, re.ASCII)
    try:
        ends = now + timedelta(days=int(days[1])) if days else datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise BadOption(
            f"--expires {text!r}: give a number of days (90d) or a time (2027-01-31)"
        ) from None
    ends = (ends if ends.tzinfo else ends.replace(tzinfo=UTC)).astimezone(UTC)
    if ends <= now:
        raise BadOption(f"--expires {text!r}: has passed; give a time to come")
    return ends.replace(microsecond=0)
