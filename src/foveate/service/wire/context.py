"""A context as it goes out: what `core/wire.py` makes, described. Never used to validate."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

Span = tuple[int, int]
Number = int | float | str


class SourceOut(BaseModel):
    """Where a dropped copy came from."""

    chunk_id: str
    document_id: str
    source: str
    title: str
    page: int | None


class BlockOut(BaseModel):
    """One piece of the context. `span`: where its body stands in the text, in characters."""

    marker: int
    chunk_ids: list[str]
    document_id: str
    source: str
    text: str
    rendition: str
    score: float
    span: Span
    kind: str
    title: str
    section: str
    page: int | None
    summary: str


class CitationOut(BaseModel):
    """What a marker stands for. Spans are character ranges."""

    marker: int
    label: str
    source: str
    title: str
    document_id: str
    chunk_ids: list[str]
    page: int | None
    pages: list[int]
    section: str
    row: int | None
    line: int | None
    document_spans: list[Span]
    context_spans: list[Span]
    snippet: str
    corroborating: list[SourceOut]


class DecisionOut(BaseModel):
    """What happened to one candidate, why, and the numbers that decided it."""

    chunk_id: str
    action: str
    reason: str
    by: str
    numbers: dict[str, Number]


class StageOut(BaseModel):
    """One stage of the trace."""

    stage: str
    options: str
    before: int
    after: int
    decisions: list[DecisionOut]
    notes: dict[str, Number]


class ManifestOut(BaseModel):
    """The hashes that make a context replayable."""

    schema_: int = Field(alias="schema")
    version: str
    recipe: str
    recipe_hash: str
    query_hash: str
    inputs_hash: str
    budget_hash: str
    state_root: str
    tokenizer: str
    tokenizer_fingerprint: str
    output_hash: str
    budget_tokens: int | None
    token_count: int
    exact: bool
    index: str


class ContextOut(BaseModel):
    """A context: the text that is sent, and everything needed to defend it."""

    text: str
    token_count: int
    blocks: list[BlockOut]
    citations: list[CitationOut]
    trace: list[StageOut]
    metrics: dict[str, Any]
    manifest: ManifestOut


class FoundOut(BaseModel):
    """How the candidates were found."""

    badge: str = Field(description="`hybrid`, or `vector_only` where no word was found.")
    lexical_matches: int
    exact: bool = Field(description="Whether every chunk was compared.")
    candidates: int
