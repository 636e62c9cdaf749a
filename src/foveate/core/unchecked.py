"""The two constructors that skip what the class does, for values made by the thousand.

`bench/bench_assemble.py` pays for them: `source-label` and `naive` leave out nearly every one of
1,000 candidates, with a decision each, and `document-first` joins hundreds of texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import cast

from foveate.core.types import Action, Chunk, Decision, Number


class _OpenDecision:
    """A decision whose fields can still be set: the slots of `Decision` and nothing else."""

    __slots__ = Decision.__slots__


def new_decision(
    *, chunk_id: str, action: Action, reason: str, numbers: Mapping[str, Number], by: str = ""
) -> Decision:
    """`Decision(...)` in less than half of the time: a frozen class sets each field by a call."""
    made = _OpenDecision()
    made.chunk_id = chunk_id
    made.action = action
    made.reason = reason
    made.by = by
    made.numbers = numbers
    made.__class__ = Decision
    return cast("Decision", made)


def chunk_with_text(
    chunk: Chunk, text: str, *, start: int | None, end: int | None, content_hash: str
) -> Chunk:
    """The chunk in its place with another text, whose hash is known and not computed again.

    Many pieces may share one long passage, and hashing it for each would be quadratic.
    """
    changed = copy(chunk)
    fields = (text, start, end, None, content_hash, "")
    names = ("text", "start", "end", "embedding", "content_hash", "_spelled")
    for name, value in zip(names, fields, strict=True):
        object.__setattr__(changed, name, value)
    return changed
