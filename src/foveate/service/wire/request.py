"""What all requests share: strictness, and the fields that several of them have."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from foveate.core.errors import UnknownName


class RequestModel(BaseModel):
    """A request: no field that is not known, no value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, given: Any) -> Any:
        """Name the near miss; the framework's own words for it do not."""
        if isinstance(given, dict):
            for name in given:
                if name not in cls.model_fields:
                    raise UnknownName("field", str(name), cls.model_fields)
        return given


def max_items(most: int) -> BeforeValidator:
    """Refuse a list that is too long before any of its values is looked at.

    The framework looks at all of them and says of each what is wrong: of a million nulls, which
    are packed to nothing, that is more than the machine has memory.
    """

    def checked(value: Any) -> Any:
        if isinstance(value, list) and len(value) > most:
            raise PydanticCustomError("too_long", f"must have {most:,} values at the most")
        return value

    return BeforeValidator(checked)


MAX_FILTERS, MAX_FILTER_VALUES = 32, 1_000
"""Keys of a filter, and values of all its keys together."""


def _check_filter(where: Any) -> Any:
    """The same for a filter."""
    if isinstance(where, dict):
        lists = (value for value in where.values() if isinstance(value, list))
        if len(where) > MAX_FILTERS or sum(map(len, lists)) > MAX_FILTER_VALUES:
            said = f"must have {MAX_FILTERS} keys and {MAX_FILTER_VALUES:,} values at the most"
            raise PydanticCustomError("too_long", said)
    return where


Name = Annotated[str, Field(min_length=1, max_length=200)]
Value = str | int | float | bool
Values = Annotated[list[Value], Field(max_length=MAX_FILTER_VALUES)]
Where = Annotated[dict[str, Value | Values], Field(max_length=MAX_FILTERS)]

Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100_000,
        pattern=r"[^\s\x1c-\x1f\x85]",
        description="The question.",
        examples=["Which pressure is right?"],
    ),
]
Principals = Annotated[
    Annotated[list[str], max_items(1_000), Field(max_length=1_000)] | None,
    Field(
        description="As whom to read: fewer than the key's principals. Absent: all of them.",
    ),
]
Filter = Annotated[
    Where | None,
    BeforeValidator(_check_filter),
    Field(
        description="Only chunks with these values: of `source`, `document_id`, `title`, `id`, "
        "`section`, `page`, `row`, `line`, `sequence`, else of their metadata. A list: any of.",
        examples=[{"source": ["boiler.md", "pump.md"]}],
    ),
]
RecipeIn = Annotated[
    str | dict[str, Any] | None,
    Field(
        description="A recipe's name (`GET /v1/recipes`), or a recipe as an object of the form "
        "that `GET /v1/recipes/{name}` shows.",
        examples=["default"],
    ),
]


MAX_TOKENS = 10_000_000
PositiveTokens = Annotated[int, Field(ge=1, le=MAX_TOKENS)]
ZoneTokens = Annotated[int, Field(ge=0, le=MAX_TOKENS)]


class BudgetIn(RequestModel):
    """Tokens by zone, as `foveate.Budget`."""

    documents: PositiveTokens | None = None
    characters: PositiveTokens | None = None
    window: PositiveTokens | None = None
    system: ZoneTokens = 0
    conversation: ZoneTokens = 0
    query: ZoneTokens = 0
    generation: ZoneTokens = 0
    buffer: ZoneTokens = 0
    per_message: ZoneTokens = 0
    per_reply: ZoneTokens = 0


Tokens = Annotated[
    PositiveTokens | BudgetIn | None,
    Field(description="Tokens for the documents, or zones. Absent: the recipe's.", examples=[800]),
]


class MessageIn(RequestModel):
    """A chat message that shares the window."""

    role: Name
    content: str
