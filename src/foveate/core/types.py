"""The central values, in the order they flow.

    Chunk ─▶ Candidate ─▶ stage ─▶ Step(candidates, decisions) ─▶ … ─▶ Block ─▶ Context

Every value is frozen and keyword-only; ids come from the caller or from the content.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate, pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias

from foveate.core.fields import SCORE_FIELDS, complete_fields, read_fields, read_number
from foveate.core.images import Image
from foveate.core.seal import Manifest, content_hash
from foveate.core.zones import Budget

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
BlockPosition: TypeAlias = Literal["first", "fresh", "same", "behind"]
"""Where a block stands: first of all, after another document's block, after one of its own.

`same`: somewhere after it; `behind`: right behind it, with nothing between them.
"""


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
        """Each field is read as `core/fields.py` says; raises `BadInput` naming it."""
        read_fields(self)
        object.__setattr__(self, "content_hash", content_hash(self.text))
        complete_fields(self)


TABLE_NAMES = "table_names_sequence"
"""Metadata of a chunk of rows: the sequence of the chunk that has the names of their columns."""
SECTION_PLACES = "section_places"
"""Metadata of a chunk of several sections or rows: for each, where it begins, its row and path."""
CODE_HEADS = "code_heads_sequences"
"""Metadata of a chunk of code: the sequences of the chunks that have the signatures around it."""


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


class PieceRuns(NamedTuple):
    """The runs of words of pieces: those of piece i are `numbers[bounds[i]:bounds[i + 1]]`."""

    numbers: Runs
    bounds: Sequence[int]

    def by_piece(self) -> list[list[int]]:
        """The runs of each piece."""
        return [self.numbers[a:b].tolist() for a, b in pairwise(self.bounds)]

    def select(self, places: Sequence[int]) -> PieceRuns:
        """Those of the pieces at these places."""
        import numpy as np

        own = [self.numbers[self.bounds[i] : self.bounds[i + 1]] for i in places]
        return PieceRuns(np.concatenate(own), [*accumulate(map(len, own), initial=0)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """What of a candidate's text may be shown on its own, and how likely it holds evidence.

    `spans` are in order and apart. `leans[i]` is the sentence that i is never shown without, i
    itself where it stands alone. `worths` compare over the pool; the best sentence of all has 1.
    `runs`: of each, its runs of words, by which a repeat is known; None: not known.
    `by_traits`: the worth of the likeliest of all, without what scores that set it apart and
    identifiers add; what is far below that is unlikely. `asked`: the places of those that hold an
    identifier which the query names. `earned[i]`: whether sentence i may open a block by itself;
    empty: all may. `words[i]`: a bit for each term of the query that i holds, `title_words` those
    of the title; empty: not known.
    `structural`: the places of those that say nothing by themselves, such as the names of columns.
    `set_apart`: whether the retriever's score set the text apart from the rest.
    """

    spans: tuple[Span, ...]
    leans: tuple[int, ...]
    worths: tuple[float, ...]
    runs: PieceRuns | None = field(default=None, compare=False, repr=False)
    by_traits: float = 0.0
    asked: tuple[int, ...] = ()
    structural: tuple[int, ...] = ()
    earned: tuple[bool, ...] = ()
    words: tuple[int, ...] = ()
    title_words: int = 0
    set_apart: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A chunk inside a stitched passage: `passage.text[span[0]:span[1]]` is what it gave."""

    chunk: Chunk
    span: Span
    origin: Origin = "retrieved"
    score: float = 0.0
    scored: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """A chunk that was merged into a candidate.

    `span`: the range of the candidate's text that it repeats.
    """

    chunk: Chunk
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a merged copy came from; it is citable where the copy says all that is shown."""

    chunk_id: str
    document_id: str
    source: str
    title: str = ""
    page: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A chunk with its scores for one query, and what the stages found out about it.

    `parts` is set by stitch (empty: one chunk), `duplicates` by dedup, `renditions` or
    `sentences` by compress, `shown` by pack, and by divide as the most that may be shown.
    `scored`: whether anybody gave the score; else a place in a list stands in its stead.
    """

    chunk: Chunk
    score: float = 0.0
    semantic_score: float | None = None
    lexical_score: float | None = None
    rerank_score: float | None = None
    origin: Origin = "retrieved"
    scored: bool = True
    parts: tuple[Part, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()
    renditions: tuple[Rendition, ...] = ()
    sentences: Sentences | None = None
    shown: Rendition | None = None
    _rank: Rank = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        put, c = object.__setattr__, self.chunk
        if self.score.__class__ is not float or not isfinite(self.score):
            put(self, "score", read_number("score", self.score))
        put(self, "_rank", (-self.score, c.source, c.sequence, c.byte_offset or 0, c.id))
        if self.semantic_score is self.lexical_score is self.rerank_score is None:
            return
        for name in SCORE_FIELDS[1:]:
            if (value := getattr(self, name)) is not None:
                put(self, name, read_number(name, value))

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

    @property
    def given_score(self) -> float | None:
        """The score if somebody gave it; a neighbour's is a share of another one's."""
        return self.score if self.scored and self.origin == "retrieved" else None


def rank(candidate: Candidate) -> Rank:
    """The total order: score descending, then source, sequence, byte offset, id ascending."""
    return candidate._rank  # noqa: SLF001 (computed once: every stage sorts by it)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One piece of the context as it is about to be rendered.

    `text` is what is put in (control characters already made harmless), before the format
    neutralises it; `summary` is set on the first block of a document only. `document_spans` are
    the ranges of the document that the text shows, where offsets are known. `span` is where the
    (neutralised) body stands in the finished text. `images` are parts of their own behind the body.
    `score` is what the block was ranked by; it is shown if it is `scored`, that is given.
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
    scored: bool = True
    rendition: RenditionKind = "verbatim"
    kind: Literal["chunk", "supplement"] = "chunk"
    summary: str = ""
    metadata: tuple[tuple[str, str], ...] = ()
    chunk_ids: tuple[str, ...] = ()
    document_spans: tuple[Span, ...] = ()
    corroborating: tuple[Source, ...] = ()
    images: tuple[Image, ...] = ()
    sections: tuple[str, ...] = ()
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


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTrace:
    """One stage's entry on the trace."""

    stage: str
    options: str
    before: int
    after: int
    decisions: tuple[Decision, ...] = ()
    notes: Mapping[str, Number] = field(default_factory=dict)


Trace: TypeAlias = tuple[StageTrace, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """What marker n stands for. Spans are character ranges, in the document and in the context.

    `page`, `section` and `row` are those of the first text shown, `pages` and `sections` those of
    all; `line` is where what is shown of it begins.
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
    sections: tuple[str, ...] = ()


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

    @property
    def weak_evidence(self) -> str:
        """Why what is shown hardly speaks of the question; empty where it does."""
        notes = (entry.notes.get("weak_evidence") for entry in self.trace)
        return str(next(filter(None, notes), ""))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        most, blocks = self.budget.documents, len(self.blocks)
        shown = f"{blocks} block{'' if blocks == 1 else 's'}, {self.token_count:,}"
        of = "" if most is None else f" of {most:,}"
        return f"<Context: {shown}{of} tokens, recipe {self.manifest.recipe!r}>"

    def to_dict(self) -> dict[str, Any]:
        """The context as JSON values: what the command line prints and the service sends."""
        from foveate.core.context_json import context_to_json

        return context_to_json(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, query: str = "") -> Self:
        """The context that `to_dict` wrote; raises `BadInput` naming the part that is wrong."""
        from foveate.core.context_json import context_from_json

        return context_from_json(cls, data, query)
