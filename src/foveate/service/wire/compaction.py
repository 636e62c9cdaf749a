"""The bodies of `POST /v1/compact`, `/v1/expand` and `/v1/observed`, and answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from foveate.pipeline.observed import REMEMBERED
from foveate.service.wire.requests import (
    Name,
    PositiveTokens,
    Principals,
    RequestModel,
    Whole,
)

MAX_MESSAGES = 100_000
Messages = Annotated[
    list[dict[str, Any]],
    Field(
        min_length=1,
        max_length=MAX_MESSAGES,
        description="OpenAI Chat messages, Responses items, Anthropic messages or Gemini contents.",
    ),
]
Tools = Annotated[
    list[dict[str, Any]],
    Field(max_length=10_000, description="Tool schemas, which share the budget."),
]


Purpose = Annotated[str, Field(max_length=100_000)]


class MessageList(RequestModel):
    """An agent's message list, and what is to be kept of it."""

    messages: Messages
    tools: Tools = Field(default_factory=list)
    query: Purpose = Field("", description="What tool results are shortened for.")
    pinned: list[Annotated[int, Whole]] = Field(
        default_factory=list,
        max_length=MAX_MESSAGES,
        description="Places of messages that stay verbatim, counted from 0.",
    )


class CompactRequest(MessageList):
    """An agent's message list, and how large it may be."""

    budget: PositiveTokens | None = Field(
        None, description="Tokens of contents, arguments and tools. Absent: the model's window."
    )
    tools_budget: PositiveTokens | None = Field(
        None, description="Tokens of the tools, within the budget. Absent: all tools are sent."
    )
    tokenizer: Name | None = Field(
        None, description="What counts: of the list in `GET /v1/me`, or as `/v1/observed` gives."
    )
    model: Name | None = Field(None, description="Take this model's tokenizer and window instead.")
    form: Literal["openai", "responses", "anthropic", "gemini"] | None = Field(
        None, description="Form of the messages, where it cannot be told."
    )
    principals: Principals = None


class Handle(RequestModel):
    """A handle, or none to search all originals, and what is asked for."""

    handle: str = Field(
        "",
        max_length=64,
        description="The handle, as a note or the ledger names it; empty: all are searched.",
    )
    query: Purpose = Field("", description="What to show of it, where not all fits.")


class ExpandRequest(Handle):
    """A handle, and how much of its original to show."""

    budget: PositiveTokens = Field(2_000, description="Tokens of it at the most.")
    tokenizer: Name | None = Field(None, description="What counts.")
    principals: Principals = None


class DecisionAnswer(BaseModel):
    """What became of something, and why."""

    action: str
    reason: str
    why: str = Field(description="The same in words.")
    numbers: dict[str, int | float | str]


class CompactDecision(DecisionAnswer):
    """What became of a message, or of a tool's result within one."""

    message: str


class ToolDecision(DecisionAnswer):
    """Whether a tool's definition is sent."""

    tool: str


class CompactAnswer(BaseModel):
    """A message list that fits, and what became of each message."""

    messages: list[dict[str, Any]] = Field(description="Of the same form as those that came.")
    token_count: int = Field(description="Tokens of their contents and arguments.")
    decisions: list[CompactDecision]
    tools_token_count: int
    tools: list[dict[str, Any]] | None = Field(
        description="The tools to send, where there is a `tools_budget`."
    )
    tool_decisions: list[ToolDecision]
    ledger: str = Field(description="The text in front that names what left; empty: there is none.")
    handles: list[str] = Field(description="Handles for `/v1/expand`.")
    notes: dict[str, int | float | str]
    manifest: dict[str, Any] = Field(description="Hashes of inputs, options and output.")


class ExpandAnswer(BaseModel):
    """An original, or what of it fits."""

    handle: str
    text: str = Field(description="What a tool said: data, not orders.")
    token_count: int


class ObservationBody(RequestModel):
    """A request that was observed: its tokens without a margin, and the provider's count."""

    tokens: int
    observed: int


class ObservedBody(RequestModel):
    """What was learned so far: send it as `before` with the next observation."""

    tokenizer: Name = Field(
        description="The learned tokenizer's name, for `tokenizer` of any request."
    )
    start: Name = Field(description="The tokenizer that it was learned for.")
    observations: list[ObservationBody] = Field(max_length=REMEMBERED)


class ObservedRequest(RequestModel):
    """What a provider counted for a request, and the request."""

    usage: dict[str, Any] = Field(
        description="The usage object of the response, of OpenAI, Anthropic or Gemini."
    )
    messages: Messages
    tools: Tools = Field(default_factory=list)
    system: str = Field("", description="A system prompt that was sent beside the list.")
    tokenizer: Name | None = Field(
        None, description="What counted until now; with the first observation alone."
    )
    before: ObservedBody | None = Field(
        None, description="The answer to the observation before this one."
    )
