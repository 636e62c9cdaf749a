"""The doors to the outside: small protocols in plain types. Adapters stand behind them.

`Tokenizer` lives in the core, because the core counts; it is named here for completeness.
"""

from foveate.core.contracts import Tokenizer
from foveate.ports.documents import QUESTIONS, Document, LoadedDocument, Loader, Section
from foveate.ports.models import (
    Content,
    Embedder,
    Likelihood,
    LikelihoodModel,
    Message,
    Model,
    ProviderCitation,
    Reply,
    Reranker,
    Usage,
    text_from_content,
)
from foveate.ports.stores import Cache, CacheStats, ListableStore, SearchResult, Store

__all__ = [
    "QUESTIONS",
    "Cache",
    "CacheStats",
    "Content",
    "Document",
    "Embedder",
    "Likelihood",
    "LikelihoodModel",
    "ListableStore",
    "LoadedDocument",
    "Loader",
    "Message",
    "Model",
    "ProviderCitation",
    "Reply",
    "Reranker",
    "SearchResult",
    "Section",
    "Store",
    "Tokenizer",
    "Usage",
    "text_from_content",
]
