"""`POST /v1/assemble`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from foveate.service.wire.context import ContextOut, FoundOut
from foveate.service.wire.request import (
    Filter,
    MessageIn,
    Name,
    Principals,
    Query,
    RecipeIn,
    RequestModel,
    Tokens,
    max_items,
)

Candidates = Annotated[
    list[Any] | None,
    WithJsonSchema(
        {"anyOf": [{"type": "array", "items": {"x-schema": "Candidate"}}, {"type": "null"}]}
    ),
    Field(description="What a retriever found. Absent: the store is searched."),
]


class ContextRequest(RequestModel):
    """What a context is to be made of, and how large it may be."""

    candidates: Candidates = None
    where: Filter = None
    limit: Annotated[
        int, Field(ge=1, le=1_000, description="How many candidates a search brings.")
    ] = 20
    depth: Annotated[
        int, Field(ge=1, le=1_000, description="How many each of its two legs looks at.")
    ] = 50
    budget: Tokens = None
    recipe: RecipeIn = None
    principals: Principals = None
    language: Annotated[Name, Field(description="Of the texts and of the prompt.")] = "en"
    channel: Annotated[Literal["text", "voice"], Field(description="`voice` shows no markers.")] = (
        "text"
    )


class AssembleRequest(ContextRequest):
    """Candidates, or a search of the store, to a context that fits."""

    query: Query
    tokenizer: Annotated[
        Name | None, Field(description="What counts; `GET /v1/me` lists them.")
    ] = None
    model: Annotated[
        Name | None, Field(description="Take this model's tokenizer and window instead.")
    ] = None
    format: Annotated[Name | None, Field(description="Another format than the recipe's.")] = None
    order: Annotated[
        Name | None,
        Field(description="Another order than the recipe's; `attention:CURVE` by a published one."),
    ] = None
    messages: Annotated[
        list[MessageIn],
        max_items(1_000),
        Field(max_length=1_000, description="What else shares the window."),
    ] = Field(default_factory=list)
    prompt: Annotated[
        Name | None, Field(description="The system prompt that is sent along, by name.")
    ] = None
    bundle: Annotated[
        bool, Field(description="Send along all that a replay needs, the candidates included.")
    ] = False


class AssembleAnswer(ContextOut):
    """The context, and how its candidates were found."""

    found: FoundOut | None = None
    bundle: Annotated[dict[str, Any] | None, WithJsonSchema({"x-schema": "Bundle"})] = None
