"""Finds the sources of a spoken answer, which has no markers.

A claim's source is the block that supports it best, if it does so well enough.
"""

from __future__ import annotations

from foveate.answer.check import AnswerCheck, check_answer
from foveate.answer.support import Scorer
from foveate.core.types import Citation, Context


def spoken_citations(
    answer: str, context: Context, *, scorer: Scorer | None = None, language: str = "en"
) -> tuple[Citation, ...]:
    """The citations that a spoken answer rests on, each once, in the order of its claims."""
    checked = check_answer(answer, context, scorer=scorer, language=language, channel="voice")
    return citations_from_check(checked, context)


def citations_from_check(checked: AnswerCheck, context: Context) -> tuple[Citation, ...]:
    """Of an answer that was checked as a spoken one."""
    entries = {one.marker: one for one in context.citations}
    held = [claim.support for claim in checked.claims if claim.supported]
    markers = dict.fromkeys(support.marker for support in held if support is not None)
    return tuple(entries[marker] for marker in markers)
