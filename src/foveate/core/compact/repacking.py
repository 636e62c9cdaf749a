"""When a growing list is repacked, and how each tool result is shown from then on.

The list is read as it grew. While it fits nothing changes. When it first does not, it is repacked:
the oldest groups leave until a part of the room (`slack`) is free again, so that what follows is
appended and what was sent keeps its bytes. The same list always gives the same repackings, and a
longer list begins with them. So no state is kept between calls.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

SMALL_ROOM = 4_096
"""Tokens; a room up to that is always filled, for the cache of so short a prefix saves little."""
NEAR = 2
"""Groups; a result so near the end when the list is repacked is among the newest."""
NEAR_SHARE, FAR_SHARE = 2, 4
"""A result is shortened to this part of the room where it is among the newest, and where not."""
PEOPLE_SHARE = 5
"""What people said is kept as long as all of it takes at most this part of the room."""
LEAST_RESULT = 48
"""Tokens; no result is shortened to less, unless it is the newest and nothing else fits."""

_WORD = re.compile(r"\w++")

ResultForm: TypeAlias = Literal["full", "short", "fitted", "repeated", "superseded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSize:
    """Tokens of a group in full, and of what people say in it; `must`: it never leaves.

    `orphan`: it never stays.
    """

    tokens: int
    must: bool
    said: int = 0
    orphan: bool = False


def default_slack(room: int) -> int:
    """Tokens that a repacking frees: none in a small room, two fifths of a large one."""
    return max(0, min(room - SMALL_ROOM, room * 2 // 5))


def least_ledger(room: int) -> int:
    """Tokens that the ledger may take even where messages fill the target."""
    return room // 10


def short_ledger(room: int) -> int:
    """Tokens of a ledger that says little beside what left; a newest result makes room for it."""
    return min(48, room // 4)


def standing_tokens(groups: Sequence[GroupSize], room: int) -> list[int]:
    """Of each group, tokens of what stays before it: what must, and what people said.

    Of the latter up to a part of the room, as messages or in the ledger.
    """
    found, must, said = [], 0, 0
    for group in groups:
        found.append(must + min(said, room // PEOPLE_SHARE))
        must += group.tokens if group.must else 0
        said += 0 if group.must else group.said
    return found


def repack_points(groups: Sequence[GroupSize], room: int, slack: int) -> list[int]:
    """The groups with which the growing list was over the room."""
    found, size, last = list[int](), 0, 0
    for n, (group, standing) in enumerate(zip(groups, standing_tokens(groups, room), strict=True)):
        size += group.tokens
        last = last if group.orphan else group.tokens
        if size > room - bool(found):  # behind a full one nothing fits, not even without tokens
            found.append(n)
            size = min(room, max(room - slack, standing + last + least_ledger(room)))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFacts:
    """What decides how a result is shown: its group, tokens of its text, what came again later.

    `again`: the group of the next result with the same text, `newer`: of the next result of the
    same call; -1 where there is none. `fitted`: it was too large for the room when it came.
    `twice`: it holds what its text says another time.
    """

    group: int
    tokens: int
    again: int = -1
    newer: int = -1
    fitted: bool = False
    twice: bool = False


def replaces(newer: str, older: str) -> bool:
    """Whether a later result of the same call says most words of an earlier one.

    A state that was asked for again does; the next page of a list does not.
    """
    words = set(_WORD.findall(older))
    return 2 * len(words.intersection(_WORD.findall(newer))) >= len(words)


def result_limit(result: ResultFacts, point: int, room: int) -> int:
    """Tokens that a result may have when the list is repacked at this group."""
    share = NEAR_SHARE if point - result.group <= NEAR else FAR_SHARE
    return max(room // share, LEAST_RESULT)


class FormChoice(NamedTuple):
    """How a result is shown, in how many tokens at most, and since which repacking (-1: ever)."""

    form: ResultForm
    limit: int
    since: int = -1


def choose_form(result: ResultFacts, points: Sequence[int], room: int) -> FormChoice:
    """How a result is shown behind the last of these repackings.

    It changes at most once: at the first repacking that finds it too long or shown again later.
    """
    if result.fitted:
        return FormChoice("fitted", room, result.group)
    for point in points[bisect_right(points, result.group) :]:
        if result.tokens > LEAST_RESULT:
            if 0 <= result.again <= point:
                return FormChoice("repeated", result.tokens, point)
            if 0 <= result.newer <= point:
                return FormChoice("superseded", result.tokens, point)
        limit = result_limit(result, point, room)
        if result.tokens > limit or result.twice:
            return FormChoice("short", limit, point)
        if point - result.group > NEAR and result.again < 0 and result.newer < 0:
            break
    return FormChoice("full", result.tokens)
