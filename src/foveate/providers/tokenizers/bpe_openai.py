"""cl100k_base and o200k_base by bpe-openai, for an environment that has it and not toktok-rs.

Its public wrapper refuses a million characters and 200,000 tokens, so its own counter is used.
Counts with the ordinary encoder; linear; safe to share between threads.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from foveate.core.errors import ExternalError
from foveate.providers.tokenizers.fingerprint import fingerprint_of
from foveate.providers.tokenizers.prefix import longest_prefix, replace_surrogates
from foveate.providers.tokenizers.split_points import is_openai_break


@dataclass(frozen=True, slots=True, kw_only=True)
class BpeOpenai:
    """An OpenAI vocabulary, counted by bpe-openai (exact)."""

    name: str

    @property
    def fingerprint(self) -> str:
        """The vocabulary's, whoever counts with it."""
        return fingerprint_of(self)

    def count(self, text: str) -> int:
        """Number of tokens."""
        try:
            return int(_load_encoding(self.name).count(text))
        except UnicodeEncodeError:
            return int(_load_encoding(self.name).count(replace_surrogates(text)))

    def breaks(self, left: str, right: str) -> bool:
        """Where counts add up, whatever stands around."""
        return is_openai_break(left, right)

    def truncate(self, text: str, n: int) -> str:
        """The longest prefix found of at most `n` tokens."""
        return longest_prefix(text, n, self.count)


@lru_cache(maxsize=4)
def _load_encoding(name: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of the way it opens its data
            from bpe_openai import _bindings
    except ImportError:
        raise ExternalError("bpe_openai is not installed; run: pip install bpe-openai") from None
    return _bindings.tokenizer_for_encoding(name)
