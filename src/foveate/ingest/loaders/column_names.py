"""Names of columns in two lines: groups above, such as a year, and below them the names in each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

_FIGURE = re.compile(r"(?!(?:19|20)\d\d\Z)[-+(]?[$€£]?\d[\d.,:/' -]*+[^\w\s]*+")


def names_go_on(upper: Sequence[str], lower: Sequence[str]) -> bool:
    """Whether the lower row has names of columns that the upper one has the groups of.

    A group is a text over several columns, but not all, such as a year over quarters. In each other
    column, one of the rows alone has a text, or one is in both.

    >>> names_go_on(["Region", "2024", "2024"], ["", "Q1", "Q2"])
    True
    """
    pairs = [(text.strip(), lower[n].strip()) for n, text in enumerate(upper[: len(lower)])]
    has_groups = False
    for name, group in groupby(pairs, key=lambda pair: pair[0]):
        below = [text for _, text in group]
        texts = [text for text in below if text not in ("", name)]
        if name and len(below) > 1:
            has_groups = True
            if not texts or any(map(_FIGURE.fullmatch, texts)):
                return False
        elif name and texts:
            return False
    return has_groups and len({*upper}) > 1


def join_names(upper: str, lower: str) -> str:
    """The name of a column from both lines, once if they are the same."""
    return " ".join(dict.fromkeys(filter(None, (upper.strip(), lower.strip()))))
