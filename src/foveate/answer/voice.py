"""Finds the sources of a spoken answer, which has no markers.

A claim's source is the block that supports it best, if it does so well enough; `attribution` names
the sources in one sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from foveate.answer.check import AnswerCheck, check_answer
from foveate.answer.support import Scorer
from foveate.core.errors import UnknownName
from foveate.core.types import Citation, Context

ATTRIBUTIONS = {
    "en": ("This is from {}.", "and"),
    "nl": ("Dit komt uit {}.", "en"),
    "de": ("Das stammt aus {}.", "und"),
    "fr": ("Cela vient de {}.", "et"),
}


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


def attribution(citations: Sequence[Citation], language: str = "en") -> str:
    """One sentence that names the sources; empty if there are none."""
    if language not in ATTRIBUTIONS:
        raise UnknownName("language", language, ATTRIBUTIONS)
    sentence, last = ATTRIBUTIONS[language]
    names = list(dict.fromkeys(_spoken_name(one) for one in citations))
    if not names:
        return ""
    listed = f" {last} ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    return sentence.format(listed)


def _spoken_name(citation: Citation) -> str:
    """The title, or the file's name as one says it."""
    name = PurePosixPath(citation.source).stem.replace("_", " ").replace("-", " ")
    return citation.title or name or citation.document_id
