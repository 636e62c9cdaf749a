"""cl100k_base and o200k_base by toktok-rs: the tokenizer that comes with foveate.

Counts with the ordinary encoder: the text of a special token is counted as the text it is.
Linear on every input tried; safe to share between threads. A long text is counted without the
interpreter lock; for a short one, setting that up takes fifty times as long as counting does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foveate.core.errors import ExternalError
from foveate.providers.tokenizers.fingerprint import fingerprint_of
from foveate.providers.tokenizers.prefix import longest_prefix, replace_surrogates
from foveate.providers.tokenizers.split_points import is_openai_break

LONG_TEXT = 4_000  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Toktok:
    """An OpenAI vocabulary, counted by toktok-rs (exact).

    >>> Toktok(name="cl100k_base").count("hello world")
    2
    """

    name: str

    @property
    def fingerprint(self) -> str:
        """The vocabulary's, whoever counts with it."""
        return fingerprint_of(self)

    def count(self, text: str) -> int:
        """Number of tokens."""
        try:
            return self._count(text)
        except UnicodeEncodeError:
            return self._count(replace_surrogates(text))

    def _count(self, text: str) -> int:
        toktok = _import_toktok()
        if len(text) > LONG_TEXT:
            counts: list[int] = toktok.batch_count([text], self.name, 1)
            return counts[0]
        # The version is pinned, and the tests hold this to the same counts.
        count: int = toktok._encoding(self.name).count(text)  # noqa: SLF001
        return count

    def breaks(self, left: str, right: str) -> bool:
        """Where counts add up, whatever stands around."""
        return is_openai_break(left, right)

    def truncate(self, text: str, n: int) -> str:
        """A verbatim prefix of at most `n` tokens, counted again before it is handed back."""
        if n < 1:
            return ""
        try:
            prefix: str = _import_toktok().truncate(text, n, self.name)[0]
        except UnicodeEncodeError:
            return longest_prefix(text, n, self.count)
        if text.startswith(prefix) and self.count(prefix) <= n:
            return prefix
        return longest_prefix(text, n, self.count)


def _import_toktok() -> Any:
    try:
        import toktok
    except ImportError:
        raise ExternalError("toktok is not installed; run: pip install toktok-rs") from None
    return toktok
