"""All tools of a server, with its limits, recipes and formats in their schemas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator, Field, WithJsonSchema, create_model

from foveate.core.errors import UnknownName
from foveate.service.mcp.tools import (
    Assemble,
    Check,
    Compact,
    Expand,
    GetDocument,
    Handle,
    ListDocuments,
    Observed,
    Search,
    Texts,
    Tool,
    ToolLimits,
    Whole,
)


def build_tools(
    limits: ToolLimits, recipes: Iterable[str], formats: Iterable[str], *, recipe: str = "default"
) -> tuple[type[Tool], ...]:
    """All of them, within these limits; `recipe` is that of a call that names none."""
    usual = min(limits.usual_budget, limits.budget)
    own = {
        "budget": (Annotated[int, Field(ge=1, le=limits.budget), Whole], usual),
        "recipe": (_one_of("recipe", tuple(recipes)), recipe),
        "format": (_one_of("format", tuple(formats)) | None, None),
        "candidates": (Annotated[Texts, Field(max_length=limits.candidates)], None),
    }

    def within(tool: type[Tool]) -> type[Tool]:
        fields: dict[str, Any] = {
            name: (kind, Field(default, description=tool.model_fields[name].description))
            for name, (kind, default) in own.items()
            if name in tool.model_fields
        }
        if tool is Check:
            fields["context"] = (within(Handle), tool.model_fields["context"])
        return create_model(tool.__name__, __base__=tool, __doc__=tool.__doc__, **fields)

    tools = (Assemble, Search, Check, Compact, Expand, Observed, ListDocuments, GetDocument)
    return tuple(within(tool) for tool in tools)


def _one_of(kind: str, names: tuple[str, ...]) -> Any:
    def check(name: str) -> str:
        if name not in names:
            raise UnknownName(kind, name, names)
        return name

    return Annotated[
        str, AfterValidator(check), WithJsonSchema({"type": "string", "enum": list(names)})
    ]
