"""The runnable: a question, with documents or a retriever, → messages with their citations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from langchain_core.messages import (
    BaseMessage,
    HumanMessage,
    SystemMessage,
    convert_to_messages,
)
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from langchain_core.runnables.config import run_in_executor
from pydantic import ConfigDict

from foveate.answer.messages import messages
from foveate.core.errors import BadInput
from foveate.integrations.langchain.documents import ContextPrompt, prompt_from_messages
from foveate.integrations.langchain.source import Source
from foveate.integrations.options import (
    Principals,
    check_options,
    current_principals,
    options_of,
)
from foveate.pipeline.flow import AssemblyResult
from foveate.pipeline.prompts.text import system_prompt
from foveate.ports import Message, text_from_content


class FoveatePrompt(RunnableSerializable[str | dict[str, Any], ContextPrompt]):
    """A question → the messages for a chat model: system prompt, context and question.

    Takes a question, where it has a `retriever` or an `assembler` to ask; or a mapping with
    `question`, and with `documents` and `history` where there are: messages that stand between the
    system prompt and the question, and share the model's window. `prompt`: the system prompt by
    its name, or a file; `system`: the text itself.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    retriever: Any = None
    assembler: Any = None
    budget: Any = None
    recipe: Any = "default"
    tokenizer: Any = None
    model: Any = None
    format: Any = None
    order: str | None = None
    language: str = "en"
    prompt: str = "grounded"
    system: str | None = None
    max_output: int = 1024
    k: int | None = None
    principals: Any = ()
    observers: Any = None

    if not TYPE_CHECKING:  # a type checker knows the fields

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self._refuse()

    def _refuse(self) -> None:
        """Refuse now what cannot be done, not at the first question; in our own words."""
        self._source()
        check_options(options_of(self))

    def invoke(
        self, input: str | dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> ContextPrompt:
        """The messages; `principals` and `k` may be given with the call."""
        return self._call_with_config(self._made, input, config, run_type="prompt", **kwargs)

    async def ainvoke(
        self, input: str | dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> ContextPrompt:
        """`invoke` without blocking the event loop."""
        return await self._acall_with_config(
            self._amade, input, config, run_type="prompt", **kwargs
        )

    def _made(
        self,
        asked: str | dict[str, Any],
        run_manager: Any,
        config: RunnableConfig,
        principals: Principals | None = None,
        k: int | None = None,
    ) -> ContextPrompt:
        question = Question.of(asked)
        options = options_of(self, keep=self.k if k is None else k, messages=question.before)
        made = self._source().prepare(
            question.text,
            options,
            principals=current_principals(self.principals if principals is None else principals),
            gap=None,
            config=config,
            documents=question.documents,
            observers=self.observers,
        )
        return self._prompt(question, made)

    async def _amade(
        self,
        asked: str | dict[str, Any],
        run_manager: Any,
        config: RunnableConfig,
        principals: Principals | None = None,
        k: int | None = None,
    ) -> ContextPrompt:
        question = Question.of(asked)
        options = options_of(self, keep=self.k if k is None else k, messages=question.before)
        made = await self._source().aprepare(
            question.text,
            options,
            principals=current_principals(self.principals if principals is None else principals),
            gap=None,
            config=config,
            documents=question.documents,
            observers=self.observers,
        )
        return await run_in_executor(None, self._prompt, question, made)

    def _prompt(self, question: Question, made: AssemblyResult | None) -> ContextPrompt:
        """System prompt, history, context and question."""
        if made is None:
            system = self.system
            if system is None:
                system = system_prompt(self.prompt, marker=None, language=self.language)
            found: list[Message] = [{"role": "system", "content": system}] if system else []
            found.append({"role": "user", "content": question.text})
        else:
            stored = question.documents is None and self.assembler is not None
            counter = self.assembler.resolve().tokenizer if stored else self.tokenizer
            found = messages(
                made.context,
                prompt=self.prompt,
                system=self.system,
                language=self.language,
                tokenizer=None if isinstance(counter, str) else counter,
            )
        *before, last = found
        sent: list[BaseMessage] = [
            SystemMessage(content=text_from_content(one["content"])) for one in before
        ]
        sent += [*question.history, HumanMessage(content=text_from_content(last["content"]))]
        return prompt_from_messages(
            sent, made, named=question.documents is None and self._source().named
        )

    def _source(self) -> Source:
        return Source(retriever=self.retriever, assembler=self.assembler)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, of which documents where they are at hand, after which messages."""

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
