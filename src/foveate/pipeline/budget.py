"""Budgets ready to use: measured for a model, and presets.

A budget made here equals a `foveate.core.zones.Budget` of the same zones.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import Self

from foveate.core import zones
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption, BudgetTooSmall
from foveate.models import Model
from foveate.models import model as model_named

DEFAULT_WINDOW = 128_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget(zones.Budget):
    """Tokens by zone, with the ways to make one.

    >>> budget = Budget.of(800)
    >>> budget.documents, budget.total, budget.window
    (800, 800, None)
    >>> Budget.single_turn().conversation
    0
    """

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, zones.Budget):
            return NotImplemented
        return astuple(self) == astuple(other)

    __hash__ = zones.Budget.__hash__

    @classmethod
    def for_model(
        cls,
        model: str | Model,
        *,
        system_prompt: str = "",
        query: str = "",
        max_output: int = 1024,
        overhead: int = 64,
        tokenizer: Tokenizer | None = None,
    ) -> Self:
        """Measure the real system prompt and query; documents get what is left of the window.

        The chat format's own tokens are taken from `overhead` (which grows to hold them) and stand
        in the system and query zones, so that the whole request fits `window - generation -
        buffer`. `tokenizer`: instead of the model's. Raises `BudgetTooSmall` when nothing is left.
        """
        known = model if isinstance(model, Model) else model_named(model)
        _check_limits(known, max_output=max_output, overhead=overhead)
        if tokenizer is None:
            from foveate.providers.tokenizers import load_tokenizer

            tokenizer = load_tokenizer(known.tokenizer)
        count = tokenizer.count
        per_message, per_reply = known.frame
        framing = known.framing(2)
        buffer = max(0, overhead - framing)
        system = count(system_prompt) + per_message
        asked = count(query) + per_message + per_reply
        window = min(known.window, (known.max_input or known.window) + max_output)
        documents = window - system - asked - max_output - buffer
        if documents < 1:
            raise BudgetTooSmall(
                window,
                window - documents + 1,
                what=f"a request to {known.name!r} (system prompt {system}, query {asked}, "
                f"max_output {max_output}, overhead {buffer}, at least 1 for documents)",
            )
        return cls(
            documents=documents,
            window=window,
            per_message=per_message,
            per_reply=per_reply,
            system=system,
            conversation=0,
            query=asked,
            generation=max_output,
            buffer=buffer,
        )

    @classmethod
    def analytical(cls, window: int = DEFAULT_WINDOW) -> Self:
        """Many documents, little conversation."""
        return cls(window=window, documents=64_000, conversation=2_000)

    @classmethod
    def support_chat(cls, window: int = DEFAULT_WINDOW) -> Self:
        """A long conversation, fewer documents."""
        return cls(window=window, documents=16_000, conversation=24_000)

    @classmethod
    def single_turn(cls, window: int = DEFAULT_WINDOW) -> Self:
        """No conversation; documents get its tokens."""
        return cls(window=window, documents=40_000, conversation=0)

    @classmethod
    def document_first(cls, documents: int = 8_000) -> Self:
        """The document zone of the document-first recipe: 500 to 16,000 tokens."""
        if not 500 <= documents <= 16_000:
            raise BadOption(f"budget: documents is {documents}; document_first takes 500 to 16000")
        return cls.of(documents)

    @classmethod
    def of(cls, tokens: int) -> Self:
        """So many tokens for the context; nothing is known about the rest of the prompt."""
        return cls(
            documents=tokens,
            window=None,
            system=0,
            conversation=0,
            query=0,
            generation=0,
            buffer=0,
        )

    @classmethod
    def from_total(
        cls, total: int, *, system: int = 200, query: int = 100, generation: int = 500
    ) -> Self:
        """What a total leaves for documents: 800 less by default."""
        documents = total - system - query - generation
        if documents < 1:
            raise BudgetTooSmall(
                total, total - documents + 1, what="system, query, generation and one for documents"
            )
        zones = {"documents": documents, "system": system, "query": query}
        return replace(cls.of(1), window=total, generation=generation, **zones)


def _check_limits(known: Model, *, max_output: int, overhead: int) -> None:
    if max_output < 1 or overhead < 0:
        raise BadOption(f"budget: max_output {max_output} and overhead {overhead} must be positive")
    if known.max_output is not None and max_output > known.max_output:
        raise BadOption(
            f"budget: max_output is {max_output}; {known.name!r} writes at most {known.max_output}"
        )
