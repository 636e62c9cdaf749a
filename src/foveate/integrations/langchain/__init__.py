"""LangChain: a document compressor, a retriever, and lists of messages that fit.

The text of a `Document` is the block as it is in the context, marker and source included, so a
chain that joins documents sends what was counted. Its metadata has its origin under `foveate`;
`context_from_documents(documents)` is the context. The program gives `principals`; they are never
read from a question, a document or an input.
"""

try:
    import langchain_core as _langchain_core  # noqa: F401  # says what is missing, once for all
except ImportError as error:
    from foveate.core.errors import MissingExtra

    raise MissingExtra("langchain-core", "langchain") from error

from foveate.integrations.langchain.citations import cited_documents, number_citations
from foveate.integrations.langchain.compaction import FoveateCompaction
from foveate.integrations.langchain.documents import Block, context_from_documents
from foveate.integrations.langchain.retriever import FoveateCompressor, FoveateRetriever

__all__ = [
    "Block",
    "FoveateCompaction",
    "FoveateCompressor",
    "FoveateRetriever",
    "cited_documents",
    "context_from_documents",
    "number_citations",
]
