"""Four bytes a token: the published rule of thumb, for when no vocabulary is at hand.

An estimate, not a vocabulary. Its truncation counts characters where its counting counts bytes,
and adds `...`, so a truncated text may count more than was asked for (other scripts than Latin) and
is no prefix. The rule is kept as it was published; `pack` counts again whatever it cuts.
"""

from __future__ import annotations

from dataclasses import dataclass

from foveate.providers.tokenizers.prefix import replace_surrogates


@dataclass(frozen=True, slots=True, kw_only=True)
class Simple:
    """Counts UTF-8 bytes + 3, divided by 4, rounded down.

    >>> Simple().count("hello"), Simple().truncate("hello world", 1)
    (2, 'hell...')
    """

    @property
    def name(self) -> str:
        """`simple`."""
        return "simple"

    @property
    def fingerprint(self) -> str:
        """The rule and its version."""
        return "simple:1"

    def count(self, text: str) -> int:
        """Number of started groups of four UTF-8 bytes."""
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            size = len(replace_surrogates(text).encode())
        return (size + 3) // 4

    def truncate(self, text: str, n: int) -> str:
        """The first `4 * n` characters, trimmed, and `...`; a text as short as that unchanged."""
        if n < 1:
            return ""
        return text if len(text) <= 4 * n else text[: 4 * n].strip() + "..."
