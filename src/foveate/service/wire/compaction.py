"""The bodies of `POST /v1/compact` and `/v1/expand`, and answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from foveate.service.wire.requests import (
    Name,
    PositiveTokens,
    Principals,
    RequestModel,
    Whole,
)

MAX_MESSAGES = 100_000
Purpose = Annotated[str, Field(max_length=100_000)]


class CompactRequest(RequestModel):
    """An agent's message list, what is to be kept of it, and how large it may be."""

    messages: Annotated[
        list[dict[str, Any]],
        Field(
            min_length=1,
            max_length=MAX_MESSAGES,
            description="OpenAI Chat messages, Responses items, Anthropic messages or Gemini "
            "contents.",
        ),
    ]
    tools: list[dict[str, Any]] = Field(
        [], max_length=10_000, description="Tool schemas, which share the budget."
    )
    query: Purpose = Field("", description="What tool results are shortened for.")
    pinned: list[Annotated[int, Whole]] = Field(
        [],
        max_length=MAX_MESSAGES,
        description="Places of messages that stay verbatim, counted from 0.",
    )
    budget: PositiveTokens | None = Field(
        None, description="Tokens of contents, arguments and tools. Absent: the model's window."
    )
    tools_budget: PositiveTokens | None = Field(
        None, description="Tokens of the tools, within the budget. Absent: all tools are sent."
    )
    tokenizer: Name | None = Field(
        None, description="What counts: of the list in `GET /v1/me`, or one with a factor."
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
