"""A context as LangChain's documents, that know what they are of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langchain_core.documents import Document
from pydantic import PrivateAttr

from foveate.core.types import Context
from foveate.integrations.pieces import build_pieces, common_context
from foveate.pipeline.flow import AssemblyResult


class Block(Document):
    """A block of a context as a `Document`; `page_content` is its text in the context.

    Dumped and loaded it is a plain `Document` with the same metadata.
    """

    _context: Context | None = PrivateAttr(default=None)

    @classmethod
    def lc_id(cls) -> list[str]:
        """As a plain document, which needs none of this to be loaded."""
        return Document.lc_id()


def context_from_documents(documents: Iterable[Any]) -> Context | None:
    """The context of these documents; None if they have none.

    Raises `BadInput` for documents of several contexts.
    """
    return common_context((getattr(one, "_context", None) for one in documents), "documents")


def documents_from_result(made: AssemblyResult, *, named: bool = False) -> list[Document]:
    """One document a block in order."""
    found: list[Document] = []
    for piece in build_pieces(made, named=named):
        block = Block(page_content=piece.text, id=piece.id, metadata=piece.full_metadata)
        block._context = made.context  # noqa: SLF001  # set here alone
        found.append(block)
    return found
