"""A Haystack component that assembles what retrievers found, with typed sockets.

Haystack 3 loads it from a dumped pipeline by `Pipeline.loads(text,
allowed_modules=["foveate.integrations.haystack"])`.
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
from foveate.core.context_json import context_to_json
from foveate.core.request import Recipe
from foveate.core.types import Context
from foveate.integrations.known_options import refuse_unknown_options
from foveate.integrations.options import (
    budget_from_json,
    budget_to_json,
    check_options,
    current_principals,
    from_documents,
    recipe_from_string,
    recipe_to_string,
)
from foveate.integrations.pieces import PIECE_SEPARATOR, Piece, build_pieces, group_by_marker
from foveate.pipeline.flow import AssemblyResult
from foveate.pipeline.options import AssembleOptions
from foveate.ports import Message, text_from_content

__all__ = ["FoveateAssembler"]

OUTPUTS: dict[str, Any] = {
    "documents": list[Document],
    "sources": list[Document],
    "context": str,
    "messages": list[ChatMessage],
    "citations": list[dict[str, Any]],
    "trace": list[dict[str, Any]],
    "token_count": int,
    "assembled": Context,
}


@component
@refuse_unknown_options
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
    | `assembled` | the context as foveate's own value |

    Options are those of `foveate.assemble`; `recipe` may also be one written as TOML. The
    caller is an input of the run, `principals`; nothing of it is saved with a pipeline.
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
        separator: str = PIECE_SEPARATOR,
    ) -> None:
        """Refuse now what cannot be done, not at the first question."""
        self.separator = separator
        self._options = AssembleOptions(
            budget=budget_from_json(budget),
            recipe=recipe_from_string(recipe),
            tokenizer=tokenizer,
            model=model,
            format=format,
            order=order,
            language=language,
            prompt=prompt,
            system=system,
            keep=k,
        )
        check_options(self._options)

    def to_dict(self) -> dict[str, Any]:
        """As Haystack writes it down; a recipe that is a value becomes TOML."""
        own = self._options
        names = ("tokenizer", "model", "format", "order", "language", "prompt", "system")
        options = {name: getattr(own, name) for name in names} | {"k": own.keep}
        return default_to_dict(
            self,
            budget=budget_to_json(own.budget),
            recipe=recipe_to_string(own.recipe),
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
        """Assemble; if nothing may be read, an empty context and the question alone."""
        made = from_documents(
            query,
            list(documents),
            self._options,
            principals=current_principals(principals or ()),
            gap=self.separator,
        )
        return self._outputs(made)

    @component.output_types(**OUTPUTS)
    async def run_async(
        self, query: str, documents: list[Document], principals: list[str] | None = None
    ) -> dict[str, Any]:
        """`run` without blocking the event loop."""
        return await asyncio.to_thread(self.run, query, documents, principals)

    def _outputs(self, made: AssemblyResult) -> dict[str, Any]:
        context, options = made.context, self._options
        found, said = build_pieces(made), context_to_json(context)
        sent = messages(
            context,
            prompt=options.prompt or "grounded",
            system=options.system,
            language=options.language,
        )
        return {
            "documents": _documents(found),
            "sources": _documents(group_by_marker(found, self.separator)),
            "context": context.text,
            "messages": _chat(sent),
            "citations": said["citations"],
            "trace": said["trace"],
            "token_count": context.token_count,
            "assembled": context,
        }


def _documents(found: tuple[Piece, ...]) -> list[Document]:
    return [
        Document(id=piece.id, content=piece.text, meta=piece.full_metadata, score=piece.score)
        for piece in found
    ]


def _chat(found: list[Message]) -> list[ChatMessage]:
    made = {"system": ChatMessage.from_system, "user": ChatMessage.from_user}
    return [made[one["role"]](text_from_content(one["content"])) for one in found]
