"""LlamaIndex: a node postprocessor.

A node's text is the block as it is in the context, marker and source included; a model is not shown
its metadata, which has its origin under `foveate`. `context_from_nodes(nodes)` is the context. The
program gives `principals`; they are never read from a question or a node.
"""

try:
    import llama_index.core as _llama_index  # noqa: F401  # says what is missing, once for all
except ImportError as error:
    from foveate.core.errors import MissingExtra

    raise MissingExtra("llama-index-core", "llama-index") from error

from foveate.integrations.llama_index.nodes import Block, context_from_nodes
from foveate.integrations.llama_index.postprocessor import FoveatePostprocessor

__all__ = ["Block", "FoveatePostprocessor", "context_from_nodes"]
