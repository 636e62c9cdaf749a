"""foveate assembles the context that a language model reads from what a retriever found.

The public names. Each is imported when it is first asked for, so that `import foveate` costs
next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from foveate._version import __version__

if TYPE_CHECKING:
    from foveate.adapters.watchers.opentelemetry import Tracing
    from foveate.answer.ask import Answer, ask
    from foveate.answer.check import Checked, check_answer
    from foveate.answer.messages import messages
    from foveate.assembler import Assembler, assemble
    from foveate.budget import Budget
    from foveate.core.errors import (
        BadInput,
        BadOption,
        BadRequest,
        BudgetTooSmall,
        FoveateError,
        MissingExtra,
        OutsideFailure,
        StageBroke,
        UnknownName,
    )
    from foveate.core.talk.turns import Turn
    from foveate.core.types import (
        Block,
        Candidate,
        Chunk,
        Citation,
        Context,
        Decision,
        Recipe,
        Rendition,
        Request,
        Stage,
        StageTrace,
        Step,
        Supplement,
    )
    from foveate.dialogue import Conversation, converse
    from foveate.session import Session, proceed
    from foveate.shortener import Shortener

__all__ = [
    "Answer",
    "Assembler",
    "BadInput",
    "BadOption",
    "BadRequest",
    "Block",
    "Budget",
    "BudgetTooSmall",
    "Candidate",
    "Checked",
    "Chunk",
    "Citation",
    "Context",
    "Conversation",
    "Decision",
    "FoveateError",
    "MissingExtra",
    "OutsideFailure",
    "Recipe",
    "Rendition",
    "Request",
    "Session",
    "Shortener",
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
    "converse",
    "messages",
    "proceed",
]

_HOME = {
    "Answer": "answer.ask",
    "Assembler": "assembler",
    "Budget": "budget",
    "Checked": "answer.check",
    "Conversation": "dialogue",
    "Session": "session",
    "Shortener": "shortener",
    "Tracing": "adapters.watchers.opentelemetry",
    "Turn": "core.talk.turns",
    "ask": "answer.ask",
    "assemble": "assembler",
    "check_answer": "answer.check",
    "converse": "dialogue",
    "messages": "answer.messages",
    "proceed": "session",
}
_ERRORS = frozenset(name for name in __all__ if name.startswith(("Bad", "Budget", "Unknown")))
_ERRORS |= {"FoveateError", "MissingExtra", "OutsideFailure", "StageBroke"}


def __getattr__(name: str) -> Any:
    """Import a public name at its first use (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module 'foveate' has no attribute {name!r}")
    home = _HOME.get(name, "core.errors" if name in _ERRORS else "core.types")
    value = globals()[name] = getattr(import_module(f"foveate.{home}"), name)
    return value


def __dir__() -> list[str]:
    """The public names."""
    return __all__
