"""A session as a value (SPEC W4): what was sent, in what order, under which numbers.

All state is in the value, so a session stored as JSON goes on in another process to the same bytes.
What the reader may no longer read must leave a session; the trace never names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from foveate.core.candidates import is_readable
from foveate.core.chat.citation_note import cited_numbers
from foveate.core.chat.history_fit import History, Summary
from foveate.core.chat.turns import SYSTEM_ROLES, Turn, TurnCitation
from foveate.core.chat.zone_demand import FlexibleBudget
from foveate.core.errors import BadInput, BadOption
from foveate.core.request import Inputs
from foveate.core.typed import check_fields
from foveate.core.types import Block, Chunk

QUOTE_LENGTH = 200  # characters of a block that are kept of what was cited


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrices:
    """What a token costs, as a part of one that no cache has anything to do with.

    `cached`: a token of a prefix that the provider has kept. `written`: a token that was not sent
    at that place before. `turns`: how many more turns are counted on, in which what is sent now
    will be read from the cache. `gain`: the share that writing the documents again must save. As
    providers put it, cached tokens cost a tenth; where writing to the cache is charged
    (Anthropic), `written` is 1.25.
    """

    cached: float = 0.1
    written: float = 1.0
    turns: int = 4
    gain: float = 0.2

    def __post_init__(self) -> None:
        check_fields(self)
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

    `first`: by the first turn, and again by each repacking. `more`: by each later turn, where the
    best new evidence fits into that.
    """

    first: int = 50
    more: int = 12

    def __post_init__(self) -> None:
        check_fields(self)
        if not (1 <= self.first <= 100 and 1 <= self.more <= 100):
            raise BadOption("pace: first and more must be 1 to 100 per cent")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPolicy:
    """How a session is kept: its system prompt, its history, its zones, its pace, its prices."""

    system: str = ""
    history: History = field(default_factory=lambda: History(slack=None))
    zones: FlexibleBudget | bool = True
    capped: bool = False
    pace: FillRate = field(default_factory=FillRate)
    prices: TokenPrices = field(default_factory=TokenPrices)


@dataclass(frozen=True, slots=True, kw_only=True)
class PastChunk:
    """A chunk that was in the documents since turn `since`: answers may rest on it."""

    chunk_id: str
    document_id: str
    sequence: int
    content_hash: str
    principals: tuple[str, ...]
    since: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SentBlock:
    """A block as it was sent, its chunks, and since which turn of the session.

    `copies`: the chunks of its corroborating sources, whose readers are checked too. `name_parts`:
    the parts of its source that a short header shows, whatever files come later.
    """

    block: Block
    chunks: tuple[Chunk, ...]
    since: int
    copies: tuple[PastChunk, ...] = ()
    name_parts: int = 1


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
    `summary`: a model's, and `ledger`: ours, of turns that are not shown any more. `recipe`,
    `tokenizer`: hash and fingerprint, under which the session goes on.
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
    ledger: str = ""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RevocationResult:
    """What stays: `held` in its order, `past`; and the turns that may not be shown any more."""

    held: tuple[SentBlock, ...]
    past: tuple[PastChunk, ...]
    turns: frozenset[int]


def revoke(session: Session, inputs: Inputs, current: Mapping[str, str] | None) -> RevocationResult:
    """The session's blocks that may still be sent, and the turns that may not.

    `current`: chunk id → content hash of sent chunks that may be read now. None: unknown; then, if
    the store's state changed, only chunks that were found again stay.
    """
    may = _ReaderAccess(session, inputs, current)
    kept: list[SentBlock] = []
    past: list[PastChunk] = []
    gone: list[PastChunk] = []
    for held in session.held:
        if may.is_sendable(held):
            kept.append(may.restrict_copies(held))
        else:
            gone += [past_chunk_from_chunk(chunk, held.since) for chunk in held.chunks]
    for record in session.past:
        (past if may.is_readable(record) else gone).append(record)
    stays = [past_chunk_from_chunk(chunk, held.since) for held in kept for chunk in held.chunks]
    turns = frozenset(_revoked_turns(session, gone, [*stays, *past], same_reader=may.same))
    if may.same:
        past += gone  # answers that name none of it stay, and must not outlive it elsewhere
    return RevocationResult(held=tuple(kept), past=_earliest_records(past), turns=turns)


def past_chunk_from_chunk(chunk: Chunk, since: int) -> PastChunk:
    """What is remembered of a chunk that was sent, or of one whose copy was."""
    return PastChunk(
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        sequence=chunk.sequence,
        content_hash=chunk.content_hash,
        principals=chunk.principals,
        since=since,
    )


def _earliest_records(records: Sequence[PastChunk]) -> tuple[PastChunk, ...]:
    first: dict[PastChunk, PastChunk] = {}
    for record in records:
        same = replace(record, since=0)
        if same not in first or record.since < first[same].since:
            first[same] = record
    return tuple(first.values())


class _ReaderAccess:
    """The caller of this turn, and what is known of what may be read."""

    def __init__(self, session: Session, inputs: Inputs, current: Mapping[str, str] | None) -> None:
        self.allowed = frozenset(inputs.principals)
        self.found = {c.chunk.id: c.chunk for c in inputs.candidates}
        self.moved = inputs.state_root != session.state_root
        self.same = set(session.principals) == set(inputs.principals)
        self.current = current

    def is_readable(self, record: PastChunk) -> bool:
        """Whether the chunk is there as it was, for this reader, as far as anybody looked."""
        if not is_readable(record.principals, self.allowed):
            return False
        again = self.found.get(record.chunk_id)
        if again is not None:
            same = (record.content_hash, record.principals)
            return (again.content_hash, again.principals) == same
        if self.current is not None:
            return self.current.get(record.chunk_id) == record.content_hash
        return not self.moved

    def is_sendable(self, held: SentBlock) -> bool:
        """Whether a block may be sent; one whose chunks are unknown only if nothing changed."""
        if not held.chunks or len(held.chunks) < len(held.block.chunk_ids):
            unchanged = self.same and not self.moved and self.current is None
            return unchanged and all(
                self.is_readable(past_chunk_from_chunk(c, held.since)) for c in held.chunks
            )
        return all(
            self.is_readable(past_chunk_from_chunk(chunk, held.since)) for chunk in held.chunks
        )

    def restrict_copies(self, held: SentBlock) -> SentBlock:
        """The block with those of its copies that may be named: a copy is asked about as well."""
        if not held.block.corroborating:
            return held
        copies = tuple(record for record in held.copies if self.is_readable(record))
        known = {record.chunk_id for record in copies}
        named = tuple(s for s in held.block.corroborating if s.chunk_id in known)
        return replace(held, block=replace(held.block, corroborating=named), copies=copies)


def _revoked_turns(
    session: Session, gone: Sequence[PastChunk], stays: Sequence[PastChunk], *, same_reader: bool
) -> Iterator[int]:
    """Turns that cite a removed chunk, but not a version that `stays`.

    For another reader: all turns since the first removed chunk was sent, whoever spoke.
    """
    ids = {record.chunk_id for record in gone}
    newer: dict[str, int] = {}
    for record in stays:
        newer[record.chunk_id] = min(record.since, newer.get(record.chunk_id, record.since))
    first = min((record.since for record in gone), default=None)
    for n, turn in enumerate(session.turns):
        cited = {entry.chunk_id for entry in turn.cited} & ids
        cites = any(session.at[n] < newer.get(own, session.step + 1) for own in cited)
        since = first is not None and session.at[n] >= first and turn.role not in SYSTEM_ROLES
        if cites or (since and not same_reader):
            yield n


def collect_past_chunks(left: RevocationResult, held: Sequence[SentBlock]) -> tuple[PastChunk, ...]:
    """What stood in the documents and does not after this turn; of what left, see `withdrawn`."""
    here = {chunk.id for h in held for chunk in h.chunks}
    went = [
        past_chunk_from_chunk(chunk, h.since)
        for h in left.held
        for chunk in h.chunks
        if chunk.id not in here
    ]
    return _earliest_records((*left.past, *went))
