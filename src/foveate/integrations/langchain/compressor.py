"""The document compressor: what a retriever found, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.runnables.config import run_in_executor

from foveate.integrations.langchain.documents import documents_from_result
from foveate.integrations.langchain.source import OptionFields
from foveate.integrations.options import current_principals, from_documents, options_of
from foveate.integrations.pieces import PIECE_SEPARATOR


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
