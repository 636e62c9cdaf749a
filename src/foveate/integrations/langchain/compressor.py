"""The document compressor: what a retriever found, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.runnables.config import run_in_executor
from pydantic import ConfigDict

from foveate.integrations.langchain.documents import documents_from_result
from foveate.integrations.options import (
    check_options,
    current_principals,
    from_documents,
    options_of,
)
from foveate.integrations.pieces import PIECE_SEPARATOR


class FoveateCompressor(BaseDocumentCompressor):
    """What a retriever found → the blocks of a context, within a budget of tokens.

    Fields are named and checked as the options of `foveate.assemble`. `principals`: who asks, as
    names or as a function that gives them at each call. `separator`: what the chain puts between
    documents, which is counted too. For `ContextualCompressionRetriever`, and whatever else takes
    a `BaseDocumentCompressor`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    budget: Any = None
    recipe: Any = "default"
    tokenizer: Any = None
    model: Any = None
    format: Any = None
    order: str | None = None
    language: str = "en"
    principals: Any = ()
    separator: str = PIECE_SEPARATOR
    observers: Any = None

    if not TYPE_CHECKING:  # a type checker knows the fields

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self._refuse()

    def _refuse(self) -> None:
        """Refuse now what cannot be done, not at the first question; in our own words."""
        check_options(options_of(self))

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """The blocks in the order they are to be read; none where none may be read."""
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
