"""foveate assembles the context that a language model reads from what a retriever found.

The public names. Each is imported when it is first asked for, so that `import foveate` costs
next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a name that is imported as itself is public
    from foveate._version import __version__ as __version__
    from foveate.answer.ask import Answer as Answer
    from foveate.answer.ask import ask as ask
    from foveate.answer.check import AnswerCheck as AnswerCheck
    from foveate.answer.check import check_answer as check_answer
    from foveate.answer.messages import messages as messages
    from foveate.core.chat.turns import Turn as Turn
    from foveate.core.errors import BadInput as BadInput
    from foveate.core.errors import BadOption as BadOption
    from foveate.core.errors import BudgetTooSmall as BudgetTooSmall
    from foveate.core.errors import ExternalError as ExternalError
    from foveate.core.errors import FoveateError as FoveateError
    from foveate.core.errors import InvalidRequest as InvalidRequest
    from foveate.core.errors import MissingExtra as MissingExtra
    from foveate.core.errors import StageBroke as StageBroke
    from foveate.core.errors import UnknownName as UnknownName
    from foveate.core.request import Recipe as Recipe
    from foveate.core.request import Request as Request
    from foveate.core.request import Stage as Stage
    from foveate.core.types import Block as Block
    from foveate.core.types import Candidate as Candidate
    from foveate.core.types import Chunk as Chunk
    from foveate.core.types import Citation as Citation
    from foveate.core.types import Context as Context
    from foveate.core.types import Decision as Decision
    from foveate.core.types import Rendition as Rendition
    from foveate.core.types import StageTrace as StageTrace
    from foveate.core.types import Step as Step
    from foveate.core.types import Supplement as Supplement
    from foveate.document_store import DocumentStore as DocumentStore
    from foveate.document_store import open_store as open_store
    from foveate.pipeline.assembler import Assembler as Assembler
    from foveate.pipeline.assembler import aassemble as aassemble
    from foveate.pipeline.assembler import assemble as assemble
    from foveate.pipeline.budget import Budget as Budget
    from foveate.pipeline.compact import Compacted as Compacted
    from foveate.pipeline.compact import CompactOptions as CompactOptions
    from foveate.pipeline.compact import OriginalStore as OriginalStore
    from foveate.pipeline.compact import compact as compact
    from foveate.pipeline.compact import expand as expand
    from foveate.pipeline.compact import find_tools as find_tools
    from foveate.pipeline.compressor import Compressor as Compressor
    from foveate.pipeline.conversation import Conversation as Conversation
    from foveate.pipeline.conversation import converse as converse
    from foveate.pipeline.observed import observed as observed
    from foveate.pipeline.options import AssembleOptions as AssembleOptions
    from foveate.pipeline.sessions import Session as Session
    from foveate.pipeline.sessions import proceed as proceed
    from foveate.pipeline.tracing import Tracing as Tracing

_HOME = {
    "_version": ("__version__",),
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
    "core.types": (
        *("Block", "Candidate", "Chunk", "Citation", "Context", "Decision", "Rendition"),
        *("StageTrace", "Step", "Supplement"),
    ),
    "document_store": ("DocumentStore", "open_store"),
    "pipeline.assembler": ("Assembler", "aassemble", "assemble"),
    "pipeline.budget": ("Budget",),
    "pipeline.compact": (
        *("CompactOptions", "Compacted", "OriginalStore", "compact", "expand"),
        "find_tools",
    ),
    "pipeline.compressor": ("Compressor",),
    "pipeline.conversation": ("Conversation", "converse"),
    "pipeline.observed": ("observed",),
    "pipeline.options": ("AssembleOptions",),
    "pipeline.sessions": ("Session", "proceed"),
    "pipeline.tracing": ("Tracing",),
}
"""Module of each public name."""
_MODULES = {name: module for module, names in _HOME.items() for name in names}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    """Import a public name at its first use (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module 'foveate' has no attribute {name!r}")
    module = import_module(f"foveate.{_MODULES[name]}")
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    """The public names."""
    return __all__
