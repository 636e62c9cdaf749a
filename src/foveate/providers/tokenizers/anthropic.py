"""The provider's own count for Claude models, one request a count, exact up to a token.

The key goes to the given host only, over TLS unless it is this machine, and is in no message. What
a message adds to its text is measured once, with the text `a`.
API: https://platform.claude.com/docs/en/build-with-claude/token-counting
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from foveate.core.errors import BadOption, ExternalError
from foveate.providers.chat.http_client import ProviderError, post_json
from foveate.providers.tokenizers.simple import longest_prefix, replace_surrogates

VERSION = "2023-06-01"
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Anthropic:
    """Counts with the provider's endpoint. `timeout` in seconds."""

    model: str
    key: str = field(repr=False)
    url: str = "https://api.anthropic.com"
    timeout: float = 30.0
    _frame: MutableMapping[str, int] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse what would fail, or give the key away, at the first count."""
        if not self.key or not (self.key.isascii() and self.key.isprintable()) or " " in self.key:
            raise BadOption("tokenizer anthropic: no usable key; set ANTHROPIC_API_KEY")
        parts = urlsplit(self.url)
        if parts.scheme != "https" and (
            parts.scheme != "http" or parts.hostname not in LOCAL_HOSTS
        ):
            raise BadOption(f"tokenizer anthropic: {self.url!r} must begin with https://")

    @property
    def name(self) -> str:
        """`anthropic:` and the model."""
        return f"anthropic:{self.model}"

    @property
    def fingerprint(self) -> str:
        """The model's name: the provider does not say more."""
        return f"anthropic:{self.model}:1"

    def count(self, text: str) -> int:
        """Number of tokens of the text, without the message around it; 0 for the empty text."""
        if not text:
            return 0
        if "a" not in self._frame:
            self._frame["a"] = self._request_count("a") - 1
        # A message of white space alone is refused, so something is put before it.
        asked = text if text.strip() else "a" + text
        return max(1, self._request_count(replace_surrogates(asked)) - self._frame["a"])

    def truncate(self, text: str, n: int) -> str:
        """The longest prefix found of at most `n` tokens; some ten to twenty requests."""
        return longest_prefix(text, n, self.count)

    def _request_count(self, text: str) -> int:
        body = {"model": self.model, "messages": [{"role": "user", "content": text}]}
        headers = {"anthropic-version": VERSION, "x-api-key": self.key}
        url = f"{self.url.rstrip('/')}/v1/messages/count_tokens"
        try:
            found = post_json(url, body, headers=headers, timeout=self.timeout)
            return int(found["input_tokens"])
        except ProviderError as error:
            why = error.why
        except (KeyError, TypeError, ValueError):
            why = "said no input_tokens"
        raise ExternalError(f"counting with {self.name}: {why}") from None
