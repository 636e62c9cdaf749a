"""A session as a value (SPEC W4): what was sent, in what order, under which numbers.

State in, state out: nothing here is kept anywhere else, so a service may store a session as JSON
and go on with it in another process, to the very same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from foveate.core.chat.history_fit import Summary
from foveate.core.chat.shorten import cited_numbers
from foveate.core.chat.turns import Turn, TurnCitation
from foveate.core.errors import BadInput, BadOption
from foveate.core.types import Block, Chunk

QUOTE_LENGTH = 200  # characters of a block that are kept of what was cited


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrices:
    """What a token costs, as a part of one that no cache has anything to do with.

    `cached`: a token of a prefix that the provider has kept. `written`: a token that was not sent
    at that place before. `turns`: how many more turns are counted on, in which what is sent now
    will be read from the cache. `gain`: the share that writing the documents anew must save. As
    providers put it, cached tokens cost a tenth; where writing to the cache is charged
    (Anthropic), `written` is 1.25.
    """

    cached: float = 0.1
    written: float = 1.0
    turns: int = 4
    gain: float = 0.2

    def __post_init__(self) -> None:
        """Refuse prices that make no sense."""
        if not 0 <= self.cached <= self.written or self.turns < 0:
            raise BadOption("prices: cached must be 0 to written, and turns 0 or more")
        if not 0 <= self.gain <= 1:
            raise BadOption(f"prices: gain is {self.gain}; it must be 0 to 1")

    def price(self, tokens: int, reused: int) -> Fraction:
        """The price of sending so many tokens now, of which some are cached, and of later turns."""
        cached, written = Fraction(str(self.cached)), Fraction(str(self.written))
        return written * (tokens - reused) + cached * reused + self.turns * cached * tokens

    def is_cheaper_enough(self, old: Fraction, new: Fraction) -> bool:
        """Whether the new price is enough below the old."""
        return new < old * (1 - Fraction(str(self.gain)))


@dataclass(frozen=True, slots=True, kw_only=True)
class FillRate:
    """How fast the document zone is filled, in per cent of it.

    `first`: by the first turn, and anew by each repacking. `more`: by each later turn, where the
    best new evidence fits into that.
    """

    first: int = 50
    more: int = 12

    def __post_init__(self) -> None:
        """Refuse what is no share."""
        if not (1 <= self.first <= 100 and 1 <= self.more <= 100):
            raise BadOption("pace: first and more must be 1 to 100 per cent")


@dataclass(frozen=True, slots=True, kw_only=True)
class PastChunk:
    """A chunk that stood in the documents, since turn `since`: answers may rest on it.

    So it is still asked who may read it, when it stands there no longer.
    """

    chunk_id: str
    document_id: str
    sequence: int
    content_hash: str
    principals: tuple[str, ...]
    since: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SentBlock:
    """A block that was sent: as it stands, of which chunks, since which turn of the session.

    `copies`: the chunks that its corroborating sources name, for who may read those is asked too.
    """

    block: Block
    chunks: tuple[Chunk, ...]
    since: int
    copies: tuple[PastChunk, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reuse:
    """What the last request had in common with the one before it.

    `documents` of the document block and `request` of the whole: tokens of the identical prefix
    (`reused`), the tokens behind it, which are new to the provider (`sent`), and those of the
    documents that were sent before at any place (`known`). `repacked`: the reasons why the
    document block was written again, the unavoidable first; empty if it was not.
    """

    documents_reused: int = 0
    documents_sent: int = 0
    documents_known: int = 0
    request_reused: int = 0
    request_sent: int = 0
    repacked: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What was said and sent so far; `Session()` begins one.

    `turns`: the conversation; `at[i]`: the session's turn in which turn i came; `shown[i]`: how it
    was sent last. `held`: the blocks of the documents, in order; `segments`: their text, in the
    pieces in which it was added. `markers`: the highest number that was given; none is given twice.
    `past`: what stood there once. `pieces`: hash and tokens of each part of the last request.
    `summary`: a model's, of turns that are not shown any more. `recipe`, `tokenizer`: hash and
    fingerprint, under which the session goes on.
    """

    step: int = 0
    turns: tuple[Turn, ...] = ()
    at: tuple[int, ...] = ()
    shown: tuple[Turn | None, ...] = ()
    held: tuple[SentBlock, ...] = ()
    past: tuple[PastChunk, ...] = ()
    segments: tuple[str, ...] = ()
    markers: int = 0
    pieces: tuple[tuple[str, int], ...] = ()
    principals: tuple[str, ...] = ()
    state_root: str = ""
    recipe: str = ""
    tokenizer: str = ""
    reuse: Reuse = field(default_factory=Reuse)
    summary: Summary | None = None

    @property
    def text(self) -> str:
        """The document block as it was sent last."""
        return "".join(self.segments)

    def with_turns(self, *turns: Turn) -> Session:
        """The session with more turns: the model's answer, calls of tools with their results."""
        return replace(
            self,
            turns=(*self.turns, *turns),
            at=(*self.at, *(self.step for _ in turns)),
            shown=(*self.shown, *turns),
        )

    def with_answer(self, text: str, *, cited: Sequence[int] | None = None) -> Session:
        """The session with the model's answer; `cited`: its markers, else those that it shows."""
        entries = [self._citation(held) for held in self.held]
        if cited is None:
            said = cited_numbers(text)
            named = {h.block.marker for h in self.held if h.block.kind == "chunk"} & said
        else:
            named = set(cited)
            if unknown := named - {e.marker for e in entries}:
                raise BadInput(f"no block has the marker {min(unknown)}", field="cited")
        kept = tuple(entry for entry in entries if entry.marker in named)
        return self.with_turns(Turn(role="assistant", text=text, cited=kept))

    def _citation(self, held: SentBlock) -> TurnCitation:
        block = held.block
        return TurnCitation(
            chunk_id=block.chunk_ids[0] if block.chunk_ids else "",
            source=block.source,
            quote=block.text[:QUOTE_LENGTH].strip(),
            marker=block.marker,
            document_id=block.document_id,
        )
