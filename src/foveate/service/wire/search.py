"""`POST /v1/search`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, WithJsonSchema

from foveate.service.wire.cursor import MAX_LENGTH
from foveate.service.wire.request import Filter, Principals, Query, RequestModel


class SearchRequest(RequestModel):
    """What to look for, and where to go on."""

    query: Query
    limit: Annotated[int, Field(ge=1, le=100, description="At most so many chunks.")] = 10
    depth: Annotated[
        int, Field(ge=1, le=1_000, description="How many each of the two legs looks at.")
    ] = 50
    where: Filter = None
    principals: Principals = None
    cursor: Annotated[
        str | None,
        Field(max_length=MAX_LENGTH, description="`next` of the page before, of the same search."),
    ] = None


class SearchAnswer(BaseModel):
    """What the store found, the best first."""

    query: str
    badge: str = Field(description="`hybrid`, or `vector_only` where no word was found.")
    lexical_matches: int
    exact: bool = Field(description="Whether every chunk was compared.")
    candidates: list[Annotated[dict[str, Any], WithJsonSchema({"x-schema": "Candidate"})]]
    next: str | None = Field(description="Where the next page begins; null at the end.")
