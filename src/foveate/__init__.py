"""foveate assembles the context that a language model reads from what a retriever found.

The public names. Each is imported when it is first asked for, so that `import foveate` costs
next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from foveate._version import __version__

if TYPE_CHECKING:
    from foveate.answer.ask import Answer, ask
    from foveate.answer.check import AnswerCheck, check_answer
    from foveate.answer.messages import messages
    from foveate.core.chat.turns import Turn
    from foveate.core.errors import (
        BadInput,
        BadOption,
        BudgetTooSmall,
        ExternalError,
        FoveateError,
        InvalidRequest,
        MissingExtra,
        StageBroke,
        UnknownName,
    )
    from foveate.core.request import Recipe, Request, Stage
    from foveate.core.types import (
        Block,
        Candidate,
        Chunk,
        Citation,
        Context,
        Decision,
        Rendition,
        StageTrace,
        Step,
        Supplement,
    )
    from foveate.document_store import DocumentStore, open_store
    from foveate.pipeline.assembler import Assembler, assemble
    from foveate.pipeline.budget import Budget
    from foveate.pipeline.compact import (
        Compacted,
        CompactOptions,
        OriginalStore,
        compact,
        expand,
    )
    from foveate.pipeline.compressor import Compressor
    from foveate.pipeline.conversation import Conversation, converse
    from foveate.pipeline.observed import observed
    from foveate.pipeline.options import AssembleOptions
    from foveate.pipeline.sessions import Session, proceed
    from foveate.pipeline.tracing import Tracing

__all__ = [
    "Answer",
    "AnswerCheck",
    "AssembleOptions",
    "Assembler",
    "BadInput",
    "BadOption",
    "Block",
    "Budget",
    "BudgetTooSmall",
    "Candidate",
    "Chunk",
    "Citation",
    "CompactOptions",
    "Compacted",
    "Compressor",
    "Context",
    "Conversation",
    "Decision",
    "DocumentStore",
    "ExternalError",
    "FoveateError",
    "InvalidRequest",
    "MissingExtra",
    "OriginalStore",
    "Recipe",
    "Rendition",
    "Request",
    "Session",
    "Stage",
    "StageBroke",
    "StageTrace",
    "Step",
    "Supplement",
    "Tracing",
    "Turn",
    "UnknownName",
    "__version__",
    "ask",
    "assemble",
    "check_answer",
    "compact",
    "converse",
    "expand",
    "messages",
    "observed",
    "open_store",
    "proceed",
]

_HOME = {
    "core.errors": (
        "BadInput",
        "BadOption",
        "BudgetTooSmall",
        "ExternalError",
        "FoveateError",
        "InvalidRequest",
        "MissingExtra",
        "StageBroke",
        "UnknownName",
    ),
    "answer.ask": ("Answer", "ask"),
    "answer.check": ("AnswerCheck", "check_answer"),
    "answer.messages": ("messages",),
    "core.chat.turns": ("Turn",),
    "core.request": ("Recipe", "Request", "Stage"),
    "document_store": ("DocumentStore", "open_store"),
    "pipeline.assembler": ("Assembler", "assemble"),
    "pipeline.budget": ("Budget",),
    "pipeline.compact": ("CompactOptions", "Compacted", "OriginalStore", "compact", "expand"),
    "pipeline.compressor": ("Compressor",),
    "pipeline.conversation": ("Conversation", "converse"),
    "pipeline.observed": ("observed",),
    "pipeline.options": ("AssembleOptions",),
    "pipeline.sessions": ("Session", "proceed"),
    "pipeline.tracing": ("Tracing",),
}
"""Module of each public name; names that are not listed are in `core.types`."""
_MODULES = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name at its first use (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module 'foveate' has no attribute {name!r}")
    module = import_module(f"foveate.{_MODULES.get(name, 'core.types')}")
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    """The public names."""
    return __all__
