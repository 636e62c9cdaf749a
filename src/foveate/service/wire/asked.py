"""What all requests share: strictness, and the fields that several of them have."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from foveate.core.errors import UnknownName


class Asked(BaseModel):
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


Name = Annotated[str, Field(min_length=1, max_length=200)]
Value = str | int | float | bool
Where = dict[str, Value | list[Value]]

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
    list[str] | None,
    Field(
        max_length=1_000,
        description="As whom to read: fewer than the key's principals. Absent: all of them.",
    ),
]
Filter = Annotated[
    Where | None,
    Field(
        description="Only chunks with these values: of `source`, `document_id`, `title`, `id`, "
        "`section`, `page`, `row`, `line`, `sequence`, else of their metadata. A list: any of.",
        examples=[{"source": ["boiler.md", "pump.md"]}],
    ),
]
RecipeAsked = Annotated[
    str | dict[str, Any] | None,
    Field(
        description="A recipe's name (`GET /v1/recipes`), or a recipe as an object of the form "
        "that `GET /v1/recipes/{name}` shows.",
        examples=["default"],
    ),
]


LARGEST = 10_000_000
Some = Annotated[int, Field(ge=1, le=LARGEST)]
Zone = Annotated[int, Field(ge=0, le=LARGEST)]


class BudgetAsked(Asked):
    """Tokens by zone, as `foveate.Budget`."""

    documents: Some | None = None
    characters: Some | None = None
    window: Some | None = None
    system: Zone = 0
    conversation: Zone = 0
    query: Zone = 0
    generation: Zone = 0
    buffer: Zone = 0
    per_message: Zone = 0
    per_reply: Zone = 0


Tokens = Annotated[
    Some | BudgetAsked | None,
    Field(description="Tokens for the documents, or zones. Absent: the recipe's.", examples=[800]),
]


class MessageAsked(Asked):
    """A chat message that shares the window."""

    role: Name
    content: str
