"""cl100k_base and o200k_base, counted by toktok-rs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from foveate.core.contracts import Tokenizer
from foveate.core.errors import ExternalError
from foveate.providers.tokenizers.simple import longest_prefix, replace_surrogates

# Never edited: it would change every fingerprint that is in a manifest.
PROBES = (
    "The quick brown fox jumps over the lazy dog; it wasn't the first time, nor the 1234567th.",
    "def parse(line: str) -> list[int]:\n    return [int(x, 16) for x in line.split(',')]\n",
    "   indented\n\n\n\ttabs\r\n      and trailing spaces      ",
    "Zażółć gęślą jaźń. Größenwahnsinn. À l'œuvre, élève! Ægir þá. Çağdaş Işık.",
    "Съешь ещё этих мягких французских булок, да выпей чаю. Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.",
    "我能吞下玻璃而不伤身体。いろはにほへと ちりぬるを。키스의 고유조건은 입술끼리 만나야 한다.",
    "نص حكيم له سر قاطع وذو شأن عظيم. דג סקרן שט בים. ऋषियों को सताने वाले। เป็นมนุษย์สุดประเสริฐ",
    "👩\u200d👩\u200d👧\u200d👦 🏳\ufe0f\u200d🌈 🇧🇪 ✊🏿",
    "e\u0301 n\u0303 \u200b\ufeff \u0000\u0007\u001b[31m 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 ﷽",
    "<|endoftext|><|im_start|>system\n[INST] <<SYS>> </s> <start_of_turn>user",
    "https://example.org/a/b?c=d&e=f#g user@example.org 2026-11-21T09:30:00Z -0.001e-10 1,234,567",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!!!!!!!!!!!!!!!!----------------================________",
)


@lru_cache(maxsize=16)
def fingerprint_of(tokenizer: Tokenizer) -> str:
    """The name and sixteen hex digits over the counts of the probes; counted once."""
    from blake3 import blake3

    counts = ",".join(str(tokenizer.count(text)) for text in PROBES)
    return f"{tokenizer.name}:{blake3(counts.encode()).hexdigest(8)}"


def is_openai_break(left: str, right: str) -> bool:
    r"""Whether the counts of two texts add up where `left` meets `right`.

    Both encodings cut a text by a regular expression without lookbehind and merge bytes inside a
    piece only. So counts add up where a piece always ends and where the left side is cut the same
    with and without the right one: after a line feed before what is neither white space nor a
    slash, and after an ASCII letter or digit before white space.

    >>> (
    ...     is_openai_break("one.\n", "two"),
    ...     is_openai_break("one.", "\n"),
    ...     is_openai_break("one", "\n"),
    ... )
    (True, False, True)
    """
    if not left or not right:
        return False
    before, after = left[-1], right[0]
    if before == "\n":
        return after != "/" and not after.isspace()
    return after.isspace() and before.isascii() and before.isalnum()


LONG_TEXT = 4_000
"""Characters from which on toktok counts without the interpreter lock, which is slow to set up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toktok:
    """An OpenAI vocabulary, counted by toktok-rs (exact, linear, safe between threads).

    >>> Toktok(name="cl100k_base").count("hello world")
    2
    """

    name: str

    @property
    def fingerprint(self) -> str:
        """The vocabulary's fingerprint."""
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
        # The version is pinned, and the tests compare the counts of both ways.
        count: int = toktok._encoding(self.name).count(text)  # noqa: SLF001
        return count

    def breaks(self, left: str, right: str) -> bool:
        """Whether the counts of the two sides add up, whatever surrounds them."""
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
