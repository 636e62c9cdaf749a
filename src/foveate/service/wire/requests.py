"""The request models: strict, bounded, and with the fields that several requests share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, get_type_hints

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from foveate.core.errors import UnknownName
from foveate.core.zones import Budget
from foveate.service.wire.errors import NOT_BLANK


class RequestModel(BaseModel):
    """A request: no field that is not known, no value of another type.

    `part`: what errors call a field.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    part: ClassVar[str] = "field"

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, given: Any) -> Any:
        """Suggest the nearest field for an unknown one; the framework does not."""
        if isinstance(given, dict):
            for name in given:
                if name not in cls.model_fields:
                    raise UnknownName(cls.part, str(name), cls.model_fields)
        return given


MAX_FILTERS, MAX_FILTER_VALUES = 32, 1_000
"""Keys of a filter, and values of all its keys together."""


def _check_filter(where: Any) -> Any:
    if isinstance(where, dict):
        lists = (value for value in where.values() if isinstance(value, list))
        if len(where) > MAX_FILTERS or sum(map(len, lists)) > MAX_FILTER_VALUES:
            said = f"must have {MAX_FILTERS} keys and {MAX_FILTER_VALUES:,} values at the most"
            raise PydanticCustomError("too_long", said)
    return where


def _read_whole(value: Any) -> Any:
    """JSON has one kind of number: 5.0 is 5 where an integer is asked for."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = BeforeValidator(_read_whole)
Name = Annotated[str, Field(min_length=1, max_length=200)]
Value = str | int | float | bool
Values = Annotated[list[Value], Field(max_length=MAX_FILTER_VALUES)]
Where = Annotated[dict[str, Value | Values], Field(max_length=MAX_FILTERS)]

Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100_000,
        pattern=NOT_BLANK,
        description="The question.",
        examples=["Which pressure is right?"],
    ),
]
Principals = Annotated[
    Annotated[list[str], Field(max_length=1_000)] | None,
    Field(description="As whom to read: fewer than the key's principals. Absent: all of them."),
]
MAX_PRINCIPAL_LENGTH = 1_000
Readers = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=MAX_PRINCIPAL_LENGTH)]],
    Field(max_length=1_000),
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


if TYPE_CHECKING:
    BudgetIn: TypeAlias = RequestModel
else:
    BudgetIn = create_model(
        "BudgetIn",
        __base__=RequestModel,
        __doc__="Tokens by zone, as `foveate.Budget`.",
        **{
            zone: (ZoneTokens, 0) if kind is int else (PositiveTokens | None, None)
            for zone, kind in get_type_hints(Budget).items()
        },
    )


Tokens = Annotated[
    PositiveTokens | BudgetIn | None,
    Field(description="Tokens for the documents, or zones. Absent: the recipe's.", examples=[800]),
]


class MessageIn(RequestModel):
    """A chat message that shares the window."""

    role: Name
    content: str


Bundle = Annotated[dict[str, Any] | None, WithJsonSchema({"x-schema": "Bundle"})]


class ReplayRequest(RequestModel):
    """One bundle, to be made again; or two, to be compared."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["bundle"]}, {"required": ["a", "b"]}]}
    )

    bundle: Bundle = None
    a: Bundle = None
    b: Bundle = None


Candidates = Annotated[
    list[Any] | None,
    WithJsonSchema(
        {"anyOf": [{"type": "array", "items": {"x-schema": "Candidate"}}, {"type": "null"}]}
    ),
    Field(description="What a retriever found. Absent: the store is searched."),
]


Channel = Annotated[Literal["text", "voice"], Field(description="`voice` shows no markers.")]


class RequestSupplement(RequestModel):
    """Side knowledge that may stand before the context."""

    id: Name
    text: str = Field(min_length=1, max_length=100_000)
    title: str = Field("", max_length=1_000)
    similarity: float = Field(0.0, ge=-1, le=1, description="To the question.")
    principals: Readers = Field([], description="Who may read it; empty: everybody.")


class SharedOptions(RequestModel):
    """The fields of `AssembleOptions` that requests and agents' calls have alike.

    A new option of both is one field here, of its name there.
    """

    where: Filter = None


class ContextRequest(SharedOptions):
    """What a context is to be made of, and how large it may be."""

    candidates: Candidates = None
    neighbours: Annotated[
        list[Any], WithJsonSchema({"type": "array", "items": {"x-schema": "Candidate"}})
    ] = Field(
        default_factory=list,
        description="Chunks beside the candidates, for recipes that expand; no scores.",
    )
    supplements: list[RequestSupplement] = Field(
        default_factory=list,
        max_length=1_000,
        description="Side knowledge, for recipes with a gate for it.",
    )
    intent: str = Field(
        "", max_length=1_000, description="What the question is after, for that gate."
    )
    query_embedding: list[float] | None = Field(
        None,
        max_length=16_384,
        description="The question's vector, instead of one that the service makes.",
    )
    limit: int = Field(20, ge=1, le=1_000, description="How many candidates a search brings.")
    depth: int = Field(50, ge=1, le=1_000, description="How many each of its two legs looks at.")
    budget: Tokens = None
    recipe: RecipeIn = None
    principals: Principals = None
    language: Name = Field("en", description="Of the texts and of the prompt.")
    channel: Channel = "text"
    keep: int | None = Field(
        None, ge=1, description="How many of the best candidates go on. Absent: all."
    )
    format: Name | None = Field(None, description="Another format than the recipe's.")
    order: Name | None = Field(None, description="Another order than the recipe's.")
    messages: list[MessageIn] = Field(
        default_factory=list, max_length=1_000, description="What else shares the window."
    )
    extra_instructions: str = Field(
        "", max_length=100_000, description="The last paragraph of the system prompt."
    )
    template: str = Field(
        "",
        max_length=100_000,
        description="Layout of the user's message, with `{context}` and `{question}` in it.",
    )


class AssembleRequest(ContextRequest):
    """Candidates, or a search of the store, to a context that fits."""

    query: Query
    tokenizer: Name | None = Field(None, description="What counts; `GET /v1/me` lists them.")
    model: Name | None = Field(None, description="Take this model's tokenizer and window instead.")
    max_output: PositiveTokens = Field(
        1024, description="Of that window, the tokens kept for the answer."
    )
    prompt: Name | None = Field(None, description="The system prompt that is sent along, by name.")
    bundle: bool = Field(
        False, description="Send along all that a replay needs, the candidates included."
    )
    image_bytes: bool = Field(
        False, description="Send along the bytes of the images that the context shows."
    )


class CheckRequest(RequestModel):
    """An answer, and its context or its bundle."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["context"]}, {"required": ["bundle"]}]}
    )

    answer: str = Field(max_length=200_000, description="What the model wrote.")
    context: Annotated[dict[str, Any] | None, WithJsonSchema({"x-schema": "AssembleAnswer"})] = None
    bundle: Bundle = None
    query: str = Field(
        "",
        max_length=100_000,
        description="The question: figures and words of it count for less. A bundle has it.",
    )
    language: Name = Field("en", description="Of the answer.")
    channel: Literal["text", "voice"] = Field(
        "text", description="`voice`: no marker is asked for; sources are found by what is said."
    )


class AskRequest(ContextRequest):
    """A question, and who is to answer it."""

    question: Query
    model: Name | None = Field(None, description="One of the models of `GET /v1/me` [the first].")
    prompt: Name = Field("grounded", description="The system prompt, by name.")
    max_tokens: int | None = Field(
        None, ge=1, le=1_000_000, description="Tokens of the answer, at the most."
    )
    temperature: float = Field(0.0, ge=0, le=2, description="Of the model.")
    stream: bool = Field(
        True, description="As it is written (text/event-stream), or as one JSON object."
    )


class SearchRequest(RequestModel):
    """What to look for."""

    query: Query
    limit: int = Field(10, ge=1, le=1_000, description="At most so many chunks.")
    depth: int = Field(50, ge=1, le=1_000, description="How many each of the two legs looks at.")
    where: Filter = None
    principals: Principals = None


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
    principals: Readers = Field([], description="Who may read it; empty: everybody in the tenant.")
    metadata: Annotated[
        dict[str, JsonValue], Field(description="Whatever searches are to be filtered by.")
    ] = Field(default_factory=dict)


class ListRequest(RequestModel):
    """Which page."""

    model_config = ConfigDict(strict=False)  # the parameters of an address are texts
    part: ClassVar[str] = "parameter"

    cursor: str = Field("", max_length=4_096, description="`next` of the last.")
    limit: int = Field(100, ge=1, le=1_000, description="Documents of a page.")
