"""A tokenizer that asks the one who will read: `gguf:FILE`, the model's own engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from foveate.providers.tokenizers.prefix import longest_prefix, replace_surrogates


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackTokenizer:
    """Counts by `tokens`, which takes well-formed text and may raise `OutsideFailure`."""

    name: str
    fingerprint: str
    tokens: Callable[[str], int] = field(repr=False, compare=False)

    def count(self, text: str) -> int:
        """Number of tokens; 0 for the empty text."""
        return self.tokens(replace_surrogates(text)) if text else 0

    def truncate(self, text: str, n: int) -> str:
        """The longest prefix found of at most `n` tokens."""
        return longest_prefix(text, n, self.count)
