"""The bodies of responses, for the OpenAPI description. They never validate anything.

What the library's values are written as, field by field, is described by the values themselves.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field, WithJsonSchema

from foveate.answer.check import DanglingMarker
from foveate.answer.quotes import Quotation
from foveate.answer.support import Support
from foveate.core.seal import Manifest
from foveate.core.types import Citation, StageTrace
from foveate.service.wire.requests import Bundle


class ReplayAnswer(BaseModel):
    """What a comparison found."""

    identical: bool
    stage: str = Field(description="The first stage that decided otherwise.")
    first: str = Field(description="Its first decision that differs.")
    causes: list[str] = Field(description="Which input, recipe, tokenizer or version changed.")
    lines: list[str] = Field(description="The same as `foveate replay` prints it.")


Span = tuple[int, int]
LostImages = Annotated[
    list[str] | None,
    Field(
        description="Hashes of images of the context that are left out, because their bytes are "
        "lost or altered; absent without any."
    ),
]


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
    images: list[dict[str, Any]] = Field([], description="Shown behind it; absent without any.")


class ContextOut(BaseModel):
    """A context: the text that is sent, and everything needed to defend it."""

    text: str
    token_count: int
    blocks: list[BlockOut]
    citations: list[Citation]
    trace: list[StageTrace]
    metrics: dict[str, Any]
    manifest: Manifest


class SearchFigures(BaseModel):
    """How candidates were found."""

    badge: str = Field(description="`hybrid`, or `vector_only` where no word was found.")
    lexical_matches: int
    exact: bool = Field(description="Whether every chunk was compared.")


class FoundOut(SearchFigures):
    """How the candidates of a context were found, and how many."""

    candidates: int


class AssembleAnswer(ContextOut):
    """The context, and how its candidates were found."""

    found: FoundOut | None = None
    bundle: Bundle = None
    image_bytes: dict[str, str] | None = Field(
        None, description="By hash, in base64; absent unless asked for."
    )
    lost_images: LostImages = None


class ClaimOut(BaseModel):
    """A sentence that says something. `faults`: what is wrong with it; empty where nothing is."""

    text: str
    span: Span
    markers: list[int]
    faults: list[str]
    support: Support | None
    elsewhere: Support | None
    over_cited: list[int]
    figures: list[str]
    quotations: list[Quotation]
    spoken: bool


class CheckAnswer(BaseModel):
    """An answer, checked. Spans are character ranges of the answer."""

    clean: bool
    support: float | None
    cited: list[int]
    unused: list[int]
    dangling: list[DanglingMarker]
    claims: list[ClaimOut]


class UsageOut(BaseModel):
    """Tokens as the model counts them; `cost` in US dollars at the list price."""

    prompt: int | None
    completion: int | None
    cached: int | None
    cost: float | None


class AskAnswer(BaseModel):
    """An answer with what can be said of it; the last event of a stream holds the same."""

    query: str
    answer: str
    reasoning: str
    warning: str
    model: str
    finish: str
    citations: list[Citation]
    check: CheckAnswer
    usage: UsageOut
    context_tokens: int
    manifest: Manifest
    lost_images: LostImages = None


EVENT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["event", "data"],
    "properties": {
        "event": {"enum": ["context", "text", "citation", "answer", "error"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "description": "One of the events, in this order: `context` (once; as `/v1/assemble` "
    'answers), then `text` (`{"text"}`) and `citation` (`{"text", "start", "citations", '
    '"dangling"}`: a marker and what it stands for) as the model writes, then `answer` (once; as '
    "without `stream`) or `error` (a problem). Lines that begin with a colon say that it is still "
    "at work.",
    "examples": [{"event": "text", "data": '{"text":"Between one and two bar "}'}],
}


class SearchAnswer(SearchFigures):
    """What the store found, the best first."""

    query: str
    candidates: list[Annotated[dict[str, Any], WithJsonSchema({"x-schema": "Candidate"})]]


class PutDocumentAnswer(BaseModel):
    """A document that is kept. The same content again changes nothing of this."""

    id: str
    content_hash: str
    chunks: int
    state_root: str = Field(description="Of all that the caller may read, with this document.")


class UploadedDocument(BaseModel):
    """A document of a file that is kept."""

    id: str
    content_hash: str
    chunks: int
    left_out: dict[str, int] = Field(
        description="What the file shows and its text has not, how much of each kind."
    )


class RefusedFile(BaseModel):
    """A file, or a part of it, that cannot be read, and why."""

    file: str
    detail: str


class UploadAnswer(BaseModel):
    """What was kept of the files, and what was not."""

    documents: list[UploadedDocument]
    refused: list[RefusedFile]
    state_root: str = Field(description="Of all that the caller may read; '' if nothing was kept.")


class DocumentOut(BaseModel):
    """A document without its text."""

    id: str
    source: str
    title: str
    summary: str
    modified_at: datetime | None
    principals: list[str]
    metadata: dict[str, Any]
    content_hash: str


class FullDocumentOut(DocumentOut):
    """A document."""

    text: str


class ListAnswer(BaseModel):
    """The documents that the caller may read whole, by id."""

    documents: list[DocumentOut]
    next: str | None = Field(description="Where the next page begins; null at the end.")


class RecipeSummary(BaseModel):
    """A recipe's name, and what it is for."""

    name: str
    description: str


class RecipesAnswer(BaseModel):
    """All recipes."""

    recipes: list[RecipeSummary]


class RecipeAnswer(RecipeSummary):
    """A recipe, in both spellings."""

    recipe: dict[str, Any] = Field(description="As `recipe` of a request takes it.")
    toml: str = Field(description="As `foveate recipes show` prints it.")


class Limits(BaseModel):
    """How much a request may ask for."""

    body_bytes: int
    candidates: int
    seconds: float


class MeAnswer(BaseModel):
    """What this caller may do, and the names that its requests may use."""

    key: str | None = Field(description="The key's id; null where there are no keys.")
    tenant: str
    principals: list[str]
    scopes: list[str]
    store: bool = Field(description="Whether the caller's tenant has a store to search.")
    recipe: str = Field(description="The recipe of a request that names none.")
    models: list[str] = Field(description="Models that answer; the first is the default.")
    recipes: list[str]
    tokenizers: list[str]
    formats: list[str]
    orders: list[str]
    prompts: list[str]
    languages: list[str]
    limits: Limits
