"""`POST /v1/check-answer`: an answer held against the context that it was given."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from foveate.service.wire.context import Span
from foveate.service.wire.request import Name, RequestModel

_CONTEXT = {"x-schema": "AssembleAnswer"}
_BUNDLE = {"x-schema": "Bundle"}


class CheckRequest(RequestModel):
    """An answer, and its context or its bundle."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["context"]}, {"required": ["bundle"]}]}
    )

    answer: Annotated[str, Field(max_length=200_000, description="What the model wrote.")]
    context: Annotated[dict[str, Any] | None, WithJsonSchema(_CONTEXT)] = None
    bundle: Annotated[dict[str, Any] | None, WithJsonSchema(_BUNDLE)] = None
    query: Annotated[
        str,
        Field(
            max_length=100_000,
            description="The question: figures and words of it count for less. A bundle has it.",
        ),
    ] = ""
    language: Annotated[Name, Field(description="Of the answer.")] = "en"


class SupportOut(BaseModel):
    """A passage and how far it supports a claim, 0 to 1. `context_span` is in characters."""

    marker: int
    score: float
    context_span: Span
    text: str


class QuotationOut(BaseModel):
    """Words in quotation marks: `verbatim`, `altered` or `missing` in what is cited."""

    text: str
    span: Span
    verdict: str


class ClaimOut(BaseModel):
    """A sentence that says something. `faults`: what is wrong with it; empty where nothing is."""

    text: str
    span: Span
    markers: list[int]
    faults: list[str]
    support: SupportOut | None
    elsewhere: SupportOut | None
    over_cited: list[int]
    figures: list[str]
    quotations: list[QuotationOut]


class DanglingOut(BaseModel):
    """A marker that names nothing shown, and why."""

    text: str
    span: Span
    name: str
    reason: str


class CheckAnswer(BaseModel):
    """An answer, checked. Spans are character ranges of the answer."""

    clean: bool
    support: float | None
    cited: list[int]
    unused: list[int]
    dangling: list[DanglingOut]
    claims: list[ClaimOut]
