"""The words of many texts as arrays of numbers, read in one pass.

A word's number is the sum of its letters, each times a power of an odd constant, with the bits
mixed. Equal words have equal numbers in every process and on every machine. Two words with the same
number can be made on purpose, so a number may rank or find a text; only words may drop one.

`number_of` is the plain definition of a word's number; tests hold the arrays to it, and to the
words of `split_words`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from unicodedata import category

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes: TypeAlias = NDArray[np.uint8] | NDArray[np.uint32]
    Places: TypeAlias = NDArray[np.int64]
    Numbers: TypeAlias = NDArray[np.uint64]

RADIX = 0x9E3779B97F4A7C15
"""The constant of splitmix64: odd, so that its powers stay apart."""
BATCH = 1 << 16
"""Characters that are read at once; what is made of them stays in the processor's cache."""
BREAK = "\x1e"
"""Between texts that are read as one: white space that hardly any text holds."""
PLANES = (0x80, 0x2800, 0x10000, 0x110000)
"""Code points where ASCII, most alphabets, most scripts and all characters end."""
NOT_ALONE = 0xFFFFFFFF
_JAMO = re.compile("[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]")
_MASK = (1 << 64) - 1
WORD, UNSPACED = 1, 2  # classes of characters; 0 separates


class Powers:
    """The powers of an odd number, with which letters are multiplied."""

    def __init__(self, radix: int) -> None:
        self._radix = radix

    def first(self, count: int) -> Numbers:
        """So many of them; as many as a batch needs are kept, for folding makes texts longer."""
        return self._remembered(2 * BATCH)[:count] if count <= 2 * BATCH else self._make(count)

    @cache  # noqa: B019 (they live as long as the process)
    def _remembered(self, count: int) -> Numbers:
        return self._make(count)

    def _make(self, count: int) -> Numbers:
        import numpy as np

        found = np.full(count, self._radix, dtype=np.uint64)
        found[:1] = 1
        return np.multiply.accumulate(found)


POWERS, INVERSES = Powers(RADIX), Powers(pow(RADIX, -1, 1 << 64))


class Alphabet:
    """Which characters make words: those of `words`, and `unspaced` ones, of which two make one.

    Both are patterns of one character, after `fold`. The classes of characters are worked out at
    first use, up to the last of `PLANES` that a text needs, and what `fold` makes of a character
    when it is first read.
    """

    def __init__(self, words: str, unspaced: str, fold: Callable[[str], str]) -> None:
        self._patterns = {WORD: words, UNSPACED: unspaced}
        self._fold = fold

    @cache  # noqa: B019 (alphabets live as long as the process)
    def classes(self, end: int) -> NDArray[np.uint8]:
        """The class of each character below the code point `end`."""
        import numpy as np

        everything = "".join(map(chr, range(end)))
        found = np.zeros(end, dtype=np.uint8)
        for label, pattern in self._patterns.items():
            for match in re.finditer(f"(?:{pattern})+", everything):
                found[match.start() : match.end()] = label
        return found

    def characters(self, text: str) -> Codes:
        """The characters of the folded text, character by character where that is the same."""
        import numpy as np

        if text.isascii():
            return code_points(self._fold(text))
        codes = code_points(text)
        table = self._folded(plane(int(codes.max())))
        found = table.take(codes)
        if not found.all():
            for code in np.unique(codes[found == 0]).tolist():
                table[code] = self._fold_alone(chr(code))
            found = table.take(codes)
        return found if found.max() < NOT_ALONE else code_points(self._fold(text))

    @cache  # noqa: B019 (alphabets live as long as the process)
    def _folded(self, end: int) -> NDArray[np.uint32]:
        import numpy as np

        return np.zeros(end, dtype=np.uint32)

    def _fold_alone(self, character: str) -> int:
        """What the character is folded to beside any other; `NOT_ALONE` if that depends on it.

        Marks and jamo join what stands before them; one that becomes several is none. Where all of
        those only separate words, a space does as well.
        """
        found = self._fold(character)
        if any(category(one)[0] == "M" or _JAMO.match(one) for one in (*character, *found)):
            return NOT_ALONE
        if len(found) == 1:
            return ord(found) or NOT_ALONE
        letters = re.search("|".join(self._patterns.values()), found)
        return NOT_ALONE if letters or not found else ord(" ")


class WordArrays(NamedTuple):
    """Words of several texts, text after text.

    `codes`: the letters of all texts as code points; `bounds`: where each text starts in them, and
    where the last ends. `starts`, `ends`: of each word. `numbers`: of each word. `firsts`: for each
    text the place of its first word, and one end more. `unspaced`: the places of the words of two
    unspaced characters, or of one. `sums`: of the letters before each place, times
    their powers.
    """

    codes: Codes
    bounds: Places
    starts: Places
    ends: Places
    numbers: Numbers
    firsts: Places
    unspaced: Places
    sums: Numbers


def read_words(texts: Sequence[str], alphabet: Alphabet) -> WordArrays:
    """The words of texts, folded; the characters of an unspaced script come in pairs.

    All texts are folded as one: no folding joins letters over a control character.
    """
    import numpy as np

    joined = BREAK.join([*texts, ""])
    if joined.count(BREAK) != len(texts):
        joined = BREAK.join([*[text.replace(BREAK, "\n") for text in texts], ""])
    codes = alphabet.characters(joined)
    plain = codes.dtype == np.uint8
    kinds = alphabet.classes(plane(0 if plain else int(codes.max()))).take(codes)
    starts, ends = _runs(kinds == WORD)
    unspaced = np.empty(0, dtype=np.int64)
    if not plain and UNSPACED in kinds:
        pairs = _pairs(kinds == UNSPACED)
        starts, ends = np.concatenate((starts, pairs[0])), np.concatenate((ends, pairs[1]))
        order = np.argsort(starts, kind="stable")
        unspaced = np.flatnonzero(order >= len(order) - len(pairs[0]))
        starts, ends = starts[order], ends[order]
    sums = np.zeros(len(codes) + 1, dtype=np.uint64)
    np.cumsum(codes * POWERS.first(len(codes)), out=sums[1:])
    numbers = mix(sum_letters(sums, starts, ends))
    bounds = np.concatenate(([0], np.flatnonzero(codes == ord(BREAK)) + 1))
    firsts = starts.searchsorted(bounds)
    return WordArrays(codes, bounds, starts, ends, numbers, firsts, unspaced, sums)


def plane(last: int) -> int:
    """Where the first of `PLANES` ends that has this character."""
    return next(end for end in PLANES if end > last)


def code_points(text: str) -> Codes:
    """The characters of a text as numbers; one byte each where all are ASCII."""
    import numpy as np

    if text.isascii():
        return np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _runs(inside: NDArray[np.bool_]) -> tuple[Places, Places]:
    """Where runs of true values start and end."""
    import numpy as np

    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    if len(inside) and inside[0]:
        edges = np.concatenate(([0], edges))
    return edges[0::2], edges[1::2]  # the last character is a line break


def _pairs(inside: NDArray[np.bool_]) -> tuple[Places, Places]:
    """Each two characters that stand together, and characters that stand alone."""
    import numpy as np

    starts, ends = _runs(inside)
    lone = starts[ends - starts == 1]
    both = np.flatnonzero(inside[1:] & inside[:-1])
    return np.concatenate((lone, both)), np.concatenate((lone + 1, both + 2))


def sum_letters(sums: Numbers, starts: Places, ends: Places) -> Numbers:
    """For each range its letters, each times a power by its place in it: numbers, before `mix`."""
    return (sums[ends] - sums[starts]) * INVERSES.first(len(sums))[starts]


def mix(numbers: Numbers) -> Numbers:
    """Every bit of each number spread over all of it (the finisher of splitmix64)."""
    import numpy as np

    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def number_of(word: str) -> int:
    """The number of one word: the definition of what `read_words` gives."""
    total = 0
    for letter in reversed(word):  # the first letter times 1, the second times the constant, …
        total = total * RADIX + ord(letter) & _MASK
    total = (total ^ total >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    total = (total ^ total >> 27) * 0x94D049BB133111EB & _MASK
    return total ^ total >> 31


def batches(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Ranges of texts of about `BATCH` characters together; a longer text stands alone."""
    first = total = 0
    for place, text in enumerate(texts):
        total += len(text) + 1
        if total > BATCH and place > first:
            yield first, place
            first, total = place, len(text) + 1
    if first < len(texts):
        yield first, len(texts)
