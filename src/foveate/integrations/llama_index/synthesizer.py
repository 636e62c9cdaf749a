"""The response synthesizer: one context, one call, and sources in the order of the markers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Sequence
from dataclasses import replace
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.llms import LLM
from llama_index.core.response_synthesizers.base import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle

from foveate.answer.messages import messages
from foveate.core.contracts import Format, Tokenizer
from foveate.core.errors import BadInput
from foveate.core.request import Recipe
from foveate.core.types import Context
from foveate.core.zones import Budget
from foveate.integrations.known_options import refuse_unknown_options
from foveate.integrations.llama_index.nodes import (
    context_from_nodes,
    group_nodes_by_marker,
    nodes_from_pieces,
)
from foveate.integrations.options import (
    Principals,
    check_options,
    current_principals,
    from_documents,
)
from foveate.integrations.pieces import build_pieces, group_by_marker
from foveate.models import Model, registry
from foveate.pipeline.options import AssembleOptions
from foveate.ports import text_from_content


@refuse_unknown_options
class FoveateSynthesizer(BaseSynthesizer):
    """Nodes → a context within a budget → an answer whose marker n is `source_nodes[n - 1]`.

    Options are those of `foveate.assemble`. Without `budget` and `model` the context gets what the
    window of the `llm` leaves. `prompt`: name or file of the system prompt; `system`: its text.
    Nodes of a `FoveatePostprocessor` are sent as their context.
    """

    def __init__(
        self,
        llm: LLM | None = None,
        *,
        budget: int | Budget | None = None,
        recipe: str | Recipe = "default",
        tokenizer: str | Tokenizer | None = None,
        model: str | Model | None = None,
        format: str | Format | None = None,
        order: str | None = None,
        language: str = "en",
        prompt: str = "grounded",
        system: str | None = None,
        k: int | None = None,
        principals: Principals = (),
        observers: Any = None,
        streaming: bool = False,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(llm=llm, callback_manager=callback_manager, streaming=streaming)
        metadata = self._llm.metadata
        self._principals = principals
        self._tokenizer = tokenizer if not isinstance(tokenizer, str) else None
        self._observers = observers
        self._options = AssembleOptions(
            budget=budget,
            recipe=recipe,
            tokenizer=tokenizer,
            model=_model(metadata) if model is None and budget is None else model,
            format=format,
            order=order,
            language=language,
            prompt=prompt,
            system=system,
            max_output=metadata.num_output if metadata.num_output > 0 else 1024,
            keep=k,
        )
        check_options(self._options)

    def synthesize(
        self,
        query: str | QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **options: Any,
    ) -> Any:
        """The answer to the question, with its sources; empty if none may be read."""
        context, sources = self._assemble(_text(query), nodes)
        return super().synthesize(
            query, sources, additional_source_nodes, context=context, **options
        )

    async def asynthesize(
        self,
        query: str | QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **options: Any,
    ) -> Any:
        """`synthesize` without blocking the event loop."""
        context, sources = await asyncio.to_thread(self._assemble, _text(query), nodes)
        return await super().asynthesize(
            query, sources, additional_source_nodes, context=context, **options
        )

    def get_response(
        self,
        query_str: str,
        text_chunks: Sequence[str],
        context: Context | None = None,
        **options: Any,
    ) -> Any:
        """Ask with the context as it was counted; called by `synthesize`."""
        sent = self._messages(query_str, context)
        if self._streaming:
            return _tokens(self._llm.stream_chat(sent, **options))
        return self._llm.chat(sent, **options).message.content or ""

    async def aget_response(
        self,
        query_str: str,
        text_chunks: Sequence[str],
        context: Context | None = None,
        **options: Any,
    ) -> Any:
        """`get_response` without blocking the event loop."""
        sent = self._messages(query_str, context)
        if self._streaming:
            return _atokens(await self._llm.astream_chat(sent, **options))
        return (await self._llm.achat(sent, **options)).message.content or ""

    def _get_prompts(self) -> dict[str, Any]:
        """None of LlamaIndex's: the system prompt is an option."""
        return {}

    def _update_prompts(self, prompts: dict[str, Any]) -> None:
        """None of LlamaIndex's."""

    def _assemble(
        self, query: str, nodes: Sequence[NodeWithScore]
    ) -> tuple[Context, list[NodeWithScore]]:
        """The context, and one node a marker in order."""
        known = context_from_nodes(nodes)
        if known is not None:
            return known, group_nodes_by_marker(nodes, known)
        made = from_documents(
            query,
            list(nodes),
            self._options,
            principals=current_principals(self._principals),
            gap=None,
            observers=self._observers,
        )
        return made.context, nodes_from_pieces(
            group_by_marker(build_pieces(made)), made.context, nodes
        )

    def _messages(self, query: str, context: Context | None) -> list[ChatMessage]:
        if context is None:
            raise BadInput("call synthesize(query, nodes): an answer needs the nodes, not texts")
        found = messages(
            # A postprocessor's context may be of an earlier question: what is asked now is sent.
            replace(context, query=query),
            prompt=self._options.prompt or "grounded",
            system=self._options.system,
            language=self._options.language,
            tokenizer=self._tokenizer,
        )
        return [
            ChatMessage(role=one["role"], content=text_from_content(one["content"]))
            for one in found
        ]


def _model(metadata: Any) -> Model:
    """The model by its own name, else by its window."""
    known = registry().get(metadata.model_name)
    window = metadata.context_window
    if known is not None and known.window <= window:
        return known
    return Model(name=metadata.model_name or "llm", window=window)


def _text(query: str | QueryBundle) -> str:
    return query if isinstance(query, str) else query.query_str


def _tokens(replies: Any) -> Generator[str, None, None]:
    for reply in replies:
        yield reply.delta or ""


async def _atokens(replies: Any) -> AsyncGenerator[str, None]:
    async for reply in replies:
        yield reply.delta or ""
