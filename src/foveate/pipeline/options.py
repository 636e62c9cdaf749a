"""The options of a call as one value, and the values they resolve to.

Every face builds an `AssembleOptions`. A new option is a field here, a keyword in
`AssembleKeywords`, and one line in each face that shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from foveate import plugins
from foveate.core import zones
from foveate.core.checks import check_principals
from foveate.core.contracts import Format, Tokenizer
from foveate.core.errors import BadOption, UnknownName, name_in_errors
from foveate.core.request import Recipe
from foveate.core.spec import recipe_from_toml
from foveate.core.typed import check_fields, show_value
from foveate.core.types import Chunk, Supplement, Vector
from foveate.core.window import split_template
from foveate.models import Model
from foveate.pipeline.inputs import Channel, parse_messages
from foveate.pipeline.labels import label_recipe

if TYPE_CHECKING:
    from foveate.pipeline.taxonomy import Taxonomy

F = TypeVar("F", bound=Callable[..., Any])


class AssembleKeywords(TypedDict, total=False):
    """The fields of `AssembleOptions` as keyword arguments, for type checkers and editors."""

    recipe: str | Path | Recipe
    budget: int | zones.Budget | None
    tokenizer: str | Tokenizer | None
    model: str | Model | None
    max_output: int
    format: str | Format | None
    order: str | None
    language: str | None
    channel: Channel
    prompt: str | None
    system: str | None
    extra_instructions: str
    template: str
    messages: Iterable[Mapping[str, Any] | tuple[str, str]]
    principals: Iterable[str]
    where: Mapping[str, Any] | None
    limit: int
    depth: int
    keep: int | None
    neighbours: Iterable[Chunk]
    supplements: Iterable[Supplement]
    intent: str
    query_embedding: Vector | None
    instant: date | str | None


DEFAULT_TOKENS = 4_000
"""The budget for documents if neither the caller nor the recipe names one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembleOptions:
    """Everything a caller can ask of an assembly, beside the query, the candidates and the ports.

    What decides the context:

    - `recipe`: a recipe's name, the path of a TOML file, or a `Recipe`.
    - `budget`: tokens for the documents, or a `Budget`. None is the recipe's own, or what the
      model's window leaves.
    - `tokenizer`: a name or a `Tokenizer`; None is the recipe's.
    - `model`: a known model's name or a `Model`; its tokenizer and window are used. `max_output`
      is the part of that window, in tokens, that is kept for the answer.
    - `format`, `order`: in place of the recipe's. `order` is a name.
    - `language`, `channel`: of the texts, the label of page summaries and the prompt; without a
      language it is English, and the `voice` channel shows no markers.
    - `prompt`: the name or file of the system prompt that is sent along, `system` its text. It
      shares the window, as do `extra_instructions` behind it, the `template` of the user's message
      and `messages`: the conversation so far, with a role and a content each.
    - `instant`: the time that `prefer_recent` measures from, also as a date or in ISO 8601; None is
      the newest candidate's.

    What a search looks for: `principals` are the names the caller reads under, `where` filters
    metadata, `limit` is the number of candidates, `depth` how many each of the two searches looks
    at, and `keep` how many of the best go on.

    What a caller with a retriever may add: `neighbours`, `supplements`, the query's `intent` and
    its `query_embedding`, an array of shape (dimensions,).
    """

    recipe: str | Path | Recipe = "default"
    budget: int | zones.Budget | None = None
    tokenizer: str | Tokenizer | None = None
    model: str | Model | None = None
    max_output: int = 1024
    format: str | Format | None = None
    order: str | None = None
    language: str = "en"
    channel: Channel = "text"
    prompt: str | None = None
    system: str | None = None
    extra_instructions: str = ""
    template: str = ""
    messages: Iterable[Mapping[str, Any] | tuple[str, str]] = ()
    principals: Iterable[str] = ()
    where: Mapping[str, Any] | None = None
    limit: int = 20
    depth: int = 50
    keep: int | None = None
    neighbours: Iterable[Chunk] = ()
    supplements: Iterable[Supplement] = ()
    intent: str = ""
    query_embedding: Vector | None = None
    instant: datetime | None = None

    def __post_init__(self) -> None:
        """Refuse wrong types, and keep what an iterator gives: every call reads it again."""
        if self.language is None:
            object.__setattr__(self, "language", "en")
        object.__setattr__(self, "instant", _parse_instant(self.instant))
        check_fields(self)
        for name in ("messages", "principals", "neighbours", "supplements"):
            if isinstance(given := getattr(self, name), Iterator):
                object.__setattr__(self, name, tuple(given))

    def changed(self, keywords: AssembleKeywords | Mapping[str, Any]) -> AssembleOptions:
        """The options with these fields replaced; raises `UnknownName` for a field there is not."""
        if not keywords:
            return self
        known = [one.name for one in fields(self)]
        for name in keywords:
            if name not in known:
                raise UnknownName("option", name, known)
        return replace(self, **keywords)


def show_keywords(function: F) -> F:
    """Let `help()` and notebooks list the fields of `AssembleOptions` in place of `**keywords`."""
    found, types = signature(function), AssembleKeywords.__annotations__
    kind = Parameter.KEYWORD_ONLY
    listed = [
        Parameter(o.name, kind, default=o.default, annotation=types[o.name].__forward_arg__)
        for o in fields(AssembleOptions)
    ]
    own = list(found.parameters.values())[:-1]
    function.__signature__ = found.replace(parameters=[*own, *listed])  # type: ignore[attr-defined]
    return function


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedOptions:
    """The values that options resolve to.

    `system`: the system prompt. `history`: earlier messages, as (role, content). `image_formula`:
    the model's, empty without one.
    """

    recipe: Recipe
    budget: zones.Budget
    tokenizer: Tokenizer
    principals: tuple[str, ...] = ()
    system: str = ""
    history: tuple[tuple[str, str], ...] = ()
    image_formula: str = ""
    options: AssembleOptions = field(default_factory=AssembleOptions, compare=False)

    @property
    def messages(self) -> tuple[tuple[str, str], ...]:
        """What shares the request with the context and the query."""
        system = (("system", self.system),) if self.system else ()
        if not self.options.template:
            return (*system, *self.history)
        return (*system, *self.history, ("system", "".join(split_template(self.options.template))))


def resolve_options(
    options: AssembleOptions, query: str = "", *, taxonomy: Taxonomy | None = None
) -> ResolvedOptions:
    """Names become values, and the budget is measured.

    Without a budget, the documents get `DEFAULT_TOKENS`, or what the recipe's own budget says. With
    a model, they get no more than the system prompt, the query and the answer leave of its window.
    A taxonomy adds its gate to the recipe, unless the recipe has one.

    Raises `BadInput`, `BadOption` or `UnknownName`.
    """
    recipe = _recipe_for(options)
    if taxonomy is not None:
        from foveate.pipeline.taxonomy import add_supplement_gate

        recipe = add_supplement_gate(recipe, taxonomy)
    recipe = _keep_best(recipe, options.keep)
    system = add_instructions(_system_prompt(options, recipe), options.extra_instructions)
    image_formula = ""
    if options.model is None:
        tokenizer = plugins.tokenizer(options.tokenizer or recipe.tokenizer)
        budget = _recipe_budget(options.budget, recipe)
    else:
        from foveate.models import model as model_named
        from foveate.pipeline.budget import Budget
        from foveate.providers.chat import registry_name

        known = options.model
        if isinstance(known, str):
            known = model_named(registry_name(known))
        tokenizer = plugins.tokenizer(options.tokenizer or known.tokenizer)
        image_formula = known.images
        room = Budget.for_model(
            known,
            system_prompt=system,
            query=query,
            max_output=options.max_output,
            tokenizer=tokenizer,
        )
        budget = _model_budget(options.budget, room, recipe)
    return ResolvedOptions(
        recipe=_settle_headers(recipe, budget),
        budget=budget,
        tokenizer=tokenizer,
        principals=check_principals(options.principals),
        system=system,
        history=parse_messages(options.messages),
        image_formula=image_formula,
        options=options,
    )


def add_instructions(system: str, extra: str) -> str:
    """The system prompt with more instructions as its last paragraph."""
    return "\n\n".join(part for part in (system, extra.strip()) if part)


def _system_prompt(options: AssembleOptions, recipe: Recipe) -> str:
    if options.system is not None:
        return options.system
    if options.prompt is None:
        return ""
    from foveate.pipeline.prompts import marker_from_format, system_prompt

    return system_prompt(
        options.prompt,
        marker=marker_from_format(recipe.format),
        channel=options.channel,
        language=options.language,
    )


def _settle_headers(recipe: Recipe, budget: zones.Budget) -> Recipe:
    form = recipe.format.for_budget(budget.documents or (budget.characters or 0) // 4)
    return recipe if form == recipe.format else replace(recipe, format=form)


def check_options(options: AssembleOptions) -> None:
    """Raise what `resolve_options` would raise for the recipe, its format, order and `keep`.

    Raises `BadOption` for a budget, or fields, in the place of the options.
    """
    if not isinstance(options, AssembleOptions):
        raise BadOption(
            f"options is {show_value(options)}; name what you give, as in budget=60, or give an "
            "AssembleOptions"
        )
    _keep_best(_recipe_for(options), options.keep)


def _parse_instant(instant: Any) -> Any:
    """A date, or a text in ISO 8601, as a datetime; anything else as it is."""
    if isinstance(instant, date | str) and not isinstance(instant, datetime):
        with suppress(ValueError):
            return datetime.fromisoformat(str(instant))
    return instant


def _recipe_for(options: AssembleOptions) -> Recipe:
    recipe, form = load_recipe(options.recipe), options.format
    if options.channel == "voice":
        from foveate.core.formats.minimal import Minimal

        recipe = replace(recipe, format=Minimal())
    elif isinstance(form, str):
        recipe = replace(recipe, format=plugins.make_format(form))
    elif form is not None:
        recipe = replace(recipe, format=form)
    recipe = recipe if options.order is None else _reorder(recipe, options.order)
    recipe = label_recipe(recipe, options.language)
    return _gather(recipe) if recipe.format.once_a_document else recipe


def _gather(recipe: Recipe) -> Recipe:
    """The recipe with a last order that keeps the texts of a document together."""
    from foveate.core.stages.order import Order

    last = recipe.stages[-1] if recipe.stages else None
    if not isinstance(last, Order):
        return replace(recipe, stages=(*recipe.stages, Order(groups=True)))
    if last.by == "document" or last.groups:
        return recipe
    return replace(recipe, stages=(*recipe.stages[:-1], replace(last, groups=True)))


def _keep_best(recipe: Recipe, keep: int | None) -> Recipe:
    if keep is None:
        return recipe
    from foveate.core.stages.floor import Floor

    best = Floor(max_candidates=_at_least_one("keep", keep))
    return replace(recipe, stages=(best, *recipe.stages))


def load_recipe(recipe: str | Path | Recipe) -> Recipe:
    """A recipe by value, by name, or from a TOML file; raises `BadInput` or `UnknownName`."""
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, Path):
        return read_recipe(str(recipe))
    if not isinstance(recipe, str):
        what = type(recipe).__name__
        raise BadOption(f"recipe must be a name, a TOML file's path or a Recipe, not {what}")
    return read_recipe(recipe) if recipe.endswith(".toml") else plugins.recipe(recipe)


def read_recipe(name: str) -> Recipe:
    """The recipe in a TOML file; raises `BadInput` with its name."""
    from foveate.pipeline.text_files import read_text_file

    text = read_text_file(name)
    with name_in_errors(name):
        return recipe_from_toml(text, plugins.component_registry())


def _reorder(recipe: Recipe, order: str) -> Recipe:
    from foveate.core.stages.order import Order

    old = [stage for stage in recipe.stages if isinstance(stage, Order)]
    new = replace(old[-1] if old else Order(), by=order)  # type: ignore[arg-type]
    if order == "as_packed":
        from foveate.core.stages.pack import Pack

        stages = (replace(s, as_taken=True) if isinstance(s, Pack) else s for s in recipe.stages)
        recipe = replace(recipe, stages=tuple(stages))
    if not old:
        return replace(recipe, stages=(*recipe.stages, new))
    return replace(recipe, stages=tuple(new if s is old[-1] else s for s in recipe.stages))


def _recipe_budget(budget: int | zones.Budget | None, recipe: Recipe) -> zones.Budget:
    if budget is None:
        modest = recipe.budget == zones.Budget()
        return replace(recipe.budget, documents=DEFAULT_TOKENS) if modest else recipe.budget
    if isinstance(budget, zones.Budget):
        return budget
    return replace(recipe.budget, documents=_at_least_one("budget", budget), window=None)


def _model_budget(
    budget: int | zones.Budget | None, room: zones.Budget, recipe: Recipe
) -> zones.Budget:
    most = DEFAULT_TOKENS if recipe.budget == zones.Budget() else None
    if budget is None:
        return replace(room, documents=min(room.documents or most, most)) if most else room
    if isinstance(budget, zones.Budget):
        window = min(budget.window or room.window or 0, room.window or 0)
        framing = {"per_message": room.per_message, "per_reply": room.per_reply}
        return replace(budget, window=window, **framing)
    tokens = _at_least_one("budget", budget)
    if room.documents is not None and tokens > room.documents:
        raise BadOption(
            f"budget: {tokens} tokens for documents, but the model's window leaves "
            f"{room.documents}; ask for that at the most"
        )
    return replace(room, documents=tokens)


def _at_least_one(name: str, number: int) -> int:
    if number < 1:
        raise BadOption(f"{name} is {number}; it must be 1 or more")
    return number
