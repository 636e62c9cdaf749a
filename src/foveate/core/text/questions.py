"""The questions inside of a longer request, such as a mail, by their question marks."""

from __future__ import annotations

from foveate.core.text.sentences import sentence_spans

MARKS = ("?", "\uff1f", "\u061f", "\u037e")
"""Latin and others, Chinese and Japanese, Arabic, Greek."""
MOST_QUESTIONS = 4
"""What is asked stands at the end, mostly; so those before the last four are passed over."""
_CLOSING = " \"')]\u201d\u2019\u00bb\u300d\u300f\uff09"


def inner_questions(request: str, language: str = "en") -> list[str]:
    """The last sentences that end with a question mark; none if the request is no more than one.

    >>> inner_questions("Hi all. Who feeds the cat? When? Many thanks, Ann")
    ['Who feeds the cat?', 'When?']
    >>> inner_questions("Who feeds the cat?")
    []
    """
    if not any(mark in request for mark in MARKS):
        return []
    sentences = [request[a:b] for a, b in sentence_spans(request, language)]
    found = dict.fromkeys(s for s in sentences if s.rstrip(_CLOSING).endswith(MARKS))
    return [] if len(sentences) == 1 else [*found][-MOST_QUESTIONS:]
