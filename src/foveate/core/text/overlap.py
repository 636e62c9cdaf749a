"""Where two strings meet: the tail of one that is the head of the other.

Knows strings only, no candidates and no documents. Rules: what is reported is equal character
for character; time is linear in the shorter string, also for endless repeats of one letter.
"""

from __future__ import annotations

_PROBE = 16
_TRIES = 16


def overlap(left: str, right: str, *, more_than: int = 0) -> int:
    """Length of the longest tail of `left` that is the head of `right`; 0 unless over `more_than`.

    >>> overlap("Bring your card.", "your card. Then wait.")
    10
    >>> overlap("Bring your card.", "your card. Then wait.", more_than=10)
    0
    """
    room = min(len(left), len(right))
    if room <= more_than:
        return 0
    # Any tail that is long enough ends in these characters, so only their places in `right` count.
    probe = left[-min(_PROBE, more_than + 1) :]
    for _ in range(_TRIES):
        at = right.rfind(probe, 0, room)
        length = at + len(probe)
        if at < 0 or length <= more_than:
            return 0
        if left.endswith(right[:length]):
            return length
        room = length - 1
    # So many false starts mean a repetitive text: from here on no guess is tried twice.
    length = _matched_length(left[len(left) - room :], right[:room])
    return length if length > more_than else 0


def is_consistent_at(left: str, right: str, at: int) -> bool:
    """Whether `right`, laid on `left` from character `at`, says the same wherever both speak.

    >>> (
    ...     is_consistent_at("the bird sings", "bird sings loud", 4),
    ...     is_consistent_at("the bird sings", "third", 4),
    ... )
    (True, False)
    """
    return 0 <= at <= len(left) and left.startswith(right[: len(left) - at], at)


def _matched_length(left: str, right: str) -> int:
    """How much of `right` stands matched when `left` has been read to its end.

    Knuth, Morris and Pratt, "Fast pattern matching in strings", 1977. Both of equal length.
    """
    fall_back = [0] * len(right)
    length = 0
    for i in range(1, len(right)):
        while length and right[i] != right[length]:
            length = fall_back[length - 1]
        length += right[i] == right[length]
        fall_back[i] = length
    length = 0
    for character in left:
        while length and character != right[length]:
            length = fall_back[length - 1]
        length += character == right[length]
    return length
