"""The node postprocessor: what a retriever found, within a budget of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_index.core.bridge.pydantic import ConfigDict, Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import field_serializer

from foveate.core.errors import BadInput
from foveate.frameworks.asked import assembled, who, wish_of
from foveate.frameworks.llama_index.nodes import nodes_of
from foveate.frameworks.shown import GAP, pieces
from foveate.frameworks.written import (
    budget_read,
    budget_written,
    recipe_read,
    recipe_written,
)


class FoveatePostprocessor(BaseNodePostprocessor):
    """What a retriever found → the blocks of a context, within a budget of tokens.

    Fields are named and checked as the options of `foveate.assemble`. `principals`: who asks, as
    names or as a function that gives them at each call; it is not written down with the rest.
    `separator`: what the synthesizer puts between nodes, which is counted too. Use it alone or
    `FoveateSynthesizer`, which assembles by itself.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    budget: Any = None
    recipe: Any = "default"
    tokenizer: Any = None
    model: Any = None
    format: Any = None
    order: str | None = None
    language: str = "en"
    k: int | None = None
    principals: Any = Field(default=(), exclude=True)
    separator: str = GAP
    around: Any = Field(default=None, exclude=True)

    if not TYPE_CHECKING:  # a type checker knows the fields

        def __init__(self, **options: Any) -> None:
            for name, read in (("budget", budget_read), ("recipe", recipe_read)):
                if name in options:
                    options[name] = read(options[name])
            super().__init__(**options)
            wish_of(self).plan()  # refuse now what cannot be done; in our own words

    @field_serializer("budget")
    def _budget(self, budget: Any) -> Any:
        return budget_written(budget)

    @field_serializer("recipe")
    def _recipe(self, recipe: Any) -> Any:
        return recipe_written(recipe)

    @classmethod
    def class_name(cls) -> str:
        """What it is called when it is written down."""
        return "FoveatePostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        """The blocks in the order they are to be read; none where none may be read."""
        if query_bundle is None:
            raise BadInput("is missing; give query_str or query_bundle", field="query")
        made = assembled(
            query_bundle.query_str,
            list(nodes),
            wish_of(self),
            principals=who(self.principals),
            gap=self.separator,
        )
        if made is None:
            return []
        return nodes_of(pieces(made), made.context, nodes)
