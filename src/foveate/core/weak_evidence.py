"""Says when what is shown hardly speaks of what was asked (SPEC J7)."""

from __future__ import annotations

from collections.abc import Sequence

from foveate.core.text.terms import document_terms, query_terms, stem
from foveate.core.text.words import identifier_pattern, long_identifiers

WEAK_EVIDENCE = "weak_evidence"
"""The note of the trace's last entry that says so."""
_FRAME_WORDS = {
    "en": "please tell show give list get ask explain describe discuss summarise summarize mention "
    "say said know want need find name define called many much often kind mean happen",
    "de": "bitte sag sage sagen nenne nennen zeig zeigen erklare beschreibe viel viele heisst",
    "fr": "combien dis dites donne donnez liste explique expliquez decris appelle",
    "es": "cuanto cuanta cuantos cuantas dime dame lista explica describe llama",
    "it": "quanto quanta quanti quante dimmi elenca spiega descrivi chiama",
    "pt": "quantos quantas diga liste explique descreva chama",
    "nl": "hoeveel vertel geef noem uitleg beschrijf heet",
    "ru": "сколько скажи назови покажи объясни опиши",
    "zh": "多少 什么 哪些 哪个 请问 告诉 列出 几个",
    "ja": "教え くだ ださ さい です すか ます ませ",
}
FRAME = frozenset(stem(word) for words in _FRAME_WORDS.values() for word in words.split())
"""Words that frame a question in ten languages, as search terms (`core/text/terms.py`)."""
ENOUGH = 1 / 3
"""Share of the question's words that one document must hold.

On 16 question sets it calls 4 % of contexts weak that hold the whole answer, and 90 % of those that
were made for another question of the set; a half calls 14 % and 94 % so.
"""
NAMED = 6
"""Words that the reason names."""


def why_weak(query: str, shown: Sequence[str]) -> str:
    """Why what is shown, a text for each document, is weak evidence; empty where it is not.

    >>> why_weak("How deep is the well?", ["well.md: The well is nine metres deep."])
    ''
    >>> why_weak("How deep is the well?", ["The mill has a wheel of oak."])
    'no document that is shown holds a word of the question: deep, well'
    >>> why_weak("Where is ORD-2041?", ["ORD-2042 is on shelf 7."])
    'nothing that is shown holds ORD-2041'
    """
    if not shown:  # what is empty says so itself
        return ""
    missing = [
        name
        for name in long_identifiers(query)
        if not any(map(identifier_pattern([name]).search, shown))
    ]
    if missing:
        return f"nothing that is shown holds {', '.join(missing[:NAMED])}"
    words = set(query_terms(query)) - FRAME
    best = max([len(words.intersection(document_terms(text))) for text in shown])
    if best >= ENOUGH * len(words):
        return ""
    named = ", ".join(sorted(words)[:NAMED])
    if not best:
        return f"no document that is shown holds a word of the question: {named}"
    return f"no document that is shown holds more than {best} of the question's words: {named}"
