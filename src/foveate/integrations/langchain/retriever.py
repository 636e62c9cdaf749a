"""The retriever, another one or a store followed by assembly; and the document compressor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
    Callbacks,
)
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables.config import run_in_executor

from foveate.core.errors import BadOption
from foveate.integrations.langchain.documents import documents_from_result
from foveate.integrations.options import (
    OptionFields,
    Principals,
    call_assembler,
    check_options,
    check_unused,
    current_principals,
    from_documents,
    options_of,
)
from foveate.integrations.pieces import PIECE_SEPARATOR, fit_pieces
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.flow import AssemblyResult


class FoveateRetriever(OptionFields, BaseRetriever):
    """A question → the blocks of a context, within a budget of tokens.

    Give `retriever`, any runnable from a question to documents, and the options of
    `foveate.assemble`; or `assembler`, a store with a recipe and a budget of its own. `k`: the
    number of best results that are considered. A call may give `principals` and `k` as well:
    `invoke(question, principals=["staff"])`.
    """

    retriever: Any = None
    assembler: Any = None
    k: int | None = None
    separator: str = PIECE_SEPARATOR

    def _check(self) -> None:
        if (self.retriever is None) == (self.assembler is None):
            raise BadOption("give a retriever, or an assembler with a store; not both")
        if self.retriever is not None and not hasattr(self.retriever, "invoke"):
            raise BadOption(f"retriever must be a runnable; {_advice(self.retriever)}")
        if self.assembler is not None and not isinstance(self.assembler, Assembler):
            what = type(self.assembler).__name__
            raise BadOption(f"assembler must be a foveate.Assembler, not {what}")
        super()._check()
        if self.assembler is not None:
            check_unused(options_of(self))
            check_options(self.assembler.options)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        principals: Principals | None = None,
        k: int | None = None,
    ) -> list[Document]:
        own, found = self._assembler_for_call(principals, k), None
        if self.retriever is not None:
            found = self.retriever.invoke(query, config={"callbacks": run_manager.get_child()})
        return self._documents(own, query, own.run(query, found, cached=False))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        principals: Principals | None = None,
        k: int | None = None,
    ) -> list[Document]:
        own, found = await run_in_executor(None, self._assembler_for_call, principals, k), None
        if self.retriever is not None:
            callbacks = {"callbacks": run_manager.get_child()}
            found = await self.retriever.ainvoke(query, config=callbacks)
        result = await own.arun(query, found, cached=False)
        return await run_in_executor(None, self._documents, own, query, result)

    def _assembler_for_call(self, principals: Principals | None, k: int | None) -> Assembler:
        """What a call names replaces the component's own."""
        return call_assembler(
            options_of(self, keep=self.k if k is None else k),
            current_principals(self.principals if principals is None else principals),
            self.observers,
            self.assembler,
        )

    def _documents(self, own: Assembler, query: str, result: AssemblyResult) -> list[Document]:
        fitted = fit_pieces(result, own.resolve(query).tokenizer, self.separator)
        return documents_from_result(fitted, named=self.assembler is not None)


def _advice(given: object) -> str:
    """What to give in place of what is no runnable."""
    if hasattr(given, "as_retriever"):
        return f"give the {type(given).__name__}'s .as_retriever()"
    if callable(given):
        return "wrap the function: langchain_core.runnables.RunnableLambda(function)"
    return f"not {type(given).__name__}"


class FoveateCompressor(OptionFields, BaseDocumentCompressor):
    """What a retriever found → the blocks of a context, within a budget of tokens.

    The fields are options of `foveate.assemble`. `principals`: the names that the caller reads
    under, or a function that returns them at each call. `separator`: the text that the chain puts
    between documents, which is counted too. Use it in `ContextualCompressionRetriever`.
    """

    separator: str = PIECE_SEPARATOR

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """The blocks in reading order; none if none may be read."""
        made = from_documents(
            query,
            list(documents),
            options_of(self),
            principals=current_principals(self.principals),
            gap=self.separator,
            observers=self.observers,
        )
        return documents_from_result(made)

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """`compress_documents` without blocking the event loop."""
        return await run_in_executor(None, self.compress_documents, documents, query)
