"""The central values, in the order they flow. Reading this file is reading the architecture.

    Chunk ─▶ Candidate ─▶ stage ─▶ Step(candidates, decisions) ─▶ … ─▶ Block ─▶ Context

Rules: every value is frozen and keyword-only; ids come from the caller or from the content;
nothing here opens a file, reads a clock or rolls dice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from blake3 import blake3

from foveate.core.checks import (
    INTEGER_FIELDS,
    OPTIONAL_SCORES,
    STRING_FIELDS,
    check_chunk_fields,
    check_score,
)
from foveate.core.compressed_text import Offer
from foveate.core.context_json import context_from_json, context_to_json
from foveate.core.contracts import Format
from foveate.core.errors import BadInput
from foveate.core.manifest_value import CanonicalRecipe, Manifest
from foveate.core.metadata import canonical_metadata, check_metadata
from foveate.core.notebook import context_html, context_line, stage_html, trace_html
from foveate.core.zones import Budget

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from foveate.core.token_counter import TokenCounter

    Runs: TypeAlias = NDArray[np.uint64]

Span: TypeAlias = tuple[int, int]
"""Half-open character range: `text[start:end]`."""

Vector: TypeAlias = Sequence[float]
"""One embedding; a numpy array is welcome and is never copied element by element."""

Origin: TypeAlias = Literal["retrieved", "neighbour", "supplement"]
RenditionKind: TypeAlias = Literal[
    "verbatim", "stripped", "piece", "extract", "abstract", "truncated", "reference"
]
Action: TypeAlias = Literal["dropped", "merged", "changed", "entered", "kept"]
Number: TypeAlias = int | float | str
Rank: TypeAlias = tuple[float, str, int, int, str]
BlockPosition: TypeAlias = Literal["first", "fresh", "same"]
"""Where a block stands: first of all, after another document's block, after one of its own."""


def content_hash(text: str) -> str:
    """BLAKE3 of the text's UTF-8 bytes, 32 hex digits; raises `BadInput` on a lone surrogate."""
    try:
        return blake3(text.encode()).hexdigest(16)
    except UnicodeEncodeError as error:
        raise BadInput(
            f"lone surrogate at character {error.start}; decode the text with errors='replace'",
            field="text",
        ) from None


_get_hashed_fields = attrgetter("content_hash", *STRING_FIELDS[1:], *INTEGER_FIELDS, "principals")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a document, with what is needed from the document it comes from.

    `document[start:end] == text` where offsets are known (characters); they are claims and are
    verified against the text before anything relies on them. `byte_offset` counts UTF-8 bytes.
    `principals`: who may read it; empty means everybody. `embedding`: shape (dimensions,).
    """

    text: str
    id: str = ""
    document_id: str = ""
    source: str = ""
    title: str = ""
    sequence: int = 0
    start: int | None = None
    end: int | None = None
    byte_offset: int | None = None
    page: int | None = None
    section: str = ""
    row: int | None = None
    line: int | None = None
    summary: str = ""
    modified_at: datetime | None = None
    principals: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    embedding: Vector | None = field(default=None, compare=False, repr=False)
    content_hash: str = field(default="", repr=False)
    _spelled: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Derive what is missing; refuse what cannot be."""
        check_chunk_fields(self)
        if self.metadata:
            check_metadata(self.metadata)
        if self.start is not None and self.end is not None and self.end < self.start:
            raise BadInput(f"{self.end} is before start {self.start}", field="end")
        if isinstance(self.principals, str):
            raise BadInput(f"must be a list, not {self.principals!r}", field="principals")
        put = object.__setattr__
        put(self, "content_hash", content_hash(self.text))
        if not self.id:
            put(self, "id", self._derived_id())
        if not self.document_id:
            put(self, "document_id", self.source or self.id)
        if not self.source:
            put(self, "source", self.document_id)
        if self.modified_at is not None and self.modified_at.tzinfo is None:
            put(self, "modified_at", self.modified_at.replace(tzinfo=UTC))
        if len(self.principals) > 1:
            put(self, "principals", tuple(sorted(set(self.principals))))
        put(self, "_spelled", repr(_get_hashed_fields(self)))

    def _derived_id(self) -> str:
        """A hash of all that tells this chunk from another; the same for the same chunk."""
        parts = [getattr(self, name) for name in (*STRING_FIELDS[2:], *INTEGER_FIELDS)]
        metadata = canonical_metadata(self.metadata)
        key = repr((*parts, tuple(self.principals), metadata, self.content_hash))
        return blake3(key.encode()).hexdigest(8)


def canonical_chunk(chunk: Chunk) -> str:
    """All that a chunk holds but metadata and vector, in one line; the text by its hash."""
    return chunk._spelled or repr(_get_hashed_fields(chunk))  # noqa: SLF001 (kept: every manifest wants it)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendition:
    """One way to show a candidate. `spans` are ranges of the candidate's text that it shows.

    `value` is the share (0..1) of the candidate's worth that this rendition keeps.
    Where `verbatim` is true, the text is the spans joined by the elision mark, byte for byte.
    """

    kind: RenditionKind
    text: str
    spans: tuple[Span, ...]
    value: float = 1.0
    verbatim: bool = True
    _key: str = field(default="", init=False, repr=False, compare=False)


def rendition_hash(shown: Rendition) -> str:
    """The content hash of a rendition's text, worked out when it is first asked for."""
    key = shown._key  # noqa: SLF001 (kept for this function and `set_rendition_hash` alone)
    return key or set_rendition_hash(shown, content_hash(shown.text))._key  # noqa: SLF001


def set_rendition_hash(shown: Rendition, key: str) -> Rendition:
    """The rendition, which now knows its text's content hash."""
    object.__setattr__(shown, "_key", key)
    return shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """What of a candidate's text may be shown on its own, and how likely it holds evidence.

    `spans` are in order and apart. `leans[i]` is the sentence that i is never shown without, i
    itself where it stands alone. `worths` compare over the pool; the best sentence of all has 1.
    `runs`: of each, its runs of words as numbers, by which a repeat is known; empty: not known.
    """

    spans: tuple[Span, ...]
    leans: tuple[int, ...]
    worths: tuple[float, ...]
    runs: tuple[Runs, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A chunk inside a stitched passage: `passage.text[span[0]:span[1]]` is what it gave."""

    chunk: Chunk
    span: Span
    origin: Origin = "retrieved"
    score: float = 0.0
    corroborating: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a dropped copy came from; it stays citable with the copy that was kept."""

    chunk_id: str
    document_id: str
    source: str
    title: str = ""
    page: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A chunk with its scores for one query, and what the stages found out about it.

    `parts` is set by stitch (empty: one chunk), `corroborating` by dedup, `renditions` or
    `sentences` by compress, `shown` by pack, and by divide as the most that may be shown.
    """

    chunk: Chunk
    score: float = 0.0
    semantic_score: float | None = None
    lexical_score: float | None = None
    rerank_score: float | None = None
    origin: Origin = "retrieved"
    parts: tuple[Part, ...] = ()
    corroborating: tuple[Source, ...] = ()
    renditions: tuple[Rendition, ...] = ()
    sentences: Sentences | None = None
    shown: Rendition | None = None
    _rank: Rank | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse scores that have no place in a total order; others become plain numbers."""
        put = object.__setattr__
        put(self, "score", check_score("score", self.score))
        _cache_rank(self)
        if self.semantic_score is self.lexical_score is self.rerank_score is None:
            return
        for name in OPTIONAL_SCORES:
            if (value := getattr(self, name)) is not None:
                put(self, name, check_score(name, value))

    @property
    def id(self) -> str:
        """The chunk's id."""
        return self.chunk.id

    @property
    def text(self) -> str:
        """The chunk's text."""
        return self.chunk.text

    @property
    def document_id(self) -> str:
        """The chunk's document."""
        return self.chunk.document_id

    def as_source(self) -> Source:
        """Where this candidate comes from, to be kept when the candidate itself is not."""
        c = self.chunk
        return Source(
            chunk_id=c.id, document_id=c.document_id, source=c.source, title=c.title, page=c.page
        )


def rank(candidate: Candidate) -> Rank:
    """The total order: score descending, then source, sequence, byte offset, id ascending."""
    return candidate._rank or _cache_rank(candidate)  # noqa: SLF001 (kept: every stage sorts by it)


def _cache_rank(candidate: Candidate) -> Rank:
    c = candidate.chunk
    made = (-candidate.score, c.source, c.sequence, c.byte_offset or 0, c.id)
    object.__setattr__(candidate, "_rank", made)
    return made


def reading_order(candidate: Candidate) -> tuple[str, int, int, int, str]:
    """As a reader meets them: source, page, sequence, byte offset, id."""
    c = candidate.chunk
    return (c.source, c.page or 0, c.sequence, c.byte_offset or 0, c.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One piece of the context as it is about to be rendered.

    `text` is what is put in (control characters already made harmless), before the format
    neutralises it; `summary` is set on the first block of a document only. `document_spans` are
    the ranges of the document that the text shows, where offsets are known. `span` is where the
    (neutralised) body stands in the finished text.
    """

    marker: int
    text: str
    source: str
    document_id: str = ""
    title: str = ""
    section: str = ""
    page: int | None = None
    pages: tuple[int, ...] = ()
    row: int | None = None
    line: int | None = None
    score: float = 0.0
    rendition: RenditionKind = "verbatim"
    kind: Literal["chunk", "supplement"] = "chunk"
    summary: str = ""
    metadata: tuple[tuple[str, str], ...] = ()
    chunk_ids: tuple[str, ...] = ()
    document_spans: tuple[Span, ...] = ()
    corroborating: tuple[Source, ...] = ()
    span: Span = (0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplement:
    """Side knowledge that may stand before the context: a taxonomy, facts, a table."""

    id: str
    text: str
    title: str = ""
    similarity: float = 0.0
    principals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question, with everything that stages may look at. Ports have run; all is values here.

    `neighbours`: chunks that `expand` may bring in, already filtered by principals. `offers`: what
    a model was asked for before, which `compress` may offer.
    """

    query: str
    budget: Budget
    token_counter: TokenCounter
    principals: tuple[str, ...] = ()
    neighbours: tuple[Chunk, ...] = ()
    supplements: tuple[Supplement, ...] = ()
    intent: str = ""
    query_embedding: Vector | None = field(default=None, compare=False, repr=False)
    instant: datetime | None = None
    language: str = "en"
    offers: tuple[Offer, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What happened to one candidate at one stage, why, and the numbers that decided it."""

    chunk_id: str
    action: Action
    reason: str
    by: str = ""
    numbers: Mapping[str, Number] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a stage hands back. `notes` are figures about the step as a whole."""

    candidates: tuple[Candidate, ...]
    decisions: tuple[Decision, ...] = ()
    notes: Mapping[str, Number] = field(default_factory=dict)


Stage: TypeAlias = Callable[[tuple[Candidate, ...], Request], Step]
"""A pure step. A frozen dataclass with `__call__`, or a plain function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTrace:
    """One stage's entry on the trace."""

    stage: str
    options: str
    before: int
    after: int
    decisions: tuple[Decision, ...] = ()
    notes: Mapping[str, Number] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        return stage_html(self)


Trace: TypeAlias = tuple[StageTrace, ...]


class NotebookTrace(Trace):
    """A trace that shows itself in a notebook; the same tuple else."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return trace_html(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A named tuple of stages and a renderer, as a value.

    `cite`: what a marker stands for, a chunk (block) or its document. `summary_label` is put
    before a page summary; empty leaves summaries out. `include_metadata` names the keys that a
    header shows. `spotlight` marks untrusted text throughout. `budget` and `tokenizer` are used
    when the caller names none.
    """

    name: str
    stages: tuple[Stage, ...]
    format: Format
    description: str = ""
    cite: Literal["chunk", "document"] = "chunk"
    summary_label: str = "Page context"
    include_metadata: tuple[str, ...] = ()
    spotlight: bool = False
    budget: Budget = field(default_factory=Budget)
    tokenizer: str = "cl100k_base"
    _spelling: CanonicalRecipe | None = field(default=None, init=False, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Everything an assembly reads, the tokenizer's vocabulary apart. A bundle is this, in JSON.

    `candidates` are already filtered by `principals`. `messages` are the chat messages that share
    the window with the context, as (role, content) pairs. `state_root` names the store's content;
    `exact` says whether its search compared every row, else `index` names what chose some.
    `notes`: what was done before, or could not be, for the trace's first entry; decides nothing.
    `offers`: shorter versions of texts that a model was asked for, as `compress` wants them.
    """

    query: str
    candidates: tuple[Candidate, ...]
    recipe: Recipe
    budget: Budget
    neighbours: tuple[Chunk, ...] = ()
    supplements: tuple[Supplement, ...] = ()
    principals: tuple[str, ...] = ()
    messages: tuple[tuple[str, str], ...] = ()
    intent: str = ""
    query_embedding: Vector | None = field(default=None, compare=False, repr=False)
    instant: datetime | None = None
    language: str = "en"
    state_root: str = ""
    exact: bool = True
    index: str = ""
    notes: tuple[tuple[str, Number], ...] = ()
    offers: tuple[Offer, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """What marker n stands for. Spans are character ranges, in the document and in the context.

    `page`, `section`, `row` and `line` are those of the first chunk shown, `pages` all of them.
    """

    marker: int
    label: str
    source: str
    title: str
    document_id: str
    chunk_ids: tuple[str, ...]
    page: int | None
    pages: tuple[int, ...]
    section: str
    row: int | None
    line: int | None
    document_spans: tuple[Span, ...]
    context_spans: tuple[Span, ...]
    snippet: str
    corroborating: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The result: the text that is sent, and everything needed to defend it."""

    text: str
    token_count: int
    blocks: tuple[Block, ...]
    citations: tuple[Citation, ...]
    trace: Trace
    metrics: Mapping[str, float]
    manifest: Manifest
    budget: Budget
    query: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return context_line(self)

    def to_dict(self) -> dict[str, Any]:
        """The context as JSON values: what the command line prints and the service sends."""
        return context_to_json(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, query: str = "") -> Self:
        """The context that `to_dict` wrote; raises `BadInput` naming the part that is wrong."""
        return context_from_json(cls, data, query)

    def _repr_html_(self) -> str:
        return context_html(self)
