"""The runnable: a question, with documents or a retriever, → messages with their citations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from langchain_core.messages import (
    BaseMessage,
    HumanMessage,
    SystemMessage,
    convert_to_messages,
)
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from langchain_core.runnables.config import run_in_executor

from foveate.answer.messages import messages
from foveate.core.errors import BadInput
from foveate.integrations.langchain.documents import ContextPrompt, prompt_from_messages
from foveate.integrations.langchain.source import SourceFields
from foveate.integrations.options import Principals
from foveate.pipeline.flow import AssemblyResult
from foveate.ports import text_from_content


class FoveatePrompt(SourceFields, RunnableSerializable[str | dict[str, Any], ContextPrompt]):
    """A question → the messages for a chat model: system prompt, context and question.

    The input is a question, if there is a `retriever` or an `assembler` to ask; or a mapping with
    `question` and, optionally, `documents` and `history`. The history is sent between the system
    prompt and the question, and shares the model's window. `prompt`: name or file of the system
    prompt; `system`: its text.
    """

    prompt: str = "grounded"
    system: str | None = None
    max_output: int = 1024

    def invoke(
        self, input: str | dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> ContextPrompt:
        """The messages; `principals` and `k` may be given with the call."""
        return self._call_with_config(self._build, input, config, run_type="prompt", **kwargs)

    async def ainvoke(
        self, input: str | dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> ContextPrompt:
        """`invoke` without blocking the event loop."""
        return await self._acall_with_config(
            self._abuild, input, config, run_type="prompt", **kwargs
        )

    def _build(
        self,
        asked: str | dict[str, Any],
        run_manager: Any,
        config: RunnableConfig,
        principals: Principals | None = None,
        k: int | None = None,
    ) -> ContextPrompt:
        question = ChainInput.of(asked)
        call = self._call(principals, k, None, question.before)
        return self._prompt(
            question, self._prepare(question.text, config, call, question.documents)
        )

    async def _abuild(
        self,
        asked: str | dict[str, Any],
        run_manager: Any,
        config: RunnableConfig,
        principals: Principals | None = None,
        k: int | None = None,
    ) -> ContextPrompt:
        question = ChainInput.of(asked)
        call = self._call(principals, k, None, question.before)
        made = await self._aprepare(question.text, config, call, question.documents)
        return await run_in_executor(None, self._prompt, question, made)

    def _prompt(self, question: ChainInput, made: AssemblyResult) -> ContextPrompt:
        stored = question.documents is None and self.assembler is not None
        counter = self.assembler.resolve().tokenizer if stored else self.tokenizer
        *before, last = messages(
            made.context,
            prompt=self.prompt,
            system=self.system,
            language=self.language,
            tokenizer=None if isinstance(counter, str) else counter,
        )
        sent: list[BaseMessage] = [
            SystemMessage(content=text_from_content(one["content"])) for one in before
        ]
        sent += [*question.history, HumanMessage(content=text_from_content(last["content"]))]
        return prompt_from_messages(sent, made, named=stored)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainInput:
    """A question with its documents, if given, and the history."""

    text: str
    documents: Sequence[Any] | None = None
    history: tuple[BaseMessage, ...] = ()

    @classmethod
    def of(cls, asked: str | Mapping[str, Any]) -> Self:
        """Read an input; raises `BadInput` for what it cannot be."""
        if isinstance(asked, str):
            return cls(text=asked)
        if not isinstance(asked, Mapping) or not isinstance(asked.get("question"), str):
            raise BadInput("give a question, or a mapping with `question` and `documents`")
        if "principals" in asked:
            raise BadInput(
                "is no input: give it to the constructor, or with the call, "
                "invoke(…, principals=…)",
                field="principals",
            )
        return cls(
            text=asked["question"],
            documents=asked.get("documents"),
            history=tuple(convert_to_messages(asked.get("history") or [])),
        )

    @property
    def before(self) -> tuple[tuple[str, str], ...]:
        """The history as it is counted: calls of tools and parts of content included."""
        return tuple((message.type, _counted(message)) for message in self.history)


def _counted(message: BaseMessage) -> str:
    if isinstance(message.content, str) and not getattr(message, "tool_calls", None):
        return message.content
    parts = [message.content, getattr(message, "tool_calls", [])]
    return json.dumps(parts, ensure_ascii=False, default=str)
