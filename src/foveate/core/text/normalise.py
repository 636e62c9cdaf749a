"""One spelling for texts that differ only in white space and in how accents are encoded.

Not a change of content: case, punctuation and every other character stay. Rules: canonical
composition (NFC) first, then every run of white space becomes one space, the ends are trimmed.
"""

from __future__ import annotations

from unicodedata import normalize


def normalise(text: str) -> str:
    r"""The text in NFC, white space folded, trimmed; doing it twice changes nothing.

    >>> normalise("  two\n\n words\t")
    'two words'
    """
    if not text.isascii():
        text = normalize("NFC", text)
    return " ".join(text.split())
