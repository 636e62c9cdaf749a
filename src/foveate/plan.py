"""What a caller asks for, by name or by value → a recipe, a budget and a tokenizer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from foveate import plugins
from foveate.budget import Budget
from foveate.core import zones
from foveate.core.contracts import Format, Tokenizer
from foveate.core.errors import BadInput, BadOption, BadRequest, UnknownName
from foveate.core.formats.minimal import Minimal
from foveate.core.spec import recipe_from_toml
from foveate.core.stages.order import Order
from foveate.core.types import Recipe
from foveate.curves import curve
from foveate.models import Model
from foveate.models import model as model_named
from foveate.prompts.markers import marker_of_format
from foveate.prompts.text import Channel, system_prompt

__all__ = ["Channel", "Plan", "plan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that is settled before candidates are looked at.

    `system`: the system prompt that is sent with the context, and shares the window with it.
    `before`: what was said before, as (role, content), between it and the question; likewise.
    """

    recipe: Recipe
    budget: zones.Budget
    tokenizer: Tokenizer
    system: str = ""
    before: tuple[tuple[str, str], ...] = ()

    @property
    def messages(self) -> tuple[tuple[str, str], ...]:
        """What stands before the context in the request."""
        return (*((("system", self.system),) if self.system else ()), *self.before)


def plan(
    *,
    recipe: str | Recipe = "default",
    budget: int | zones.Budget | None = None,
    tokenizer: str | Tokenizer | None = None,
    model: str | Model | None = None,
    format: str | Format | None = None,
    order: str | None = None,
    query: str = "",
    channel: Channel = "text",
    prompt: str | None = None,
    language: str = "en",
    max_output: int = 1024,
) -> Plan:
    """Settle what is given against the recipe's own choices.

    A number as `budget` is tokens for the documents. With `model`, its tokenizer and window are
    used, and without a budget the documents get what the system prompt, the query and the reply (of
    `max_output` tokens) leave of it. `prompt` in `language`: the name or the file of the system
    prompt that is sent along; it follows the format, and shares the window with the context.
    `order`: a name, or `attention:CURVE`, a published curve's name or the file of one's own.
    The `voice` channel shows no markers: citations still say which chunk is where.
    """
    chosen = _changed(_recipe(recipe), format, order, channel)
    marker = marker_of_format(chosen.format)
    system = ""
    if prompt is not None:
        system = system_prompt(prompt, marker=marker, channel=channel, language=language)
    if model is None:
        named = _tokenizer(tokenizer or chosen.tokenizer)
        return Plan(recipe=chosen, budget=_budget(budget, chosen), tokenizer=named, system=system)
    known = model_named(model) if isinstance(model, str) else model
    named = _tokenizer(tokenizer or known.tokenizer)
    room = Budget.for_model(
        known, system_prompt=system, query=query, max_output=max_output, tokenizer=named
    )
    return Plan(recipe=chosen, budget=_within(budget, room), tokenizer=named, system=system)


def _tokenizer(tokenizer: str | Tokenizer) -> Tokenizer:
    """By value or by name."""
    return plugins.tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer


def _recipe(recipe: str | Recipe) -> Recipe:
    """By value, by the path of a TOML file, or by name."""
    if isinstance(recipe, Recipe):
        return recipe
    if not isinstance(recipe, str):
        what = type(recipe).__name__
        raise BadOption(f"recipe must be a name, a TOML file's path or a Recipe, not {what}")
    if not recipe.endswith(".toml"):
        return plugins.recipe(recipe)
    return _recipe_in(recipe)


def _recipe_in(name: str) -> Recipe:
    """The recipe in a TOML file; whatever is wrong with it is bad input and names the file."""
    try:
        text = Path(name).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise BadInput(f"{name}: no such file") from None
    except OSError as error:
        raise BadInput(f"{name}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{name}: not UTF-8 at byte {error.start + 1}; save it as UTF-8") from None
    except ValueError as error:  # a zero character in the name
        raise BadInput(f"the recipe {name!r} cannot be read: {error}") from None
    try:
        return recipe_from_toml(text, plugins.known())
    except BadRequest as error:
        raise BadInput(f"{name}: {error}") from error


def _changed(
    recipe: Recipe,
    format: str | Format | None,
    order: str | None,
    channel: Channel,
) -> Recipe:
    """The recipe with another format or order."""
    if channel not in ("text", "voice"):
        raise BadOption(f"channel must be 'text' or 'voice', not {channel!r}")
    if channel == "voice":
        recipe = replace(recipe, format=Minimal())
    elif isinstance(format, str):
        formats = plugins.known().formats
        if format not in formats:
            raise UnknownName("format", format, formats)
        recipe = replace(recipe, format=formats[format]())
    elif format is not None:
        recipe = replace(recipe, format=format)
    return recipe if order is None else _reordered(recipe, order)


def _reordered(recipe: Recipe, order: str) -> Recipe:
    """The order stage replaced, or put at the end."""
    by, colon, named = order.partition(":")
    if colon and not named:
        raise BadOption(f"order {order!r} names no curve; write attention:CURVE")
    if named and by != "attention":
        raise BadOption(f"order {order!r}: a curve goes with attention alone, attention:CURVE")
    old = [stage for stage in recipe.stages if isinstance(stage, Order)]
    new = replace(old[-1] if old else Order(), by=by)  # type: ignore[arg-type]
    if named:
        new = replace(new, curve=curve(named))
    if not old:
        return replace(recipe, stages=(*recipe.stages, new))
    return replace(recipe, stages=tuple(new if s is old[-1] else s for s in recipe.stages))


def _budget(budget: int | zones.Budget | None, recipe: Recipe) -> zones.Budget:
    """A number limits the documents, beside what else the recipe limits."""
    if budget is None:
        return recipe.budget
    if isinstance(budget, zones.Budget):
        return budget
    return replace(recipe.budget, documents=_tokens(budget), window=None)


def _within(budget: int | zones.Budget | None, room: zones.Budget) -> zones.Budget:
    """The model's room, or less of it; a budget's zones must fit the model's window."""
    if budget is None:
        return room
    if isinstance(budget, zones.Budget):
        window = min(budget.window or room.window or 0, room.window or 0)
        framing = {"per_message": room.per_message, "per_reply": room.per_reply}
        return replace(budget, window=window, **framing)
    tokens = _tokens(budget)
    if room.documents is not None and tokens > room.documents:
        raise BadOption(
            f"budget: {tokens} tokens for documents, but the model's window leaves "
            f"{room.documents}; ask for that at the most"
        )
    return replace(room, documents=tokens)


def _tokens(budget: int) -> int:
    if isinstance(budget, bool) or not isinstance(budget, int):
        raise BadOption(f"budget must be a number of tokens or a Budget, not {budget!r}")
    return budget
