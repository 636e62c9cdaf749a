"""The node postprocessor: what a retriever found, within a budget of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import field_serializer

from foveate.core.errors import BadInput
from foveate.integrations.llama_index.nodes import nodes_from_pieces
from foveate.integrations.options import (
    OptionFields,
    budget_from_json,
    budget_to_json,
    current_principals,
    from_documents,
    options_of,
    recipe_from_string,
    recipe_to_string,
)
from foveate.integrations.pieces import PIECE_SEPARATOR, build_pieces


class FoveatePostprocessor(OptionFields, BaseNodePostprocessor):
    """What a retriever found → the blocks of a context, within a budget of tokens.

    The fields are options of `foveate.assemble`. `principals`: the names that the caller reads
    under, or a function that returns them at each call; they are not serialised. `separator`: the
    text between nodes, which is counted.
    """

    k: int | None = None
    separator: str = PIECE_SEPARATOR

    if not TYPE_CHECKING:  # a type checker knows the fields

        def __init__(self, **options: Any) -> None:
            for name, read in (("budget", budget_from_json), ("recipe", recipe_from_string)):
                if name in options:
                    options[name] = read(options[name])
            super().__init__(**options)

    @field_serializer("budget")
    def _budget(self, budget: Any) -> Any:
        return budget_to_json(budget)

    @field_serializer("recipe")
    def _recipe(self, recipe: Any) -> Any:
        return recipe_to_string(recipe)

    @classmethod
    def class_name(cls) -> str:
        """What it is called when it is written down."""
        return "FoveatePostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        """The blocks in reading order; none if none may be read."""
        if query_bundle is None:
            raise BadInput("is missing; give query_str or query_bundle", field="query")
        made = from_documents(
            query_bundle.query_str,
            list(nodes),
            options_of(self),
            principals=current_principals(self.principals),
            observers=self.observers,
            gap=self.separator,
        )
        return nodes_from_pieces(build_pieces(made), made.context, nodes)
