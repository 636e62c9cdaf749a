"""The retriever, another one or a store followed by assembly; and the document compressor."""

from __future__ import annotations

from collections.abc import Sequence

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
from foveate.integrations.langchain.source import SourceFields
from foveate.integrations.options import (
    OptionFields,
    Principals,
    check_unused,
    current_principals,
    from_documents,
    options_of,
)
from foveate.integrations.pieces import PIECE_SEPARATOR


class FoveateRetriever(SourceFields, BaseRetriever):
    """A question → the blocks of a context, within a budget of tokens.

    Give `retriever`, any runnable from a question to documents, and the options of
    `foveate.assemble`; or `assembler`, a store with a recipe and a budget of its own. `k`: the
    number of best results that are considered. A call may give `principals` and `k` as well:
    `invoke(question, principals=["staff"])`.
    """

    separator: str = PIECE_SEPARATOR

    def _check(self) -> None:
        if self.retriever is None and self.assembler is None:
            raise BadOption("give a retriever, or an assembler with a store")
        super()._check()
        if self.assembler is not None:
            check_unused(options_of(self))

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        principals: Principals | None = None,
        k: int | None = None,
    ) -> list[Document]:
        call = self._call(principals, k, self.separator)
        made = self._prepare(query, {"callbacks": run_manager.get_child()}, call)
        return documents_from_result(made, named=self.assembler is not None)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        principals: Principals | None = None,
        k: int | None = None,
    ) -> list[Document]:
        call = self._call(principals, k, self.separator)
        made = await self._aprepare(query, {"callbacks": run_manager.get_child()}, call)
        return documents_from_result(made, named=self.assembler is not None)


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
