"""A text's word triples as numbers, kept by content hash.

A word's number is the head of its BLAKE3, a triple's the mixed numbers of its words: the same in
every process. A text of n triples that must share m of them with another has one of those among its
first n - m + 1 in ascending order (Bayardo, Ma and Srikant, 2007). A signature keeps the upper 32
bits; a collision can move a similarity, but the guard compares the words themselves.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING, TypeAlias

from blake3 import blake3

from foveate.core.text.words import MAX_WORD_LENGTH, REMEMBERED, split_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from foveate.core.stages.dedup.resolve_duplicates import Threshold
    from foveate.core.text.profile import Profile

    Numbers: TypeAlias = NDArray[np.uint32]

BITS = 512
PROFILE_KEY = "triples"
"""Under which name its bytes are kept in a profile."""
LENGTH = Struct("<I")
MARGIN = 0.1  # how far beyond its share a prefix reaches in nearly every text of some length


@dataclass(slots=True, eq=False, kw_only=True)
class Signature:
    """`whole`: the distinct triples' numbers, ascending; `length`: of the text, in words.

    `depth`: the first triples that find every text that holds enough of this one; `low`: the
    triples up to the same number in every text. In `bits` every triple sets one of `BITS`; `ones`
    are set. `last`: the last threshold and its signature, set in one step for threads.
    """

    whole: Numbers
    length: int
    low: Numbers
    depth: int = 0
    bits: bytes = b""
    ones: int = 0
    last: tuple[tuple[float, bool], Signature] | None = None

    def at(self, threshold: Threshold) -> Signature:
        """The signature for the threshold; nothing of this one changes but what it remembers."""
        key, last = (threshold.value, threshold.strict), self.last
        if last is not None and last[0] == key:
            return last[1]
        size = len(self.whole)
        reach = min(1.0, 1 - threshold.value + MARGIN) * 2**32
        made = Signature(
            whole=self.whole,
            length=self.length,
            low=self.whole[: int(self.whole.searchsorted(reach))],
            depth=size - threshold.least(size) + 1 if size else 0,
            bits=self.bits,
            ones=self.ones,
        )
        self.last = key, made
        return made


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ShingledText:
    """A text's words, and its triples in reading order, by 64-bit numbers.

    `runs[p]` starts at word p; `alone[p]`: it occurs once. `whole`: the distinct ones, ascending;
    `places`: their first places, `once` the same for those that occur once, else -1.
    """

    words: tuple[str, ...]
    runs: NDArray[np.uint64]
    alone: NDArray[np.bool_]
    whole: NDArray[np.uint64]
    places: NDArray[np.int64]
    once: NDArray[np.int64]


def signature(known: Profile, text: str, threshold: Threshold) -> Signature:
    """The text's signature for the threshold, from its profile where it is known."""
    made: Signature | None = known.triples
    if made is None:
        kept = known.kept.get(PROFILE_KEY)
        made = known.triples = (decode_signature(kept) if kept else None) or compute_signature(text)
        known.changed = True
    return made.at(threshold)


def compute_signature(text: str) -> Signature:
    """The text's signature, for no threshold yet."""
    import numpy as np

    spelled = split_words(text)
    runs = np.sort(_runs(spelled))
    fresh = np.ones(len(runs), dtype=bool)
    fresh[1:] = runs[1:] != runs[:-1]
    return _build_signature((runs[fresh] >> np.uint64(32)).astype(np.uint32), len(spelled))


def _build_signature(whole: Numbers, length: int) -> Signature:
    import numpy as np

    flags = np.zeros(BITS, dtype=np.uint8)
    flags[whole & (BITS - 1)] = 1
    return Signature(
        whole=whole,
        length=length,
        low=whole,
        bits=np.packbits(flags).tobytes(),
        ones=int(flags.sum()),
    )


def encode_signature(made: Signature) -> bytes:
    """The length of the text in words, and the distinct triples' numbers."""
    return LENGTH.pack(made.length) + made.whole.astype("<u4").tobytes()


def decode_signature(data: bytes) -> Signature | None:
    """The same again; None for bytes that are none."""
    import numpy as np

    if len(data) < LENGTH.size or len(data) % 4:
        return None
    whole = np.frombuffer(data, dtype="<u4", offset=LENGTH.size).astype(np.uint32)
    if not bool((whole[1:] >= whole[:-1]).all()):
        return None
    return _build_signature(whole, LENGTH.unpack_from(data)[0])


def shingled_text(known: Profile, text: str) -> ShingledText:
    """The text's words and triples in order, from its profile where they are known."""
    made: ShingledText | None = known.reading
    if made is None:
        import numpy as np

        spelled = tuple(map(sys.intern, split_words(text)))
        runs = _runs(spelled)
        whole, places, counts = np.unique(runs, return_index=True, return_counts=True)
        once = np.where(counts == 1, places, -1)
        alone = np.zeros(len(runs), dtype=bool)
        alone[once[once >= 0]] = True
        made = known.reading = ShingledText(
            words=spelled, runs=runs, alone=alone, whole=whole, places=places, once=once
        )
        known.changed = True
    return made


def code(word: str) -> bytes:
    """The word's number, 64 bits, the lowest first."""
    return blake3(word.encode()).digest(8)


_remembered = lru_cache(maxsize=REMEMBERED)(code)
"""For words of up to `MAX_WORD_LENGTH` characters."""


def _runs(spelled: tuple[str, ...]) -> NDArray[np.uint64]:
    """The triples' numbers, as `text.shingles` defines them; a shorter text is one run."""
    import numpy as np

    short = max(map(len, spelled), default=0) <= MAX_WORD_LENGTH
    codes = np.frombuffer(b"".join(map(_remembered if short else code, spelled)), dtype="<u8")
    if 0 < len(codes) < 3:
        codes = np.concatenate((codes, np.zeros(3 - len(codes), dtype=np.uint64)))
    mixed = _mix_bits(codes[:-2])
    mixed = _mix_bits(mixed + codes[1:-1])
    return _mix_bits(mixed + codes[2:])


def _mix_bits(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every bit of the number spread over all (the finisher of splitmix64)."""
    import numpy as np

    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
