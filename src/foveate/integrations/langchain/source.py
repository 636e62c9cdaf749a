"""Where a face gets its context from: documents at hand, any retriever, or a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import run_in_executor

from foveate.core.errors import BadInput, BadOption
from foveate.integrations.options import afrom_store, from_documents, from_store
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.flow import AssemblyResult
from foveate.pipeline.options import AssembleOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A retriever (any runnable from a question to documents), or an assembler with its store."""

    retriever: Any = None
    assembler: Assembler | None = None

    def __post_init__(self) -> None:
        """One of the two at the most."""
        if self.retriever is not None and self.assembler is not None:
            raise BadOption("give a retriever or an assembler, not both")

    @property
    def named(self) -> bool:
        """Whether source and page of its chunks stand beside their metadata."""
        return self.assembler is not None

    def prepare(
        self,
        query: str,
        options: AssembleOptions,
        *,
        principals: Sequence[str],
        gap: str | None,
        config: RunnableConfig,
        documents: Sequence[Any] | None = None,
        observers: Any = None,
    ) -> AssemblyResult | None:
        """The context, of `documents` where they are at hand; None where nothing may be read."""
        if documents is None and self.assembler is not None:
            return from_store(
                self.assembler, query, options, principals=principals, gap=gap, observers=observers
            )
        if documents is None:
            documents = self._asked().invoke(query, config=config)
        return from_documents(
            query, documents, options, principals=principals, gap=gap, observers=observers
        )

    async def aprepare(
        self,
        query: str,
        options: AssembleOptions,
        *,
        principals: Sequence[str],
        gap: str | None,
        config: RunnableConfig,
        documents: Sequence[Any] | None = None,
        observers: Any = None,
    ) -> AssemblyResult | None:
        """`prepare` without blocking the event loop."""
        if documents is None and self.assembler is not None:
            return await afrom_store(
                self.assembler, query, options, principals=principals, gap=gap, observers=observers
            )
        if documents is None:
            documents = await self._asked().ainvoke(query, config=config)
        return await run_in_executor(
            None,
            from_documents,
            query,
            documents,
            options,
            principals=principals,
            gap=gap,
            observers=observers,
        )

    def _asked(self) -> Any:
        if self.retriever is None:
            raise BadInput("no documents: give them with the question, or a retriever to ask")
        return self.retriever
