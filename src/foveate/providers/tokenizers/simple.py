"""Tokenizers without a vocabulary: four bytes a token, a safety margin, and a callback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption


def replace_surrogates(text: str) -> str:
    """The text with paired surrogates joined and lone ones replaced by U+FFFD.

    For counting only. This is what tiktoken does with such text, so the counts agree.

    >>> replace_surrogates("a" + chr(0xD83D) + chr(0xDE00) + chr(0xD800)) == "a😀�"
    True
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def longest_prefix(text: str, n: int, count: Callable[[str], int]) -> str:
    """The longest prefix found that counts at most `n`; one character more counts over `n`.

    Looks at the head of the text only, so that cutting 5 MB to 100 tokens costs like 100 tokens,
    and takes some ten counts: interpolation finds the neighbourhood, halving guarantees the end.
    Counts need not grow evenly with the text: what is handed back was counted and fits.

    >>> longest_prefix("one two three", 2, lambda text: len(text.split()))
    'one two '
    """
    if n < 1:
        return ""
    fits, spent = 0, 0
    size = min(len(text), 8 * n)
    over = count(text[:size])
    while over <= n:
        if size == len(text):
            return text
        fits, spent = size, over
        size = min(len(text), 2 * size)
        over = count(text[:size])
    halve = False
    while size - fits > 1:
        guess = (fits + size) // 2
        if not halve:
            aimed = fits + (size - fits) * (n - spent) // (over - spent)
            guess = min(max(aimed, fits + 1), size - 1)
        halve = not halve
        tokens = count(text[:guess])
        if tokens <= n:
            fits, spent = guess, tokens
        else:
            size, over = guess, tokens
    return text[:fits]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A request's tokens by the tokenizer under a margin, and those that its provider counted."""

    tokens: int
    observed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """Counts `factor` times as many tokens as `inner`, rounded up; `factor` is 0.1 to 10.

    `observations`: what the factor was learned from, if it was.

    >>> from foveate.providers.tokenizers.openai import Toktok
    >>> Margin(inner=Toktok(name="cl100k_base"), factor=1.3).count("hello world")
    3
    """

    inner: Tokenizer
    factor: float
    observations: tuple[Observation, ...] = field(default=(), repr=False, compare=False)
    _ratio: Fraction = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a factor that is no margin."""
        if not 0.1 <= self.factor <= 10:
            raise BadOption(f"tokenizer margin: {self.factor!r} must lie between 0.1 and 10")
        object.__setattr__(self, "factor", float(self.factor))
        object.__setattr__(self, "_ratio", Fraction(str(self.factor)))

    @property
    def name(self) -> str:
        """The inner name and the factor: `cl100k_base*1.3`."""
        return f"{self.inner.name}*{self.factor}"

    @property
    def fingerprint(self) -> str:
        """The inner fingerprint and the factor."""
        return f"{self.inner.fingerprint}*{self.factor}"

    def count(self, text: str) -> int:
        """The inner count times the factor, rounded up."""
        ratio = self._ratio
        return -(-self.inner.count(text) * ratio.numerator // ratio.denominator)

    def truncate(self, text: str, n: int) -> str:
        """The inner truncation to `n / factor` tokens, rounded down."""
        ratio = self._ratio
        return self.inner.truncate(text, n * ratio.denominator // ratio.numerator)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackTokenizer:
    """Counts by `tokens`, which takes well-formed text and may raise `ExternalError`."""

    name: str
    fingerprint: str
    tokens: Callable[[str], int] = field(repr=False, compare=False)

    def count(self, text: str) -> int:
        """Number of tokens; 0 for the empty text."""
        return self.tokens(replace_surrogates(text)) if text else 0

    def truncate(self, text: str, n: int) -> str:
        """The longest prefix found of at most `n` tokens."""
        return longest_prefix(text, n, self.count)
