"""What an assembly is given: a recipe and its inputs, and the request that its stages see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias

from foveate.core.contracts import Format
from foveate.core.token_counter import TokenCounter
from foveate.core.types import Candidate, Chunk, Number, Step, Supplement, Vector
from foveate.core.zones import Budget


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


Stage: TypeAlias = Callable[[tuple[Candidate, ...], Request], Step]
"""A pure step. A frozen dataclass with `__call__`, or a plain function."""


class CanonicalRecipe(NamedTuple):
    """How a recipe is typed: each stage by name and in full, the format, and a hash of it all."""

    names: tuple[str, ...]
    stages: tuple[str, ...]
    format: str
    recipe: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A named tuple of stages and a renderer, as a value.

    `cite`: what a marker stands for, a chunk (block) or its document. `summary_label` is put
    before a page summary; empty leaves summaries out. `include_metadata` names the keys that a
    header shows. `budget` and `tokenizer` are used when the caller names none.
    """

    name: str
    stages: tuple[Stage, ...]
    format: Format
    description: str = ""
    cite: Literal["chunk", "document"] = "chunk"
    summary_label: str = "Page context"
    include_metadata: tuple[str, ...] = ()
    budget: Budget = field(default_factory=Budget)
    tokenizer: str = "cl100k_base"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Everything an assembly reads, the tokenizer's vocabulary apart. A bundle is this, in JSON.

    `candidates` are already filtered by `principals`. `messages` are the chat messages that share
    the window with the context, as (role, content) pairs. `state_root` names the store's content;
    `exact` says whether its search compared every row, else `index` names what chose some.
    `notes`: what was done before, or could not be, for the trace's first entry; decides nothing.
    `offers`: shorter versions of texts that a model was asked for, as `compress` wants them.
    `image_formula`: what counts images (`images/tokens.py`); empty: the format's own.
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
    image_formula: str = ""


CompressionMethod: TypeAlias = Literal["llm_extract", "llm_abstract"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A shorter version of one text that a model gave, or why there is none.

    `key`: the text's content hash. `way`: what was asked for. `spans`: the ranges of the text that
    it copied out (`llm_extract`), `text`: what it wrote (`llm_abstract`); or it found all of it
    `irrelevant`. `why`: what was wrong, where none of these. `by`: the model's name.
    """

    key: str
    way: CompressionMethod
    spans: tuple[tuple[int, int], ...] = ()
    text: str = ""
    irrelevant: bool = False
    why: str = ""
    by: str = ""
