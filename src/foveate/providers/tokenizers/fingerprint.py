"""The fingerprint of a vocabulary: its name and a hash of what it counts on fixed texts.

Two implementations of one vocabulary get the same fingerprint, because they count the same; a
vocabulary that changed under its name does not. Rule: never edit `PROBES`, it would change every
fingerprint ever written into a manifest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from foveate.core.contracts import Tokenizer

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


def probe_fingerprint(name: str, count: Callable[[str], int]) -> str:
    """`name:` and sixteen hex digits over the counts of the probes."""
    from blake3 import blake3

    counts = ",".join(str(count(text)) for text in PROBES)
    return f"{name}:{blake3(counts.encode()).hexdigest(8)}"


@lru_cache(maxsize=16)
def fingerprint_of(tokenizer: Tokenizer) -> str:
    """The tokenizer's probe; counted once, for its name stands for one vocabulary."""
    return probe_fingerprint(tokenizer.name, tokenizer.count)
