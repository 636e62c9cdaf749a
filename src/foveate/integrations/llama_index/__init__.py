"""LlamaIndex: a node postprocessor, and a response synthesizer that keeps the numbering.

The postprocessor gives one node a block, whose text is the block as it stands in the context,
marker and source included, and whose metadata is not shown to a model once more. Where each is
from stands in its metadata under `foveate`; the context that they are of, with its citations,
trace and manifest, is `context_from_nodes(nodes)` or `context_from_nodes(response)`.

The synthesizer sends that context as it was counted, in one call, and never packs it anew: marker
n of the answer is `source_nodes[n - 1]`.

Who asks (`principals`) is said by the program that builds these; it is never read from a question
or a node.
"""

try:
    import llama_index.core as _llama_index  # noqa: F401  # says what is missing, once for all
except ImportError as error:
    from foveate.core.errors import MissingExtra

    raise MissingExtra("llama-index-core", "llama-index") from error

from foveate.integrations.llama_index.nodes import Block, context_from_nodes
from foveate.integrations.llama_index.postprocessor import FoveatePostprocessor
from foveate.integrations.llama_index.synthesizer import FoveateSynthesizer

__all__ = ["Block", "FoveatePostprocessor", "FoveateSynthesizer", "context_from_nodes"]
