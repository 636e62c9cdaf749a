"""Tool definitions as the providers spell them: read one by one, and a part of them written again.

OpenAI's Chat has them in `function`, its Responses API, Anthropic, MCP and pydantic-ai at the top
of the entry, Gemini several in one entry. What is no definition, such as a provider's own web
search, is carried as it came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foveate.core.compact.entries import Json
from foveate.core.compact.ledger_text import one_line
from foveate.core.errors import BadInput
from foveate.core.json_text import compact_json

FIND_TOOLS = "find_tools"
"""Name of the tool that is added; a definition of that name is taken for it."""
_BODIES = ("function", "custom")
_SCHEMAS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
_SCHEMAS_SNAKE = ("parameters_json_schema", "parameters_schema")
_GROUPS = ("functionDeclarations", "function_declarations")
_OWN_TYPES = (None, "function", "custom")
"""Types of entries with a definition; others are tools that the provider runs itself."""
_QUERY = {"type": "string", "description": "Names of tools, or what a tool should do."}
_PARAMETERS = {"type": "object", "properties": {"query": _QUERY}, "required": ["query"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """A tool: `value` is its definition as it came, in entry `place`, `slot` among several."""

    name: str
    description: str
    schema: Any
    value: Json
    place: int
    slot: int = -1


def read_definitions(tools: Sequence[Json]) -> list[ToolDefinition]:
    """The definitions in entries of any form; raises `BadInput` naming a tool that is there twice.

    A tool of the name `find_tools` must have `query` as its only parameter.
    """
    found = [one for place, tool in enumerate(tools) for one in _read_entry(place, tool)]
    twice = [name for name, times in Counter(one.name for one in found).items() if times > 1]
    if twice:
        raise BadInput(f"two tools have the name {one_line(twice[0])[:80]!r}", field="tools")
    for one in found:
        if one.name == FIND_TOOLS and _parameters(one.schema) != {"query"}:
            what = "is the name of the tool that compact adds; give this one another name"
            raise BadInput(f"{FIND_TOOLS!r} {what}", field="tools")
    return found


def _read_entry(place: int, tool: Json) -> Iterator[ToolDefinition]:
    if not isinstance(tool, Mapping):
        raise BadInput(f"tool {place + 1} must be a mapping", field="tools")
    try:
        compact_json(tool)  # what holds itself, or is nested too deeply, could not be walked
    except BadInput as error:
        what = str(error).removeprefix("field 'messages': ")
        raise BadInput(f"tool {place + 1} {what}", field="tools") from None
    if group := _group_key(tool):
        for slot, one in enumerate(tool[group]):
            if not isinstance(one, Mapping) or not isinstance(one.get("name"), str):
                raise BadInput(f"tool {place + 1} has a declaration without a name", field="tools")
            yield _definition(one, one, place, slot)
        return
    bodies = (tool.get(key) for key in _BODIES)
    body = next((body for body in bodies if isinstance(body, Mapping)), tool)
    if isinstance(body.get("name"), str) and tool.get("type") in _OWN_TYPES:
        yield _definition(body, tool, place, -1)


def _definition(body: Json, value: Json, place: int, slot: int) -> ToolDefinition:
    said = body.get("description")
    return ToolDefinition(
        name=body["name"],
        description=said if isinstance(said, str) else "",
        schema=body.get(_schema_key(body)),
        value=value,
        place=place,
        slot=slot,
    )


def _schema_key(body: Json) -> str:
    return next((key for key in (*_SCHEMAS, *_SCHEMAS_SNAKE) if key in body), _SCHEMAS[0])


def _parameters(schema: Any) -> set[str] | None:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return set(properties) if isinstance(properties, Mapping) else None


def _group_key(tool: Json) -> str:
    return next((key for key in _GROUPS if isinstance(tool.get(key), list | tuple)), "")


def without_definitions(tools: Sequence[Json], known: Sequence[ToolDefinition]) -> list[Json]:
    """The entries without their definitions, those that are nothing else left out."""
    places = {one.place for one in known if one.slot < 0}
    left = [tool for place, tool in enumerate(tools) if place not in places]
    return [{**tool, group: []} if (group := _group_key(tool)) else tool for tool in left]


def write_definitions(
    tools: Sequence[Json],
    known: Sequence[ToolDefinition],
    chosen: Collection[str],
    description: str,
) -> list[Json]:
    """The entries with the chosen definitions alone, in their order, and `find_tools`.

    `known`: all definitions in them. `description`: that of `find_tools`, which stands behind the
    others, or where it came.
    """
    added = find_tools_definition(tools, known, description)
    waiting = all(one.name != FIND_TOOLS for one in known)
    values = {(one.place, one.slot): added if one.name == FIND_TOOLS else one.value
              for one in known if one.name == FIND_TOOLS or one.name in chosen}  # fmt: skip
    places = {one.place for one in known}
    last = max((one.place for one in known if one.slot >= 0), default=-1)
    sent: list[Json] = []
    for place, tool in enumerate(tools):
        if group := _group_key(tool):
            kept = [values[key] for n in range(len(tool[group])) if (key := (place, n)) in values]
            kept += [added] * (waiting and place == last)
            if kept or len(tool) > 1:
                sent.append({**tool, group: kept})
        elif place not in places:
            sent.append(tool)
        elif (place, -1) in values:
            sent.append(values[place, -1])
    return [*sent, added] if waiting and last < 0 else sent


def find_tools_definition(
    tools: Sequence[Json], known: Sequence[ToolDefinition], description: str
) -> dict[str, Any]:
    """The definition of `find_tools`, spelled as the first with parameters is."""
    like = next((one for one in known if one.schema is not None), known[0])
    tool = tools[like.place]
    inner = like.value.get("function") if like.slot < 0 else None
    nested = isinstance(inner, Mapping) or isinstance(like.value.get("custom"), Mapping)
    key = _schema_key(inner if isinstance(inner, Mapping) else like.value)
    body = {"name": FIND_TOOLS, "description": description, key: _PARAMETERS}
    if nested:
        return {"type": "function", "function": body}
    is_function = like.slot < 0 and tool.get("type") == "function"
    return {"type": "function", **body} if is_function else body
