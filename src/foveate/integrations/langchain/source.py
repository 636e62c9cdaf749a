"""The fields that the LangChain components share, and where they get a context from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import run_in_executor

from foveate.core.errors import BadInput, BadOption
from foveate.integrations.options import (
    OptionFields,
    Principals,
    call_assembler,
    current_principals,
    fit_result,
    options_of,
)
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.flow import AssemblyResult


class SourceFields(OptionFields):
    """A component that asks a retriever, or an assembler with its store.

    `retriever`: any runnable from a question to documents. `k`: the number of its best results
    that are considered.
    """

    retriever: Any = None
    assembler: Any = None
    k: int | None = None

    def _check(self) -> None:
        if self.retriever is not None and self.assembler is not None:
            raise BadOption("give a retriever or an assembler, not both")
        if self.retriever is not None and not hasattr(self.retriever, "invoke"):
            raise BadOption(f"retriever must be a runnable; {_advice(self.retriever)}")
        if self.assembler is not None and not isinstance(self.assembler, Assembler):
            what = type(self.assembler).__name__
            raise BadOption(f"assembler must be a foveate.Assembler, not {what}")
        super()._check()

    def _prepare(
        self, query: str, config: RunnableConfig, call: dict[str, Any], documents: Any = None
    ) -> AssemblyResult:
        """The context, of `documents` if they are given."""
        if documents is None and self.assembler is None:
            documents = self._require_retriever().invoke(query, config=config)
        own = self._assembler(call, documents)
        return fit_result(own, query, own.run(query, documents, cached=False), call["gap"])

    async def _aprepare(
        self, query: str, config: RunnableConfig, call: dict[str, Any], documents: Any = None
    ) -> AssemblyResult:
        if documents is None and self.assembler is None:
            documents = await self._require_retriever().ainvoke(query, config=config)
        own = await run_in_executor(None, self._assembler, call, documents)
        result = await own.arun(query, documents, cached=False)
        return await run_in_executor(None, fit_result, own, query, result, call["gap"])

    def _assembler(self, call: dict[str, Any], documents: Any) -> Assembler:
        asked = self.assembler if documents is None else None
        return call_assembler(call["options"], call["principals"], self.observers, asked)

    def _call(
        self,
        principals: Principals | None,
        k: int | None,
        gap: str | None,
        messages: Iterable[Sequence[str]] = (),
    ) -> dict[str, Any]:
        """The arguments of one assembly; what a call names replaces the component's own."""
        return {
            "options": options_of(self, keep=self.k if k is None else k, messages=messages),
            "principals": current_principals(self.principals if principals is None else principals),
            "gap": gap,
        }

    def _require_retriever(self) -> Any:
        if self.retriever is None:
            raise BadInput("no documents: give them with the question, or a retriever to ask")
        return self.retriever


def _advice(given: object) -> str:
    """What to give in place of what is no runnable."""
    if hasattr(given, "as_retriever"):
        return f"give the {type(given).__name__}'s .as_retriever()"
    if callable(given):
        return "wrap the function: langchain_core.runnables.RunnableLambda(function)"
    return f"not {type(given).__name__}"
