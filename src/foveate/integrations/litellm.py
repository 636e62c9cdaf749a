"""LiteLLM: the messages of each asynchronous call fit, of a program or of a router."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from litellm.integrations.custom_logger import CustomLogger

from foveate.integrations.compaction import CompactionOptions, compact_items
from foveate.integrations.known_options import refuse_unknown_options

_LISTS = {
    "acompletion": ("messages", "openai"),
    "anthropic_messages": ("messages", "anthropic"),
    "aresponses": ("input", "responses"),
}
"""By kind of call: the argument that holds the list, and its form."""


@refuse_unknown_options
@dataclass(kw_only=True, eq=False)
class FoveateCompaction(CompactionOptions, CustomLogger):  # type: ignore[misc]
    """A callback: `litellm.callbacks = [FoveateCompaction(budget=8_000)]`.

    LiteLLM lets callbacks change asynchronous calls only, by arguments that are given by name. For
    `litellm.completion`, call the object: `messages=fit(messages, tools)`. Tools, `system` and
    `instructions` count within the budget.
    """

    def __post_init__(self) -> None:
        CustomLogger.__init__(self)

    def __call__(
        self, messages: Iterable[Any], tools: Iterable[Mapping[str, Any]] = ()
    ) -> list[Any]:
        """The messages, in OpenAI's form, that fit; raises as `foveate.compact` does."""
        return self._fit(messages, "openai", tools)

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: Any
    ) -> dict[str, Any] | None:
        """The arguments of a call with the messages that fit."""
        name, form = _LISTS.get(getattr(call_type, "value", ""), ("", ""))
        if not isinstance(kwargs.get(name), list):
            return None
        beside = [
            *(kwargs.get("tools") or ()),
            *({key: kwargs[key]} for key in ("system", "instructions") if kwargs.get(key)),
        ]
        return {**kwargs, name: await asyncio.to_thread(self._fit, kwargs[name], form, beside)}

    def _fit(
        self, messages: Iterable[Any], form: str, beside: Iterable[Mapping[str, Any]]
    ) -> list[Any]:
        return compact_items(self, messages, form=form, beside=beside)
