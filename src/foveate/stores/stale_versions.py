"""Which versions of readings nobody asks for any more. Pure.

Rules: programs in several languages share a store, and while one is brought up to date, old and new
processes do; so the last two versions of each language stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from foveate.core.text_analysis import language_prefix

VERSIONS_PER_LANGUAGE = 2
"""So many versions of a language stay."""


def find_stale_versions(versions: Iterable[str]) -> list[str]:
    """Those to forget; `versions`: the one that something was kept under last comes first."""
    seen: Counter[str] = Counter()
    found = []
    for version in versions:
        language = language_prefix(version)
        seen[language] += 1
        if seen[language] > VERSIONS_PER_LANGUAGE:
            found.append(version)
    return found
