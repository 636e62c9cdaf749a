"""LangChain: a document compressor, a retriever, and a runnable that gives messages.

All three give what a chain sends on: `Document`s whose text is the block as it stands in the
context, marker and source included, so that a chain that joins them sends what was counted. Where
each is from stands in its metadata under `foveate`, beside the document's own; the context that
they are of, with its citations, trace and manifest, is `context_from_documents(documents)`.

Who asks (`principals`) is said by the program that builds or calls these; it is never read from a
question, a document or the input of a chain.
"""

try:
    import langchain_core as _langchain_core  # noqa: F401  # says what is missing, once for all
except ImportError as error:
    from foveate.core.errors import MissingExtra

    raise MissingExtra("langchain-core", "langchain") from error

from foveate.integrations.langchain.compressor import FoveateCompressor
from foveate.integrations.langchain.documents import Block, ContextPrompt, context_from_documents
from foveate.integrations.langchain.prompt import FoveatePrompt
from foveate.integrations.langchain.retriever import FoveateRetriever

__all__ = [
    "Block",
    "ContextPrompt",
    "FoveateCompressor",
    "FoveatePrompt",
    "FoveateRetriever",
    "context_from_documents",
]
