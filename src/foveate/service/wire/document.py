"""`/v1/documents`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from foveate.core.errors import UnknownName
from foveate.service.wire.cursor import MAX_LENGTH
from foveate.service.wire.request import RequestModel, max_items

MediaType = Literal["text/plain", "text/markdown", "text/html"]
Text = Annotated[str, Field(max_length=10_000)]


class DocumentRequest(RequestModel):
    """A document, to be cut into chunks and kept. What is left out is taken from the text."""

    text: Annotated[str, Field(min_length=1, description="The document itself.")]
    media_type: Annotated[MediaType, Field(description="How the text is written.")] = "text/plain"
    source: Annotated[Text | None, Field(description="Path or URL to be cited [the id].")] = None
    title: Annotated[Text | None, Field(description="[its first heading, or the id]")] = None
    summary: Annotated[Text | None, Field(description="What the whole of it is about.")] = None
    modified_at: Annotated[
        str | None,
        Field(max_length=64, description="ISO 8601.", json_schema_extra={"format": "date-time"}),
    ] = None
    principals: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=1_000)]],
        max_items(1_000),
        Field(max_length=1_000, description="Who may read it; empty: everybody in the tenant."),
    ] = Field(default_factory=list)
    metadata: Annotated[
        dict[str, JsonValue], Field(description="Whatever searches are to be filtered by.")
    ] = Field(default_factory=dict)


class PutDocumentAnswer(BaseModel):
    """A document that is kept. The same content again changes nothing of this."""

    id: str
    content_hash: str
    chunks: int
    state_root: str = Field(description="Of all that the caller may read, with this document.")


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


class ListRequest(BaseModel):
    """Which page."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cursor: Annotated[
        str | None, Field(max_length=MAX_LENGTH, description="`next` of the last.")
    ] = None
    limit: Annotated[int, Field(ge=1, le=1_000, description="Documents of a page.")] = 100

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, given: Any) -> Any:
        for name in given if isinstance(given, dict) else ():
            if name not in cls.model_fields:
                raise UnknownName("parameter", str(name), cls.model_fields)
        return given
