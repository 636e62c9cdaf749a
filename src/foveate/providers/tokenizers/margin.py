"""Another tokenizer's count with a safety margin, for models whose tokenizer is not public.

Rule: `ceil(factor x count)` in whole numbers, so that no float rounding decides a count.
Measured against the providers' own counts: `cl100k_base*1.3` for Claude before Opus 4.7,
`cl100k_base*1.7` from there on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """Counts `factor` times as many tokens as `inner`, rounded up; `factor` is 1 to 10.

    >>> from foveate.providers.tokenizers.toktok import Toktok
    >>> Margin(inner=Toktok(name="cl100k_base"), factor=1.3).count("hello world")
    3
    """

    inner: Tokenizer
    factor: float
    _ratio: Fraction = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a factor that is no margin."""
        if not 1 <= self.factor <= 10:
            raise BadOption(f"tokenizer margin: {self.factor!r} must lie between 1 and 10")
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
