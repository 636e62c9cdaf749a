"""Haystack: a component that assembles what retrievers found, with typed sockets.

A dumped pipeline names this module. Haystack 3 loads classes of its own packages alone unless it is
told whom to trust besides: `Pipeline.loads(text, allowed_modules=["foveate.frameworks.haystack"])`.
Importing this changes none of Haystack's settings.
"""

# Haystack reads the types of the sockets from the annotations: they are not postponed here.
import asyncio
from typing import Any

try:
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.dataclasses import ChatMessage
except ImportError as error:
    from foveate.core.errors import MissingExtra

    raise MissingExtra("haystack-ai", "haystack") from error

from foveate.answer.messages import messages
from foveate.core import zones
from foveate.core.types import Context, Recipe
from foveate.core.wire import context_to_json
from foveate.frameworks.asked import Wish, assembled, who
from foveate.frameworks.shown import GAP, Piece, by_marker, pieces
from foveate.frameworks.written import (
    budget_read,
    budget_written,
    recipe_read,
    recipe_written,
)
from foveate.ports import text_of
from foveate.prepare import Prepared
from foveate.prompts.text import system_prompt

__all__ = ["FoveateAssembler"]

OUTPUTS: dict[str, Any] = {
    "documents": list[Document],
    "sources": list[Document],
    "context": str,
    "messages": list[ChatMessage],
    "citations": list[dict[str, Any]],
    "trace": list[dict[str, Any]],
    "token_count": int,
    "assembled": Context | None,
}


@component
class FoveateAssembler:
    """What retrievers found → a context within a budget of tokens, and the messages to send.

    | output | what it is |
    |---|---|
    | `documents` | one a block, in the order they stand, each text as it stands in the context |
    | `sources` | one a marker: `sources[n - 1]` is what `[n]` stands for, for `AnswerBuilder` |
    | `context` | the text |
    | `messages` | system prompt, context and question, for a chat generator |
    | `citations`, `trace` | plain data |
    | `token_count` | of the text |
    | `assembled` | the context as foveate's own value, None where nothing may be read |

    Options are those of `foveate.assemble`; `recipe` may also be one written as TOML. Who asks is
    an input of the run, `principals`, and of nothing that is written down with a pipeline.
    """

    def __init__(
        self,
        budget: int | dict[str, Any] | zones.Budget | None = None,
        recipe: str | Recipe = "default",
        *,
        tokenizer: str | None = None,
        model: str | None = None,
        format: str | None = None,
        order: str | None = None,
        language: str = "en",
        prompt: str = "grounded",
        system: str | None = None,
        k: int | None = None,
        separator: str = GAP,
    ) -> None:
        """Refuse now what cannot be done, not at the first question."""
        self.separator = separator
        self._wish = Wish(
            budget=budget_read(budget),
            recipe=recipe_read(recipe),
            tokenizer=tokenizer,
            model=model,
            format=format,
            order=order,
            language=language,
            prompt=prompt,
            system=system,
            k=k,
        )
        self._wish.plan()

    def to_dict(self) -> dict[str, Any]:
        """As Haystack writes it down; a recipe that is a value becomes TOML."""
        wish = self._wish
        names = ("tokenizer", "model", "format", "order", "language", "prompt", "system", "k")
        options = {name: getattr(wish, name) for name in names}
        return default_to_dict(
            self,
            budget=budget_written(wish.budget),
            recipe=recipe_written(wish.recipe),
            separator=self.separator,
            **options,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "FoveateAssembler":
        """The same component again."""
        return default_from_dict(cls, data)

    @component.output_types(**OUTPUTS)
    def run(
        self, query: str, documents: list[Document], principals: list[str] | None = None
    ) -> dict[str, Any]:
        """Assemble; with empty outputs, and the question alone, where nothing may be read."""
        made = assembled(
            query,
            list(documents),
            self._wish,
            principals=who(principals or ()),
            gap=self.separator,
        )
        return self._nothing(query) if made is None else self._outputs(made)

    @component.output_types(**OUTPUTS)
    async def run_async(
        self, query: str, documents: list[Document], principals: list[str] | None = None
    ) -> dict[str, Any]:
        """`run` without blocking the event loop."""
        return await asyncio.to_thread(self.run, query, documents, principals)

    def _outputs(self, made: Prepared) -> dict[str, Any]:
        context, wish = made.context, self._wish
        found, said = pieces(made), context_to_json(context)
        sent = messages(
            context, prompt=wish.prompt or "grounded", system=wish.system, language=wish.language
        )
        return {
            "documents": _documents(found),
            "sources": _documents(by_marker(found, self.separator)),
            "context": context.text,
            "messages": _chat([(one["role"], text_of(one["content"])) for one in sent]),
            "citations": said["citations"],
            "trace": said["trace"],
            "token_count": context.token_count,
            "assembled": context,
        }

    def _nothing(self, query: str) -> dict[str, Any]:
        wish = self._wish
        system = wish.system
        if system is None:
            system = system_prompt(wish.prompt or "grounded", marker=None, language=wish.language)
        asked = [("system", system)] if system else []
        return {
            "documents": [],
            "sources": [],
            "context": "",
            "messages": _chat([*asked, ("user", query)]),
            "citations": [],
            "trace": [],
            "token_count": 0,
            "assembled": None,
        }


def _documents(found: tuple[Piece, ...]) -> list[Document]:
    return [
        Document(id=piece.id, content=piece.text, meta=piece.whole, score=piece.score)
        for piece in found
    ]


def _chat(found: list[tuple[str, str]]) -> list[ChatMessage]:
    made = {"system": ChatMessage.from_system, "user": ChatMessage.from_user}
    return [made[role](content) for role, content in found]
