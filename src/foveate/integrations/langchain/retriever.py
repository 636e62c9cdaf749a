"""The retriever: any other one, or a store, with assembly behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from foveate.core.errors import BadOption
from foveate.integrations.langchain.documents import documents_from_result
from foveate.integrations.langchain.source import Source
from foveate.integrations.options import (
    Principals,
    check_options,
    check_unused,
    current_principals,
    options_of,
)
from foveate.integrations.pieces import PIECE_SEPARATOR


class FoveateRetriever(BaseRetriever):
    """A question → the blocks of a context, within a budget of tokens.

    Give `retriever`, any runnable from a question to documents, and the options of
    `foveate.assemble`; or `assembler`, a store with a recipe and a budget of its own. `k`: only
    the best so many of what was found are looked at. `principals` and `k` may be given with a call
    as well: `invoke(question, principals=["staff"])`.
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
    k: int | None = None
    principals: Any = ()
    separator: str = PIECE_SEPARATOR
    observers: Any = None

    if not TYPE_CHECKING:  # a type checker knows the fields

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self._refuse()

    def _refuse(self) -> None:
        """Refuse now what cannot be done, not at the first question; in our own words."""
        if self.retriever is None and self.assembler is None:
            raise BadOption("give a retriever, or an assembler with a store")
        self._source()
        if self.assembler is not None:
            check_unused(options_of(self))
        check_options(options_of(self))

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        principals: Principals | None = None,
        k: int | None = None,
    ) -> list[Document]:
        source = self._source()
        made = source.prepare(
            query,
            options_of(self, keep=self.k if k is None else k),
            principals=current_principals(self.principals if principals is None else principals),
            gap=self.separator,
            config={"callbacks": run_manager.get_child()},
            observers=self.observers,
        )
        return documents_from_result(made, named=source.named)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        principals: Principals | None = None,
        k: int | None = None,
    ) -> list[Document]:
        source = self._source()
        made = await source.aprepare(
            query,
            options_of(self, keep=self.k if k is None else k),
            principals=current_principals(self.principals if principals is None else principals),
            gap=self.separator,
            config={"callbacks": run_manager.get_child()},
            observers=self.observers,
        )
        return documents_from_result(made, named=source.named)

    def _source(self) -> Source:
        return Source(retriever=self.retriever, assembler=self.assembler)
