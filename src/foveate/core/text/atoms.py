"""Atoms of prose: quotations and lines of code, of which a part says something else (SPEC J3)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from foveate.core.types import Span

_MARKS = ('"', "\u201c", "\u201e", "\u00ab", "\u00bb", "\u300c", "\n    ", "\n\t")
"""Without one of these there is no atom to look for."""
_ATOM = re.compile(
    r'(?<![\w"])"(?=[^\s"])[^"\n]{1,600}(?<=\S)"(?![\w"])'
    "|\u201c[^\u201c\u201d\n]{1,600}\u201d"
    "|\u201e[^\u201c\u201d\u201e\n]{1,600}[\u201c\u201d]"
    "|\u00ab[^\u00ab\u00bb\n]{1,600}\u00bb"
    r"|\u00bb(?=\S)[^\u00ab\u00bb\n]{1,600}(?<=\S)\u00ab"
    "|\u300c[^\u300c\u300d\n]{1,600}\u300d"
    r"|(?<=\n)(?: {4}|\t)(?=[^\n]{0,600}[{}()=;<>])[^\n]{1,600}"
)


def join_atoms(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans, in order and apart, with those made one between which an atom would be cut.

    >>> text = 'He said: "Stop. Go back." We went.'
    >>> [text[a:b] for a, b in join_atoms(text, [(0, 15), (16, 25), (26, 34)])]
    ['He said: "Stop. Go back."', 'We went.']
    """
    found = list(spans)
    if len(found) < 2:
        return found
    first, last = found[0][0], found[-1][1]
    if all(text.find(mark, first, last) < 0 for mark in _MARKS):
        return found
    joined: list[Span] = []
    atoms = _ATOM.finditer(text, first, last)
    upcoming = next(atoms, None)
    end = 0  # of the last atom that begins before the span
    for start, stop in found:
        if joined and start < end:
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((start, stop))
        while upcoming is not None and upcoming.start() < stop:
            end = upcoming.end()
            upcoming = next(atoms, None)
    return joined
