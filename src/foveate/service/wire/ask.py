"""`POST /v1/ask`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from foveate.service.wire.assemble import ContextRequest
from foveate.service.wire.check import CheckAnswer
from foveate.service.wire.context import CitationOut, ManifestOut, Span
from foveate.service.wire.request import Name, Query


class AskRequest(ContextRequest):
    """A question, and who is to answer it."""

    question: Query
    model: Annotated[
        Name | None, Field(description="One of the models of `GET /v1/me` [the first].")
    ] = None
    prompt: Annotated[Name, Field(description="The system prompt, by name.")] = "grounded"
    max_tokens: Annotated[
        int | None, Field(ge=1, le=1_000_000, description="Tokens of the answer, at the most.")
    ] = None
    stream: Annotated[
        bool, Field(description="As it is written (text/event-stream), or as one JSON object.")
    ] = True


class UsageOut(BaseModel):
    """Tokens as the model counts them; `cost` in US dollars at the list price."""

    prompt: int | None
    completion: int | None
    cached: int | None
    cost: float | None


class ProviderCitationOut(BaseModel):
    """A citation of the provider's own that holds. `span`: in the answer, in characters."""

    kind: str
    span: Span
    markers: list[int]
    cited_text: str
    context_spans: list[Span]
    document_spans: list[Span]


class RefusedCitationOut(BaseModel):
    """One that does not hold, and why."""

    kind: str
    span: Span
    reason: str
    markers: list[int]
    cited_text: str


class AskAnswer(BaseModel):
    """An answer with what can be said of it; the last event of a stream holds the same."""

    query: str
    answer: str
    model: str
    finish: str
    citations: list[CitationOut]
    given: list[ProviderCitationOut]
    refused: list[RefusedCitationOut]
    check: CheckAnswer
    usage: UsageOut
    context_tokens: int
    manifest: ManifestOut


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
