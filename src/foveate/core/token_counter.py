"""Token counts of texts as this request renders them, each counted once.

Counts are kept under the hash of the body. Counts of parts add up only where the tokenizer says so
(`breaks`): a text is cut there and its parts counted; other texts are counted whole.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import NamedTuple, TypeAlias

from foveate.core.contracts import Tokenizer
from foveate.core.seal import content_hash
from foveate.core.text.profile import HashedText, text_profile
from foveate.core.types import BlockPosition, Candidate, Chunk

MAX_KEY_LENGTH = 200  # characters; a text up to that is its own key
HASH_LENGTH = 32  # characters of a content hash, with which no text that is its own key may begin
HEX_DIGITS = "0123456789abcdef"
UNKNOWN_BODY = HashedText("", "")


class Cost(NamedTuple):
    """Tokens and characters."""

    tokens: int
    characters: int


new_cost: Callable[[tuple[int, int]], Cost] = partial(tuple.__new__, Cost)  # quicker than by name


class HeaderCostsByPlace(dict[BlockPosition, Cost]):
    """Token costs of what stands around a candidate's text at each place, counted on demand.

    It holds no reference to its counter: a circle would keep the candidates alive.
    """

    __slots__ = ("_candidate", "_frame", "_known", "_tokenizer")

    def __init__(self, counter: TokenCounter, candidate: Candidate) -> None:
        self._frame, self._candidate = counter.header, candidate
        self._tokenizer, self._known = counter.tokenizer, counter.count_cache

    def __missing__(self, place: BlockPosition) -> Cost:
        text = self._frame(self._candidate, place)
        tokens = _count_rendered(text, self._tokenizer, self._known)
        cost = self[place] = new_cost((tokens, len(text)))
        return cost


def no_header_key(candidate: Candidate) -> Hashable:
    """No shape: each candidate's frame is its own."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounter:
    """Counts tokens for one request.

    `body(text)`: the text as it stands in a block; pure. `header(candidate, place)`: the text
    around it, the same for candidates of one `header_key`. `count_cache`: content hash to count,
    kept across requests.
    """

    tokenizer: Tokenizer
    body: Callable[[str], str]
    header: Callable[[Candidate, BlockPosition], str]
    count_cache: MutableMapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    header_key: Callable[[Candidate], Hashable] = field(
        default=no_header_key, compare=False, repr=False
    )
    _around: dict[Hashable, HeaderCostsByPlace] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def header_costs(self, candidate: Candidate) -> HeaderCostsByPlace:
        """What the candidate's frame costs, by place; counted once for all that have the same."""
        shape = self.header_key(candidate)
        if shape is None:
            return HeaderCostsByPlace(self, candidate)
        known = self._around.get(shape)
        if known is None:
            known = self._around[shape] = HeaderCostsByPlace(self, candidate)
        return known

    def count_chunk(self, chunk: Chunk) -> int:
        """Tokens of the chunk's whole text as it will be rendered."""
        own = chunk.content_hash
        found = text_profile(own).bodies.get(self.body, UNKNOWN_BODY)
        if found is None and (count := self.count_cache.get(own)) is not None:
            return count
        body, key = self.render_body(chunk.text, own)
        count = self.count_cache.get(key)
        return self._count_and_cache(key, body) if count is None else count

    def count_passage(self, candidate: Candidate) -> int:
        """Tokens of the candidate's whole text; added up where its chunks stand apart in it."""
        chunk, parts = candidate.chunk, candidate.parts
        if not parts:
            return self.count_chunk(chunk)
        body, key = self.render_body(chunk.text, chunk.content_hash)
        count = self.count_cache.get(key)
        if count is not None:
            return count
        bodies = [HashedText(part.chunk.text, part.chunk.content_hash) for part in parts]
        starts = [*(part.span[0] for part in parts), len(body)]
        ends = [0, *(part.span[1] for part in parts)]
        glue = [body[end:start] for end, start in zip(ends, starts, strict=True)]
        whole = "".join(chain(*zip(glue, [own for own, _ in bodies], strict=False), glue[-1:]))
        if whole != body:  # they overlap, or the text is written otherwise
            return self._count_and_cache(key, body)
        count = self.count_cache[key] = self.count_joined(body, glue, bodies)
        return count

    def count_text(self, text: str) -> int:
        """Tokens of any text as it will be rendered in a block."""
        body, key = self.render_body(text, content_hash(text))
        count = self.count_cache.get(key)
        return self._count_and_cache(key, body) if count is None else count

    def count_uncached(self, text: str) -> int:
        """The same without remembering: for texts that are tried once and thrown away."""
        return self.tokenizer.count(self.body(text))

    def count_rendered(self, text: str) -> int:
        """Tokens of a text that is already in its final form: a header, a body."""
        return _count_rendered(text, self.tokenizer, self.count_cache)

    def render_body(self, text: str, key: str) -> HashedText:
        """The text with this content hash as it will stand in a block."""
        own = text_profile(key)
        found = own.bodies.get(self.body, UNKNOWN_BODY)
        if found is UNKNOWN_BODY:
            body = self.body(text)
            found = None if body == text else HashedText(body, content_hash(body))
            own.bodies[self.body] = found
        return HashedText(text, key) if found is None else found

    def count_joined(self, text: str, glue: Sequence[str], bodies: Sequence[HashedText]) -> int:
        """Tokens of the text made of glue and bodies; exactly `tokenizer.count(text)`."""
        breaks: BoundaryTest | None = getattr(self.tokenizer, "breaks", None)
        if breaks is None:
            return self.tokenizer.count(text)
        return sum(self._count_unit(unit, breaks) for unit in split_units(glue, bodies, breaks))

    def _count_unit(self, unit: TextUnit, breaks: BoundaryTest) -> int:
        text, tail, key = unit
        if not key:
            short = len(text) + len(tail) <= MAX_KEY_LENGTH
            return self.count_rendered(text + tail) if short else self.tokenizer.count(text + tail)
        count = self.count_cache.get(key + tail)
        if count is None and tail and (at := last_word_start(text, breaks)):
            end = text[at:]
            more = self.count_rendered(end + tail) - self.count_rendered(end)
            count = self.count_cache[key + tail] = (
                self._count_unit(TextUnit(text, "", key), breaks) + more
            )
        return self._count_and_cache(key + tail, text + tail) if count is None else count

    def _count_and_cache(self, key: str, text: str) -> int:
        count = self.count_cache[key] = self.tokenizer.count(text)
        return count


def _count_rendered(text: str, tokenizer: Tokenizer, known: MutableMapping[str, int]) -> int:
    if not text:
        return 0
    count = known.get(key := _cache_key(text))
    if count is None:
        count = known[key] = tokenizer.count(text)
    return count


def _cache_key(text: str) -> str:
    """The cache key of a finished text: itself if it is short and unlike a content hash."""
    if len(text) < HASH_LENGTH or (
        len(text) <= MAX_KEY_LENGTH and text[:HASH_LENGTH].strip(HEX_DIGITS)
    ):
        return text
    return content_hash(text)


BoundaryTest: TypeAlias = Callable[[str, str], bool]


class TextUnit(NamedTuple):
    """A run of the finished text: `text` with `tail` behind it; `key` is that of `text`."""

    text: str
    tail: str
    key: str


def split_units(
    glue: Sequence[str], bodies: Sequence[HashedText], breaks: BoundaryTest
) -> list[TextUnit]:
    r"""The text `glue[0] bodies[0] glue[1] … bodies[-1] glue[-1]` in units whose counts add up.

    >>> bodies = [HashedText("One.", "h1"), HashedText("Two.", "h2")]
    >>> at_lines = lambda left, right: left == "\n" and not right.isspace()
    >>> [*map(tuple, split_units(["[1]\n", "\n\n[2]\n", ""], bodies, at_lines))]
    [('[1]\n', '', ''), ('One.', '\n\n', 'h1'), ('[2]\n', '', ''), ('Two.', '', 'h2')]
    """
    found: list[TextUnit] = []
    end = ""
    rest = glue[0]
    for (text, key), following in zip(bodies, glue[1:], strict=True):
        after = following.lstrip("\n")
        tail = following[: len(following) - len(after)]
        body = TextUnit(text, tail, key) if text else TextUnit(tail, "", "")
        for unit in (TextUnit(rest, "", ""), body):
            if not unit.text:
                continue
            if found and not breaks(end, unit.text[0]):
                unit = _merge_units(found.pop(), unit)  # noqa: PLW2901
            found.append(unit)
            end = (unit.tail or unit.text)[-1]
        rest = after
    if rest:
        last = TextUnit(rest, "", "")
        found.append(last if not found or breaks(end, rest[0]) else _merge_units(found.pop(), last))
    return found


def _merge_units(one: TextUnit, other: TextUnit) -> TextUnit:
    return TextUnit(one.text + one.tail + other.text, other.tail, "")


def last_word_start(text: str, breaks: BoundaryTest) -> int:
    """Where the last word begins, its space before it, if counts add up there; else 0.

    >>> last_word_start("the end.", lambda left, right: left.isalnum() and right == " ")
    3
    """
    at = text.rfind(" ")
    return at if at > 0 and breaks(text[at - 1], " ") else 0
