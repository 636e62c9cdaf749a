"""Says when what is shown hardly speaks of what was asked (SPEC J7)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from foveate.core.text.terms import STOP_WORDS, document_terms, keys, query_terms, stem
from foveate.core.text.words import long_identifiers
from foveate.core.types import Block

WEAK_EVIDENCE = "weak_evidence"
"""The note of the trace's last entry that says so."""
_FRAME_WORDS = {
    "en": "please tell show give list get ask explain describe discuss summarise summarize mention "
    "say said know want need find name define called many much often kind mean happen "
    "document text",
    "de": "bitte sag sage sagen nenne nennen zeig zeigen erklare beschreibe viel viele heisst "
    "dokument",
    "fr": "combien dis dites donne donnez liste explique expliquez decris appelle",
    "es": "cuanto cuanta cuantos cuantas dime dame lista explica describe llama",
    "it": "quanto quanta quanti quante dimmi elenca spiega descrivi chiama",
    "pt": "quantos quantas diga liste explique descreva chama",
    "nl": "hoeveel vertel geef noem uitleg beschrijf heet",
    "ru": "сколько скажи назови покажи объясни опиши",
    "zh": "多少 什么 哪些 哪个 请问 告诉 列出 几个",
    "ja": "教え くだ ださ さい です すか ます ませ",
}
FRAME = frozenset(
    keys([stem(word) for words in _FRAME_WORDS.values() for word in words.split()])
).union(*map(keys, map(sorted, STOP_WORDS.values())))
"""Words that frame a question in ten languages, and stop words, as the keys of `compress`."""
ENOUGH = 1 / 3
"""Share of the question's words that one document must hold.

On 16 question sets, it calls 4 of 249 contexts weak that hold the whole answer, and 266 of 320 that
were made of another set's candidates (`python -m bench.weak_evidence`).
"""
_SEPARATORS = re.compile(r"[\s,.'\u2019_-]+")
"""What may stand between the parts of a number or an identifier, or be left out."""
NAMED = 6
"""Words that the reason names, and identifiers that are looked for."""


def why_weak(query: str, shown: Sequence[str]) -> str:
    """Why what is shown, a text for each document, is weak evidence; empty where it is not.

    >>> why_weak("How deep is the well?", ["well.md: The well is nine metres deep."])
    ''
    >>> why_weak("How deep is the well?", ["The mill has a wheel of oak."])
    'no document that is shown holds a word of the question: deep, well'
    >>> why_weak("Where is ORD-2041?", ["ORD-2042 is a valve."])
    'nothing that is shown holds ORD-2041'
    """
    if not shown:  # what is empty says so itself
        return ""
    if names := long_identifiers(query)[:NAMED]:
        texts = [*map(_without_separators, shown)]
        missing = [n for n in names if not any(_without_separators(n) in text for text in texts)]
        return f"nothing that is shown holds {', '.join(missing)}" if missing else ""
    asked = query_terms(query)
    words = {key: term for key, term in zip(keys(asked), asked, strict=True) if key not in FRAME}
    best = 0
    for text in shown:
        best = max(best, len(words.keys() & keys(document_terms(text))))
        if best >= ENOUGH * len(words):
            return ""
    named = ", ".join([*words.values()][:NAMED])
    if not best:
        return f"no document that is shown holds a word of the question: {named}"
    return f"no document that is shown holds more than {best} of the question's words: {named}"


def _without_separators(text: str) -> str:
    return _SEPARATORS.sub("", text).casefold()


def shown_documents(blocks: Sequence[Block]) -> list[str]:
    """All that is shown of each document, with what names it."""
    found: dict[str, list[str]] = {}
    for block in blocks:
        texts = found.setdefault(block.document_id, [])
        texts += (block.text, block.source, block.title, block.section)
    return ["\n".join(texts) for texts in found.values()]
