"""cl100k_base and o200k_base by tiktoken, for an environment that has it and nothing faster.

tiktoken downloads its tables at first use, unless `TIKTOKEN_CACHE_DIR` holds them, and panics on
runs of about a million spaces. Both become an `ExternalError` that says what to install instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from foveate.core.errors import ExternalError
from foveate.providers.tokenizers.fingerprint import fingerprint_of
from foveate.providers.tokenizers.prefix import longest_prefix
from foveate.providers.tokenizers.split_points import is_openai_break


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiktoken:
    """An OpenAI vocabulary, counted by tiktoken (exact)."""

    name: str

    @property
    def fingerprint(self) -> str:
        """The vocabulary's, whoever counts with it."""
        return fingerprint_of(self)

    def count(self, text: str) -> int:
        """Number of tokens; surrogates are replaced by tiktoken itself."""
        encoding = _load_encoding(self.name)
        try:
            return len(encoding.encode_ordinary(text))
        except BaseException as error:
            # A Rust panic arrives as a BaseException of a class that cannot be imported.
            if type(error).__name__ != "PanicException":
                raise
        raise ExternalError(
            f"tiktoken gave up on a text of {len(text)} characters; run: pip install toktok-rs"
        )

    def breaks(self, left: str, right: str) -> bool:
        """Where counts add up, whatever stands around."""
        return is_openai_break(left, right)

    def truncate(self, text: str, n: int) -> str:
        """The longest prefix found of at most `n` tokens."""
        return longest_prefix(text, n, self.count)


@lru_cache(maxsize=4)
def _load_encoding(name: str) -> Any:
    try:
        import tiktoken
    except ImportError:
        raise ExternalError("tiktoken is not installed; run: pip install tiktoken") from None
    try:
        return tiktoken.get_encoding(name)
    except Exception as error:  # whatever its HTTP client, file system or hash check raise
        raise ExternalError(
            f"tiktoken cannot load {name!r} ({type(error).__name__}); it downloads its tables at "
            "first use: set TIKTOKEN_CACHE_DIR, or run: pip install toktok-rs"
        ) from error
