"""A context as LangChain's values: documents, and a prompt, that know what they are of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.prompt_values import ChatPromptValue
from pydantic import PrivateAttr

from foveate.core.types import Citation, Context
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


class ContextPrompt(ChatPromptValue):
    """The messages for a chat model, with their context and citations.

    The context is empty if nothing was found that may be read.
    """

    _context: Context | None = PrivateAttr(default=None)
    _documents: tuple[Document, ...] = PrivateAttr(default=())

    @classmethod
    def lc_id(cls) -> list[str]:
        """As a plain prompt value."""
        return ChatPromptValue.lc_id()

    @property
    def context(self) -> Context | None:
        """The context, with its trace and its manifest."""
        return self._context

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The citations of the markers: marker n is entry n."""
        return () if self._context is None else self._context.citations

    @property
    def documents(self) -> list[Document]:
        """The blocks as documents."""
        return list(self._documents)


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


def prompt_from_messages(
    messages: list[BaseMessage], made: AssemblyResult, *, named: bool = False
) -> ContextPrompt:
    """The messages, with the context that they hold."""
    prompt = ContextPrompt(messages=messages)
    prompt._context = made.context  # noqa: SLF001  # set here alone
    prompt._documents = tuple(documents_from_result(made, named=named))  # noqa: SLF001
    return prompt
