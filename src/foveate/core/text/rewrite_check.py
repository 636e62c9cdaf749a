"""Whether a rewritten text may stand for its source: what can be checked without understanding it.

Each of these rejects it: a number, with its sign, unit and currency, that the source does not have
in this spelling; a spelled number, a month, a day of the week or a relative day that it does not
name; fewer than half of its words in the source; a beginning in JSON, tags or fences where the
source has none. What passes may still be wrong, so it is marked as not verbatim wherever it goes.
"""

from __future__ import annotations

from foveate.core.text.facts import extract_values
from foveate.core.text.words import split_words

MIN_SHARED_WORDS = 0.5  # of a text's words stand in what it is written from
STRUCTURE_PREFIXES = ("{", "[", "<", "```")
MAX_SHORT_WORD = 3  # characters; words up to that stand in every text


def check_rewrite(text: str, source: str) -> str:
    """Why the text may not stand for the source, in words; empty where nothing says so.

    >>> check_rewrite("The valve opens at 4 bar.", "At 3 bar the valve opens.")
    'it says 4bar, which the text does not'
    >>> check_rewrite("The valve opens at 3 bar.", "At 3 bar the valve opens.")
    ''
    """
    if text.lstrip().startswith(STRUCTURE_PREFIXES) and not source.lstrip().startswith(
        STRUCTURE_PREFIXES
    ):
        return "it is structure, not prose"
    if strange := extract_values(text) - extract_values(source):
        return f"it says {min(strange)}, which the text does not"
    said = frozenset(split_words(text))
    said = frozenset(word for word in said if len(word) > MAX_SHORT_WORD) or said
    if len(said & frozenset(split_words(source))) < MIN_SHARED_WORDS * len(said):
        return "most of its words are not the text's"
    return ""
