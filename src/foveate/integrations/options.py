"""The options of a framework's component, and the assembly: the same for every framework."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from foveate import plugins
from foveate.core.checks import check_principals
from foveate.core.errors import BadOption
from foveate.core.request import Recipe
from foveate.core.spec import recipe_from_toml, recipe_to_toml
from foveate.core.zones import Budget
from foveate.integrations.known_options import check_names
from foveate.integrations.pieces import PIECE_SEPARATOR, fit_pieces
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.flow import AssemblyResult
from foveate.pipeline.observers import StepObserver, combine_observers
from foveate.pipeline.options import AssembleKeywords, AssembleOptions, resolve_options

Principals: TypeAlias = Iterable[str] | Callable[[], Iterable[str]]
"""Names that the caller reads under, or a function that gives them at each call."""
OWN = ("budget", "recipe", "tokenizer", "model", "format", "order")
"""The options that an assembler has settled for itself."""
_FIELDS = tuple(f for f in fields(AssembleOptions) if f.name != "principals")


class OptionFields(BaseModel):
    """The options of `foveate.assemble` as fields; they are checked when the component is made.

    The caller, and who watches, are not written down with it.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    budget: Any = None
    recipe: Any = "default"
    tokenizer: Any = None
    model: Any = None
    format: Any = None
    order: str | None = None
    language: str = "en"
    principals: Any = Field(default=(), exclude=True)
    observers: Any = Field(default=None, exclude=True)

    if not TYPE_CHECKING:  # a type checker knows the fields

        def __init__(self, **options: Any) -> None:
            check_names(options, type(self).model_fields)
            super().__init__(**options)
            self._check()

    def _check(self) -> None:
        check_options(options_of(self))


def options_of(component: Any, **changes: Any) -> AssembleOptions:
    """The options in a component's attributes of the same names, with changes.

    A component's `k` is `keep`: how many of the best are considered.
    """
    found = {f.name: getattr(component, f.name) for f in _FIELDS if hasattr(component, f.name)}
    if hasattr(component, "k"):
        found["keep"] = component.k
    return AssembleOptions(**{**found, **changes})


def check_options(options: AssembleOptions) -> None:
    """Refuse what cannot be resolved, and formats that are for a provider's own client."""
    form = resolve_options(options).recipe.format
    if form.is_parts:
        raise BadOption(
            f"format {form.name!r} is for a provider's own client; take a text format, say xml"
        )


def current_principals(principals: Principals) -> tuple[str, ...]:
    """The names, as they are now."""
    return check_principals(principals() if callable(principals) else principals)


def from_documents(
    query: str,
    documents: Any,
    options: AssembleOptions,
    *,
    principals: Sequence[str] = (),
    gap: str = PIECE_SEPARATOR,
    observers: StepObserver | None = None,
) -> AssemblyResult:
    """The context of a framework's documents; empty if none may be read.

    `gap`: the text that joins its pieces, which keeps the budget too. Raises what
    `foveate.assemble` raises.
    """
    own = call_assembler(options, principals, observers)
    return fit_pieces(own.run(query, documents), own.resolve(query).tokenizer, gap)


def check_unused(options: AssembleOptions) -> None:
    """Refuse what an assembler has of its own: given twice, one of the two would be ignored."""
    given = [f.name for f in _FIELDS if f.name in OWN and getattr(options, f.name) != f.default]
    if given:
        raise BadOption(
            f"{', '.join(given)}: the assembler has its own; give "
            "Assembler(options=AssembleOptions(…)) what is wanted, or a retriever instead"
        )


def call_assembler(
    options: AssembleOptions,
    principals: Sequence[str],
    observers: StepObserver | None,
    assembler: Assembler | None = None,
) -> Assembler:
    """The assembler of one call: for documents, or the one that is given, with its own recipe."""
    if assembler is None:
        return Assembler(options=replace(options, principals=principals), observers=observers)
    keywords: AssembleKeywords = {"principals": principals}
    if options.keep is not None:
        keywords["keep"] = options.keep
    return replace(
        assembler,
        options=assembler.options.changed(keywords),
        observers=combine_observers(assembler.observers, observers),
    )


def budget_to_json(budget: Any) -> Any:
    """A budget of zones as a mapping of them; a number stays one."""
    if not isinstance(budget, Budget):
        return budget
    return {f.name: getattr(budget, f.name) for f in fields(Budget)}


def budget_from_json(budget: Any) -> Any:
    """A mapping of zones as a budget, anything else as it is; raises `BadOption`."""
    if not isinstance(budget, dict):
        return budget
    try:
        return Budget(**budget)
    except TypeError as error:
        raise BadOption(f"budget: {error}; give the zones of foveate.Budget") from None


def recipe_to_string(recipe: str | Path | Recipe) -> str:
    """A recipe that is a value as TOML; a name or a path stays one."""
    return (
        recipe_to_toml(recipe, plugins.component_registry())
        if isinstance(recipe, Recipe)
        else str(recipe)
    )


def recipe_from_string(recipe: str | Recipe) -> str | Recipe:
    """A recipe written as TOML as a value; a name, a path or a value stays what it is."""
    if isinstance(recipe, str) and "\n" in recipe:
        return recipe_from_toml(recipe, plugins.component_registry())
    return recipe
