"""The doors to the outside: small protocols in plain types. Adapters stand behind them.

`Tokenizer` lives in the core, because the core counts; it is named here for completeness.
"""

from foveate.core.contracts import Tokenizer
from foveate.ports.documents import QUESTIONS, Document, Loaded, Loader, Section
from foveate.ports.models import (
    Content,
    Embedder,
    Likelihood,
    Message,
    Model,
    Quoted,
    Reply,
    Reranker,
    Scores,
    Usage,
    text_of,
)
from foveate.ports.stores import Cache, CacheStats, Found, Lists, Store

__all__ = [
    "QUESTIONS",
    "Cache",
    "CacheStats",
    "Content",
    "Document",
    "Embedder",
    "Found",
    "Likelihood",
    "Lists",
    "Loaded",
    "Loader",
    "Message",
    "Model",
    "Quoted",
    "Reply",
    "Reranker",
    "Scores",
    "Section",
    "Store",
    "Tokenizer",
    "Usage",
    "text_of",
]
