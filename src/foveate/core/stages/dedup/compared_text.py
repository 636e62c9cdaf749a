"""Whether a text says all that another says: the rule for all methods, sentence by sentence.

A sentence is said by another if both have the same facts (`text/facts.py`), each number follows the
same word of weight in both and each negation precedes the same, and either

1. both have the same words of weight (`word_weight.py`), and no two of them changed places around
   a third: "A sold to B" is not "B sold to A". Two words alone stand in one order;
2. or it has fewer, in the same order, from the same first to the same last one. What stands in
   front of a sentence or behind it frames it: "we enter", "it is said that we enter".

A sentence that was cut at the beginning or the end of its text is said by one that has it as it
is, unless a word nearby turns it or a number. Texts that are the same by rule 1 as a whole say the
same, wherever their sentences end.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain

from foveate.core.text.facts import extract_facts, polarity_mark
from foveate.core.text.sameness import has_in_order, has_same_facts, swaps_parties
from foveate.core.text.sentences import sentence_spans
from foveate.core.text.word_weight import (
    PAIR,
    bound_facts,
    said_words,
    weight,
    weights,
)
from foveate.core.text.words import SHINGLE_SIZE, split_words, word_runs
from foveate.core.types import Candidate

NEARBY = 8
"""Words in front of a cut sentence and behind it that may not turn it."""
TRIES = 16
"""Sentences with the same ends that one is compared with."""
_END = re.compile(r"[.!?…。！？｡؟।۔][\"'”’»)\]*_]*\s*\Z")
_SEMICOLON = re.compile("(?<=[;；])")
_TAIL = 64  # characters that are looked at for the end of a sentence


class Sentence:
    """A sentence, or a text taken as one; it is read as far as it is asked."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words in order."""
        return split_words(self.text)

    @cached_property
    def weights(self) -> tuple[str, ...]:
        """What the words weigh, in order."""
        return tuple(weights(self.words))

    @cached_property
    def bag(self) -> tuple[str, ...]:
        """The weights, sorted."""
        return tuple(sorted(self.weights))

    @cached_property
    def facts(self) -> tuple[str, ...]:
        """The facts, as `extract_facts` orders them."""
        return extract_facts(self.text, self.words)

    def is_said_by(self, other: Sentence) -> bool:
        """Whether the other says the same, or the same and more within."""
        if self.bag == other.bag:
            agrees = self.weights == other.weights or (
                len(self.weights) > 2 and not swaps_parties(self.weights, other.weights)
            )
        else:
            agrees = _ends(self) == _ends(other) and has_in_order(other.weights, self.weights)
        if not agrees or sorted(self.facts) != sorted(other.facts):
            return False
        return not self.facts or bound_facts(self.words) == bound_facts(other.words)

    def is_part_of(self, other: Sentence, *, cut_before: bool, cut_behind: bool) -> bool:
        """Whether the other has the sentence as it is, and more only where this one was cut."""
        mine, theirs = said_words(self.words), f" {' '.join(said_words(other.words))} "
        before, found, behind = theirs.partition(f" {' '.join(mine)} ")
        if not found or len(mine) < SHINGLE_SIZE:
            return False
        if (before and (not cut_before or mine[0][:1].isdigit())) or (behind and not cut_behind):
            return False
        nearby = (*before.split()[-NEARBY:], *behind.split()[:NEARBY])
        turned = any(map(polarity_mark, nearby))
        return not turned and has_same_facts(self.facts, other.facts, self.words)


def _ends(sentence: Sentence) -> tuple[str, ...]:
    return sentence.weights[:1] + sentence.weights[-1:]


class SentenceCache(dict[str, Sentence]):
    """The sentences of a pool; one that stands in several texts is read once."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language
        self.weights_of = _WordWeights()

    def __missing__(self, text: str) -> Sentence:
        found = self[text] = Sentence(text)
        return found


class _WordWeights(dict[str, tuple[str, ...]]):
    """What a word weighs wherever it stands: 5mg is 5 and mg, and don nothing, for don't."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        if word.isalpha() and len(word) > PAIR and word[-1] != "n":
            heavy = [weight(word)]
        else:
            heavy = [*weights((word, "t"))]
        found = self[word] = tuple(filter(None, heavy))
        return found


class ComparedText:
    """A candidate's text, read as far as it is asked."""

    def __init__(self, candidate: Candidate, cache: SentenceCache) -> None:
        self.candidate = candidate
        self._cache = cache
        self.whole = Sentence(candidate.chunk.text)
        """The text taken as one sentence."""

    @cached_property
    def weights(self) -> frozenset[str]:
        """What its words weigh, without order; a text says nothing that is not among this."""
        each = map(self._cache.weights_of.__getitem__, dict.fromkeys(self.whole.words))
        return frozenset(chain.from_iterable(each))

    @cached_property
    def words(self) -> frozenset[str]:
        """The distinct words."""
        return frozenset(self.whole.words)

    @cached_property
    def triples(self) -> frozenset[tuple[str, ...]]:
        """The distinct runs of three words."""
        return frozenset(word_runs(self.whole.words))

    @cached_property
    def sentences(self) -> dict[str, Sentence]:
        """The text's sentences and their parts between semicolons, white space folded."""
        text = self.candidate.chunk.text
        spans = sentence_spans(text, self._cache.language)
        parts = chain.from_iterable([_SEMICOLON.split(text[a:b]) for a, b in spans])
        return {own: self._cache[own] for part in parts if (own := " ".join(part.split()))}

    @cached_property
    def is_cut(self) -> tuple[bool, bool]:
        """Whether the text begins, and whether it ends, inside of a sentence."""
        text = self.candidate.chunk.text
        return text.lstrip()[:1].islower(), _END.search(text[-_TAIL:]) is None

    def is_said_by(self, other: ComparedText) -> bool:
        """Whether the other text says all that this one says.

        Sentences that both have letter by letter are left out on both sides.
        """
        mine = [one for text, one in self.sentences.items() if text not in other.sentences]
        theirs = [one for text, one in other.sentences.items() if text not in self.sentences]
        by_words: defaultdict[tuple[str, ...], list[Sentence]] = defaultdict(list)
        for one in theirs if mine else ():
            for key in dict.fromkeys((one.bag, _ends(one))):
                by_words[key].append(one)
        if all(self._is_said(one, theirs, by_words) for one in mine):
            return True
        return self.whole.bag == other.whole.bag and self.whole.is_said_by(other.whole)

    def _is_said(
        self,
        sentence: Sentence,
        theirs: Sequence[Sentence],
        by_words: Mapping[tuple[str, ...], Sequence[Sentence]],
    ) -> bool:
        tried = [by_words.get(key, ())[:TRIES] for key in (sentence.bag, _ends(sentence))]
        if any(map(sentence.is_said_by, chain.from_iterable(tried))):
            return True
        first, *_, last = (*self.sentences.values(),) * 2
        before, behind = sentence is first and self.is_cut[0], sentence is last and self.is_cut[1]
        return (before or behind) and any(
            sentence.is_part_of(one, cut_before=before, cut_behind=behind) for one in theirs
        )
