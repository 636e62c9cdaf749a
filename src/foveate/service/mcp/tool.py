"""What every tool is made of: its arguments as a type, what its calls work with, their limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from foveate.core.errors import FoveateError
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.options import AssembleOptions
from foveate.service.mcp.results import ToolResult
from foveate.service.wire.requests import RequestModel, Whole
from foveate.stores.originals import OriginalStore


class ToolCallError(FoveateError):
    """A wrong call; the message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLimits:
    """Limits of a call: tokens (of one that names no budget, and the most), and candidates."""

    budget: int = 32_000
    usual_budget: int = 4_000
    candidates: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What the calls of one caller work with, and the tools that it may use.

    `assembler(options, store=…)`: an assembler with the caller's ports, while a call needs it.
    `options(recipe=…, budget=…, …)`: the options of a call, whose names come from closed lists.
    `record` is called with a result before it is sent.
    """

    assembler: Callable[..., AbstractContextManager[Assembler]]
    options: Callable[..., AssembleOptions]
    principals: tuple[str, ...] = ()
    limits: ToolLimits = field(default_factory=ToolLimits)
    originals: OriginalStore | Mapping[str, str] = field(default_factory=dict)
    tenant: str = ""
    tools: tuple[type[Tool], ...] = ()
    record: Callable[[ToolResult], None] = lambda _: None


class Tool(RequestModel):
    """The arguments of a call, and its work; `scope` is what a key needs."""

    part: ClassVar[str] = "argument"
    name: ClassVar[str]
    scope: ClassVar[str] = "assemble"
    output: ClassVar[type[BaseModel]]

    def run(self, context: ToolContext) -> ToolResult:
        """The result of the call; raises `ToolCallError` or the errors of the library."""
        raise NotImplementedError


Limit = Annotated[int, Field(ge=1, le=100), Whole]
ShortText = Annotated[str, Field(max_length=4_000)]
