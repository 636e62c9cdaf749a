"""A session as a value (SPEC W4): what was sent, in what order, under which numbers.

All state is in the value, so a session stored as JSON goes on in another process to the same bytes.
What the reader may no longer read must leave a session; the trace never names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from fractions import Fraction
from typing import Any

from foveate.core.candidates import chunk_from_record, chunk_to_json
from foveate.core.chat.citation_note import cited_numbers
from foveate.core.chat.history import VERBATIM
from foveate.core.chat.turns import Turn, TurnCitation, read_turns, turns_from_messages
from foveate.core.chat.zones import FlexibleBudget
from foveate.core.errors import BadInput, BadOption
from foveate.core.request import Inputs
from foveate.core.typed import check_fields, read_value
from foveate.core.types import Block, Chunk

KIND = "foveate-session"
VERSION = 2
PLAIN_FIELDS = ("markers", "state_root", "recipe", "tokenizer")
QUOTE_LENGTH = 200  # characters of a block that are kept of what was cited
MORE_TURNS = 4
"""So many more turns are counted on, in which what is sent now is read from the cache."""
GAIN = Fraction(1, 5)
"""The share of the price that writing the documents again must save."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrices:
    """What a token costs, as a part of one that no cache has anything to do with.

    `cached`: a token of a prefix that the provider has kept. `written`: a token that was not sent
    at that place before. As providers put it, cached tokens cost a tenth; where writing to the
    cache is charged (Anthropic), `written` is 1.25.
    """

    cached: float = 0.1
    written: float = 1.0

    def __post_init__(self) -> None:
        check_fields(self)
        if not 0 <= self.cached <= self.written:
            raise BadOption("prices: cached must be 0 to written")

    def price(self, tokens: int, reused: int) -> Fraction:
        """The price of sending so many tokens now, of which some are cached, and of later turns."""
        cached, written = Fraction(str(self.cached)), Fraction(str(self.written))
        return written * (tokens - reused) + cached * reused + MORE_TURNS * cached * tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPolicy:
    """How a session is kept: its system prompt, its last turns, its zones, its prices."""

    system: str = ""
    verbatim: int = VERBATIM
    zones: FlexibleBudget | bool = True
    capped: bool = False
    prices: TokenPrices = field(default_factory=TokenPrices)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentBlock:
    """A block as it was sent, and its chunks.

    `copies`: the corroborating sources that are chunks, for their readers are checked too.
    `name_parts`: the parts of its source that a short header shows, whatever files come later.
    """

    block: Block
    chunks: tuple[Chunk, ...]
    copies: tuple[TurnCitation, ...] = ()
    name_parts: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Reuse:
    """What the last request had in common with the one before it.

    `documents` of the document block and `request` of the whole: tokens of the identical prefix
    (`reused`), and the tokens behind it, which are new to the provider (`sent`). `repacked`: the
    reasons why the document block was written again, the unavoidable first; empty if it was not.
    """

    documents_reused: int = 0
    documents_sent: int = 0
    request_reused: int = 0
    request_sent: int = 0
    repacked: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What was said and sent so far; `Session()` begins one.

    `turns`: the conversation as it was sent last, a ledger of what left included, and what was said
    since. `carried`: what turns cited that left. `held`: the blocks of the documents, in order;
    `segments`: their text, in the pieces in which it was added. `markers`: the highest number that
    was given; none is given twice. `pieces`: hash and tokens of each part of the last request.
    `recipe`, `tokenizer`: hash and fingerprint, under which the session goes on.
    """

    turns: tuple[Turn, ...] = ()
    carried: tuple[TurnCitation, ...] = ()
    held: tuple[SentBlock, ...] = ()
    segments: tuple[str, ...] = ()
    markers: int = 0
    pieces: tuple[tuple[str, int], ...] = ()
    principals: tuple[str, ...] = ()
    state_root: str = ""
    recipe: str = ""
    tokenizer: str = ""
    reuse: Reuse = field(default_factory=Reuse)

    @property
    def text(self) -> str:
        """The document block as it was sent last."""
        return "".join(self.segments)

    def with_turns(self, *turns: Turn | Mapping[str, Any]) -> Session:
        """The session with more messages: the model's answer, calls of tools with their results."""
        return replace(self, turns=(*self.turns, *turns_from_messages(turns)))

    def with_answer(self, text: str, *, cited: Sequence[int] | None = None) -> Session:
        """The session with the model's answer; `cited`: its markers, else those that it shows."""
        entries = [_citation(held) for held in self.held]
        if cited is None:
            said = cited_numbers(text)
            named = {h.block.marker for h in self.held if h.block.kind == "chunk"} & said
        else:
            named = set(cited)
            if unknown := named - {e.marker for e in entries}:
                raise BadInput(f"no block has the marker {min(unknown)}", field="cited")
        kept = tuple(entry for entry in entries if entry.marker in named)
        return self.with_turns(Turn({"role": "assistant", "content": text}, cited=kept))

    def cited(self) -> Iterator[TurnCitation]:
        """All that turns cited, those that left included, in the order of what was said."""
        yield from self.carried
        for turn in self.turns:
            yield from turn.cited

    def sent_chunks(self) -> Iterator[TurnCitation]:
        """The chunks that stand in the documents, are named beside them, or were cited."""
        for held in self.held:
            yield from (chunk_citation(chunk) for chunk in held.chunks)
            yield from held.copies
        yield from self.cited()


def chunk_citation(chunk: Chunk) -> TurnCitation:
    """What is remembered of a chunk, by which a store is asked for it again."""
    return TurnCitation(
        chunk_id=chunk.id,
        source=chunk.source,
        document_id=chunk.document_id,
        sequence=chunk.sequence,
        content_hash=chunk.content_hash,
    )


def _citation(held: SentBlock) -> TurnCitation:
    block = held.block
    known = TurnCitation(chunk_id=block.chunk_ids[0] if block.chunk_ids else "", source="")
    return replace(
        chunk_citation(held.chunks[0]) if held.chunks else known,
        source=block.source,
        quote=block.text[:QUOTE_LENGTH].strip(),
        marker=block.marker,
        document_id=block.document_id,
    )


def revoke(session: Session, inputs: Inputs, current: Mapping[str, str] | None) -> Session:
    """The session without what may not be sent any more; raises `BadInput` for another reader.

    `current`: chunk id → content hash of sent chunks that may be read now. None: unknown; then, if
    the store's state changed, only chunks that were found again stay. Turns that cite a removed
    chunk leave, and if such a turn left before, all that was made of turns that left.
    """
    if not set(session.principals) <= set(inputs.principals):
        what = "is of principals that this caller does not have; begin a new session"
        raise BadInput(what, field="session")
    found = {c.chunk.id: c.chunk.content_hash for c in inputs.candidates}
    unmoved = inputs.state_root == session.state_root and current is None

    def stays(sent: TurnCitation) -> bool:
        known = found.get(sent.chunk_id) or (current or {}).get(sent.chunk_id)
        return known == sent.content_hash if known else unmoved

    def is_sendable(held: SentBlock) -> bool:
        if len(held.chunks) < max(1, len(held.block.chunk_ids)):
            return unmoved  # nobody can be asked about a chunk that is not known
        return all(stays(chunk_citation(chunk)) for chunk in held.chunks)

    carried = tuple(filter(stays, session.carried))
    lost = len(carried) < len(session.carried)
    return replace(
        session,
        held=tuple(_with_copies(h, stays) for h in session.held if is_sendable(h)),
        turns=tuple(
            turn
            for turn in session.turns
            if all(map(stays, turn.cited)) and not (lost and turn.derived)
        ),
        carried=carried,
    )


def _with_copies(held: SentBlock, stays: Any) -> SentBlock:
    """The block with those of its copies that may be named."""
    copies = tuple(filter(stays, held.copies))
    if len(copies) == len(held.copies):
        return held
    known = {copy.chunk_id for copy in copies}
    named = tuple(s for s in held.block.corroborating if s.chunk_id in known)
    return replace(held, block=replace(held.block, corroborating=named), copies=copies)


def session_to_json(session: Session) -> dict[str, Any]:
    """The session for `json.dumps`; read back, it is equal to what it was."""
    return {
        "kind": KIND,
        "version": VERSION,
        **{name: getattr(session, name) for name in PLAIN_FIELDS},
        "turns": [_without_defaults(turn) for turn in session.turns],
        "carried": [asdict(entry) for entry in session.carried],
        "held": [
            {
                **_without_defaults(held),
                "block": _without_defaults(held.block),
                "chunks": [chunk_to_json(chunk) for chunk in held.chunks],
            }
            for held in session.held
        ],
        "segments": list(session.segments),
        "pieces": [list(piece) for piece in session.pieces],
        "principals": list(session.principals),
        "reuse": asdict(session.reuse),
    }


def session_from_json(record: Any) -> Session:
    """And back; raises `BadInput` for what is no session, or one that is damaged."""
    if not isinstance(record, Mapping) or record.get("kind") != KIND:
        raise BadInput("this is not a session; give what was written of one", field="session")
    if record.get("version") != VERSION:
        raise BadInput(
            f"has version {record.get('version')!r}, this one reads {VERSION}; begin a new session",
            field="session",
        )
    try:
        session: Session = read_value(Session, record, readers={Chunk: chunk_from_record})
        _check_session(session)
    except (BadInput, TypeError, AttributeError) as error:
        raise BadInput(f"is damaged ({error}); begin a new one", field="session") from None
    return session


def _check_session(session: Session) -> None:
    read_turns(session.turns)
    if session.markers < max((held.block.marker for held in session.held), default=0):
        raise BadInput("a block's marker is above markers")
    if not all(held.name_parts for held in session.held):
        raise BadInput("a block's name has no parts")


def _without_defaults(value: Any) -> dict[str, Any]:
    record = {one.name: getattr(value, one.name) for one in fields(value)}
    plain = {one.name: one.default for one in fields(value)}
    changed = {name: entry for name, entry in record.items() if entry != plain[name]}
    return {name: entry if name == "message" else asdict(value)[name]
            for name, entry in changed.items()}  # fmt: skip
