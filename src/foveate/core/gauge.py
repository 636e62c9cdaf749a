"""How much a text weighs in this request: the tokenizer, the renderer's neutralising, a memory.

A verbatim chunk is counted once ever: its count is kept under the hash of its body. Neutralised
and shortened texts are counted as they will stand in the context, under their own hash. How a text
is written is worked out once for each way of writing, and kept with its content hash.

Counts of parts add up to the count of the whole only where the tokenizer says so (`breaks`); the
parts are joined there and counted one by one, each once. A text that breaks nowhere is counted
whole.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import NamedTuple

from foveate.core.contracts import Tokenizer
from foveate.core.joints import Breaks, Unit, last_word, units
from foveate.core.text.profile import Written, profile
from foveate.core.types import Candidate, Chunk, Place, content_hash

WAYS = 8  # of writing one text that are kept
KEPT = 20_000  # characters; a longer text that was changed is written anew each time
SHORT = 200  # characters; a text up to that is its own key
HASH = 32  # characters of a content hash, with which no text that is its own key may begin
DIGITS = "0123456789abcdef"
UNKNOWN = Written("", "")


class Cost(NamedTuple):
    """Tokens and characters."""

    tokens: int
    characters: int


costing: Callable[[tuple[int, int]], Cost] = partial(tuple.__new__, Cost)  # quicker than by name


class Around(dict[Place, Cost]):
    """What stands around a candidate's text costs at each place, counted when it is asked for.

    It knows what it needs of its gauge and not the gauge, which knows it: in a circle both would
    outlive the request, with all of its candidates, until the interpreter looks for circles.
    """

    __slots__ = ("_candidate", "_frame", "_known", "_tokenizer")

    def __init__(self, gauge: Gauge, candidate: Candidate) -> None:
        self._frame, self._candidate = gauge.frame, candidate
        self._tokenizer, self._known = gauge.tokenizer, gauge.known

    def __missing__(self, place: Place) -> Cost:
        """Count it."""
        text = self._frame(self._candidate, place)
        tokens = _rendered(text, self._tokenizer, self._known)
        cost = self[place] = costing((tokens, len(text)))
        return cost


def unknown(candidate: Candidate) -> Hashable:
    """No shape: each candidate's frame is its own."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """Counts tokens for one request.

    `body(text)`: the text as it will stand in a block; pure, and remembered by content hash.
    `frame(candidate, place)`: all that stands around it there, header and separator; the same for
    all candidates of one `shape`. `known` maps a content hash to a count for this tokenizer, and
    outlives the request.
    """

    tokenizer: Tokenizer
    body: Callable[[str], str]
    frame: Callable[[Candidate, Place], str]
    known: MutableMapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    shape: Callable[[Candidate], Hashable] = field(default=unknown, compare=False, repr=False)
    _around: dict[Hashable, Around] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def around(self, candidate: Candidate) -> Around:
        """What the candidate's frame costs, by place; counted once for all that have the same."""
        shape = self.shape(candidate)
        if shape is None:
            return Around(self, candidate)
        known = self._around.get(shape)
        if known is None:
            known = self._around[shape] = Around(self, candidate)
        return known

    def chunk(self, chunk: Chunk) -> int:
        """Tokens of the chunk's whole text as it will be rendered."""
        own = chunk.content_hash
        found = profile(own).bodies.get(self.body, UNKNOWN)
        if found is None and (count := self.known.get(own)) is not None:
            return count
        body, key = self.written(chunk.text, own)
        count = self.known.get(key)
        return self._counted(key, body) if count is None else count

    def passage(self, candidate: Candidate) -> int:
        """Tokens of the candidate's whole text; added up where its chunks stand apart in it."""
        chunk, parts = candidate.chunk, candidate.parts
        if not parts:
            return self.chunk(chunk)
        body, key = self.written(chunk.text, chunk.content_hash)
        count = self.known.get(key)
        if count is not None:
            return count
        bodies = [Written(part.chunk.text, part.chunk.content_hash) for part in parts]
        starts = [*(part.span[0] for part in parts), len(body)]
        ends = [0, *(part.span[1] for part in parts)]
        glue = [body[end:start] for end, start in zip(ends, starts, strict=True)]
        told = "".join(chain(*zip(glue, [own for own, _ in bodies], strict=False), glue[-1:]))
        if told != body:  # they overlap, or the text is written otherwise
            return self._counted(key, body)
        count = self.known[key] = self.whole(body, glue, bodies)
        return count

    def text(self, text: str, key: str = "") -> int:
        """Tokens of any text as it will be rendered in a block; `key`: its hash, if known."""
        body, key = self.written(text, key or content_hash(text))
        count = self.known.get(key)
        return self._counted(key, body) if count is None else count

    def uncached(self, text: str) -> int:
        """The same without remembering: for texts that are tried once and thrown away."""
        return self.tokenizer.count(self.body(text))

    def rendered(self, text: str) -> int:
        """Tokens of a text that is already in its final form: a header, a body."""
        return _rendered(text, self.tokenizer, self.known)

    def written(self, text: str, key: str) -> Written:
        """The text with this content hash as it will stand in a block."""
        ways = profile(key).bodies
        found = ways.get(self.body, UNKNOWN)
        if found is UNKNOWN:
            body = self.body(text)
            found = None if body == text else Written(body, content_hash(body))
            if len(ways) >= WAYS:
                ways.clear()
            if found is None or len(found.text) <= KEPT:
                ways[self.body] = found
        return Written(text, key) if found is None else found

    def whole(self, text: str, glue: Sequence[str], bodies: Sequence[Written]) -> int:
        """Tokens of the finished text, put together of glue and bodies by turns, glue first.

        Exactly `tokenizer.count(text)`, which is asked where counts do not add up.
        """
        breaks: Breaks | None = getattr(self.tokenizer, "breaks", None)
        if breaks is None:
            return self.tokenizer.count(text)
        return sum(self._unit(unit, breaks) for unit in units(glue, bodies, breaks))

    def _unit(self, unit: Unit, breaks: Breaks) -> int:
        text, tail, key = unit
        if not key:
            short = len(text) + len(tail) <= SHORT
            return self.rendered(text + tail) if short else self.tokenizer.count(text + tail)
        count = self.known.get(key + tail)
        if count is None and tail and (at := last_word(text, breaks)):
            end = text[at:]
            more = self.rendered(end + tail) - self.rendered(end)
            count = self.known[key + tail] = self._unit(Unit(text, "", key), breaks) + more
        return self._counted(key + tail, text + tail) if count is None else count

    def _counted(self, key: str, text: str) -> int:
        count = self.known[key] = self.tokenizer.count(text)
        return count


def _rendered(text: str, tokenizer: Tokenizer, known: MutableMapping[str, int]) -> int:
    if not text:
        return 0
    count = known.get(key := _key(text))
    if count is None:
        count = known[key] = tokenizer.count(text)
    return count


def _key(text: str) -> str:
    """What a finished text is counted under: itself where it is short and like no other key.

    The other keys are a content hash, and one with line breaks behind it.
    """
    if len(text) < HASH or (len(text) <= SHORT and text[:HASH].strip(DIGITS)):
        return text
    return content_hash(text)
