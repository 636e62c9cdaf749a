"""What the finders and the definition need to know of candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from foveate.core.stages.dedup.alignment import common, is_consistent, is_covered
from foveate.core.stages.dedup.signature import ShingledText, shingled_text
from foveate.core.stages.dedup.word_weight import weights
from foveate.core.text.facts import PROFILE_KEY, decode_facts, extract_facts
from foveate.core.text.profile import text_profile
from foveate.core.types import Candidate

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNKNOWN = -(10**18)
MAX_COMPARISONS = 64  # copies of one text


def changed_at(candidate: Candidate) -> int:
    """When the text was last changed, in microseconds; the unknown is before everything."""
    moment = candidate.chunk.modified_at
    return UNKNOWN if moment is None else (moment - _EPOCH) // timedelta(microseconds=1)


class Comparison(NamedTuple):
    """A text beside another: triples that it shares, whether the other says all that it says.

    `fragment`: whether the other is a fragment of it. None: they share too little to ask.
    """

    shared: int
    said: bool | None
    fragment: bool | None


class Texts:
    """Candidates in order of preference; what is asked of a text is read once.

    `dated`: the time of change decides; else all count as of one time.
    """

    def __init__(self, candidates: Sequence[Candidate], *, dated: bool) -> None:
        self.candidates = candidates
        self.dated = dated
        self.hashes = [candidate.chunk.content_hash for candidate in candidates]
        self.known = [text_profile(own) for own in self.hashes]

    def __len__(self) -> int:
        return len(self.candidates)

    def reading(self, i: int) -> ShingledText:
        """Text i's words and triples."""
        return self.known[i].reading or shingled_text(self.known[i], self.candidates[i].chunk.text)

    def words(self, i: int) -> tuple[str, ...]:
        """Text i's words."""
        return self.reading(i).words

    def facts(self, i: int) -> tuple[str, ...]:
        """Text i's facts."""
        known = self.known[i]
        if known.facts is None:
            kept = known.kept.get(PROFILE_KEY)
            found = None if kept is None else decode_facts(kept)
            text = self.candidates[i].chunk.text
            known.facts = extract_facts(text, self.words(i)) if found is None else found
            known.changed = True
        return known.facts

    def weights(self, i: int) -> frozenset[str]:
        """What text i's words weigh, each once."""
        known = self.known[i]
        if known.weights is None:
            known.weights = frozenset(weights(self.words(i)))
            known.changed = True
        return known.weights

    def beside(self, i: int, other: int, least: int) -> Comparison:
        """Text i laid beside the other; remembered, as both are, by their content.

        Where they share fewer triples than `least`, nothing else is asked.
        """
        known, key = self.known[i], self.hashes[other]
        made: Comparison | None = known.beside.get(key)
        if made is not None and (made.said is not None or made.shared < least):
            return made
        shared, anchors = common(self.reading(i), self.reading(other))
        made = Comparison(shared, None, None)
        if shared >= least:
            mine, theirs = self.words(i), self.words(other)
            agreed = is_consistent(self.facts(i), self.facts(other), mine)
            alike = agreed and is_covered(mine, theirs, anchors)
            made = Comparison(shared, alike, _fragment(theirs, mine))
        known.add(known.beside, key, made, most=MAX_COMPARISONS)
        return made

    def fragment(self, part: int, whole: int) -> bool:
        """Whether all words of `part` are in `whole`, as often as in `part`, and it has more.

        Between texts of different dates there are no fragments: the newer one wins.
        """
        return self.same_date(part, whole) and _fragment(self.words(part), self.words(whole))

    def same_date(self, i: int, other: int) -> bool:
        """Whether age does not decide between the two."""
        if not self.dated:
            return True
        one, two = self.candidates[i].chunk, self.candidates[other].chunk
        return one.modified_at == two.modified_at

    def versions(self, i: int, other: int) -> bool:
        """Whether the two are the same document or source at two known times, and that counts."""
        one, two = self.candidates[i].chunk, self.candidates[other].chunk
        if not self.dated or one.modified_at is None or two.modified_at is None:
            return False
        same = one.document_id == two.document_id or one.source == two.source
        return same and one.modified_at != two.modified_at


def _fragment(part: Sequence[str], whole: Sequence[str]) -> bool:
    return len(part) < len(whole) and Counter(part) <= Counter(whole)
