"""The texts of a workload: documents written sentence by sentence and cut into chunks, and copies.

Chunks of some 350 tokens (cl100k) follow one another in their document. An adjacent chunk begins
with the last 70 tokens of the chunk before it, from a word's beginning. A near copy has two to
four words exchanged, dropped or added and its white space changed a little; words that carry facts
(numbers, names, negations) stay, so that copies never contradict one another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from bench.peers.prose import Sentence
from bench.peers.shape import Slot

SIZE, SPREAD, LEAST, MOST = 350, 45, 200, 500  # tokens a chunk
OVERLAP = 70  # tokens
_PLAIN = re.compile(r"[a-z]{4,}")
_KEPT = frozenset({"never", "none", "without", "cannot", "neither", "unless", "only", "except"})
_FILLERS = ("which", "also", "generally", "often", "therefore", "existing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A chunk's text, where it stands in its document, and how much of it the chunk before has."""

    text: str
    start: int
    end: int
    overlap: int = 0


class Tokens:
    """Counts of cl100k_base by toktok, each sentence once."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def many(self, texts: Sequence[str]) -> list[int]:
        """One count a text."""
        from toktok import batch_count

        counts: list[int] = batch_count(list(texts), "cl100k_base", 1)
        return counts

    def of(self, sentence: str) -> int:
        """The count of one sentence."""
        if sentence not in self._known:
            self._known[sentence] = self.many([sentence])[0]
        return self._known[sentence]


def write(
    slots: Sequence[Slot], planted: Mapping[int, str], prose: Iterator[Sentence], dice: Random
) -> dict[int, Text]:
    """Every slot's text, by uid; `planted`: the fact that a slot carries."""
    tokens = Tokens()
    texts: dict[int, Text] = {}
    documents: dict[int, list[Slot]] = {}
    for slot in slots:
        if slot.kind in ("base", "adjacent"):
            documents.setdefault(slot.document, []).append(slot)
    for own in documents.values():
        texts.update(_document(own, planted, prose, dice, tokens))
    for slot in slots:
        if slot.parent is not None and slot.kind in ("exact", "near"):
            texts[slot.uid] = _copy(slot, texts[slot.parent], planted.get(slot.uid, ""), dice)
    return texts


def _document(
    slots: Sequence[Slot],
    planted: Mapping[int, str],
    prose: Iterator[Sentence],
    dice: Random,
    tokens: Tokens,
) -> dict[int, Text]:
    """One document's chunks, in order."""
    whole, before, texts = "", Text(text="", start=0, end=0), {}
    for slot in slots:
        size = min(MOST, max(LEAST, dice.gauss(SIZE, SPREAD)))
        start = len(whole)
        if slot.kind == "adjacent":
            start, size = before.end - _tail(before.text, tokens), size - OVERLAP
        whole += _passage(size, planted.get(slot.uid, ""), prose, tokens)
        text = whole[start:].rstrip()
        before = Text(
            text=text, start=start, end=start + len(text), overlap=max(0, before.end - start)
        )
        texts[slot.uid] = before
    return texts


def _passage(size: float, fact: str, prose: Iterator[Sentence], tokens: Tokens) -> str:
    """Sentences of so many tokens, the fact in their middle."""
    pieces, have = [], 0
    while have < size:
        sentence, gap = next(prose)
        pieces.append(sentence + gap)
        have += tokens.of(sentence)
    if fact:
        pieces.insert(len(pieces) // 2, fact + " ")
    return "".join(pieces)


def _tail(text: str, tokens: Tokens) -> int:
    """The length of the shortest end of the text that has 70 tokens and begins with a word."""
    starts = [found.start() for found in re.finditer(r"\S+", text)][-2 * OVERLAP :][::-1]
    for start, count in zip(starts, tokens.many([text[s:] for s in starts]), strict=True):
        if count >= OVERLAP:
            return len(text) - start
    return len(text) - starts[-1]


def _copy(slot: Slot, original: Text, fact: str, dice: Random) -> Text:
    """The same text again, or nearly the same; offsets are the original's, true or not."""
    if slot.kind == "exact":
        return Text(text=original.text, start=original.start, end=original.end)
    words = original.text.split(" ")
    for _ in range(dice.randint(2, 4)):
        _edit(words, dice)
    text = _reset(" ".join(words), dice)
    if fact:
        sentences = text.split(". ")
        middle = len(sentences) // 2
        text = ". ".join((*sentences[:middle], fact[:-1], *sentences[middle:]))
    return Text(text=text, start=original.start, end=original.end)


def _edit(words: list[str], dice: Random) -> None:
    """Exchange, drop or add one word."""
    plain = [i for i, w in enumerate(words[5:-5], 5) if _PLAIN.fullmatch(w) and w not in _KEPT] or [
        len(words) // 2
    ]
    place, what = dice.choice(plain), dice.random()
    if what < 0.4:
        words[place] = dice.choice(_FILLERS)
    elif what < 0.7:
        del words[place]
    else:
        words.insert(place, dice.choice(("also", "then", "however,", "clearly")))


def _reset(text: str, dice: Random) -> str:
    """Other white space, here and there."""
    what = dice.random()
    if what < 0.25:
        return text.replace(". ", ".  ", 3)
    if what < 0.5:
        return text.rstrip(".") + "  "
    if what < 0.6:
        return text.replace("\n\n", "\n")
    return text
