"""OpenAI's Agents SDK: the input of each model call fits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from foveate.integrations.compaction import CompactionOptions, compact_items, tool_schema
from foveate.integrations.known_options import refuse_unknown_options


@refuse_unknown_options
@dataclass(kw_only=True, eq=False)
class FoveateCompaction(CompactionOptions):
    """A `call_model_input_filter` of a `RunConfig`; the run and its session keep all items.

    The agent's instructions, function tools and handoffs count within the budget; tools of MCP
    servers do not. Where the server keeps the conversation (`conversation_id`,
    `previous_response_id`), the list holds the new items alone and is no use to compact.
    """

    def __call__(self, data: Any) -> Any:
        """The model's input with the items that fit; raises as `foveate.compact` does."""
        from agents import Handoff, handoff

        beside = [
            tool_schema(tool.name, tool.description, tool.params_json_schema)
            for tool in data.agent.tools
            if hasattr(tool, "params_json_schema")
        ]
        for target in data.agent.handoffs:
            known = target if isinstance(target, Handoff) else handoff(target)
            name, schema = known.tool_name, known.input_json_schema
            beside.append(tool_schema(name, known.tool_description, schema))
        if data.model_data.instructions:
            beside.append({"instructions": data.model_data.instructions})
        items = compact_items(self, data.model_data.input, form="responses", beside=beside)
        return replace(data.model_data, input=items)
