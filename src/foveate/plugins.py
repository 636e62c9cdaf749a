"""Names → objects: what is built in, and what other packages register under entry points.

Groups: `foveate.stages`, `foveate.formats`, `foveate.shapes` (readers of records in texts),
`foveate.recipes` (a `Recipe`, or a function that gives one), `foveate.tokenizers` and
`foveate.embedders` (functions that give one), `foveate.models` (functions that give one for what
follows the colon of its name), `foveate.rerankers` (functions that give one) and `foveate.prompts`
(functions that give a system prompt for a language). An entry point may not take a built-in's name.
Nothing is loaded before it is named or listed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from foveate.core import formats, recipes, stages
from foveate.core.contracts import Tokenizer
from foveate.core.errors import UnknownName
from foveate.core.request import Recipe
from foveate.core.spec import ComponentRegistry
from foveate.entry_points import Broken, Registered, Unusable
from foveate.ports import Embedder, Model, Reranker
from foveate.providers import tokenizers

_BUILT_IN: Mapping[str, Mapping[str, Any]] = {
    "stages": stages.BUILTIN,
    "formats": formats.BUILTIN,
    "recipes": recipes.builtin_recipes(),
}
GROUPS = (
    "stages", "formats", "shapes", "recipes", "tokenizers", "embedders", "models", "rerankers",
    "prompts",
)  # fmt: skip
PROMPTS = ("grounded", "soft", "strict", "voice")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """One name that can be used, and the distribution that brings it."""

    group: str
    name: str
    origin: str
    summary: str


def component_registry() -> ComponentRegistry:
    """Every stage and format, built in or registered, and every registered reader of shapes."""
    groups = ("stages", "formats", "shapes")
    return ComponentRegistry(**{group: _registered(group) for group in groups})


def recipe(name: str) -> Recipe:
    """The recipe of that name; built-ins are found without looking at entry points."""
    table = recipe_table()
    try:
        return table[name]
    except KeyError:
        raise UnknownName("recipe", name, table) from None


def recipe_table() -> Mapping[str, Recipe]:
    """All recipes by name."""
    return _registered("recipes")


def tokenizer(name: str) -> Tokenizer:
    """The tokenizer of that name; entry points are asked where no built-in has it.

    A model file's own, `gguf:FILE`, is the engine that answers with it.
    """
    if name.startswith("gguf:") and "*" not in name:
        from foveate.providers.chat.gguf import get_provider

        asked = get_provider(name.removeprefix("gguf:"))
        return tokenizers.tokenizer_from_counter(asked.name, asked.fingerprint(), asked.count)
    return cast("Tokenizer", _load_named("tokenizers", name, tokenizers.load_tokenizer))


def embedder(name: str) -> Embedder:
    """The embedder of that name, likewise."""
    from foveate.providers import embedders

    return cast("Embedder", _load_named("embedders", name, embedders.load_embedder))


def model(name: str) -> Model:
    """The model of that name; an entry point `mine` gives `mine:WHICH`, called with `WHICH`."""
    from foveate.providers import chat

    try:
        return chat.load_model(name)
    except UnknownName:
        provider, _, which = name.partition(":")
        maker = _registered("models").get(provider)
        if maker is None:
            raise
        return cast("Model", maker(which))


def reranker(name: str) -> Reranker:
    """The reranker of that name, from an entry point; none is built in."""
    makers = _registered("rerankers")
    maker = makers.get(name)
    if maker is None:
        raise UnknownName("reranker", name, makers)
    return cast("Reranker", maker())


def prompt(name: str, language: str) -> str:
    """The system prompt of that name, from an entry point; our own are files of the answer room."""
    makers = _registered("prompts")
    try:
        maker = makers[name]
    except KeyError:
        raise UnknownName("prompt", name, (*PROMPTS, *makers)) from None
    return cast("str", maker(language))


def _load_named(group: str, name: str, load: Callable[[str], Any]) -> Any:
    try:
        return load(name)
    except UnknownName:
        maker = _registered(group).get(name)
        if maker is None:
            raise
        return maker()


def list_plugins() -> tuple[Plugin, ...]:
    """Everything that can be named, for `foveate plugins`."""
    found = [
        Plugin(group=group, name=name, origin="foveate", summary=_summary(thing))
        for group, table in _BUILT_IN.items()
        for name, thing in table.items()
    ]
    found += [
        Plugin(group=group, name=name, origin="foveate", summary=summary)
        for group, (summary, names) in _builtin_adapters().items()
        for name in names
    ]
    for group in GROUPS:
        table = _registered(group)
        found += [
            Plugin(group=group, name=name, origin=table.origin(name), summary=_summary(thing))
            for name, thing in table.plugins().items()
        ]
    return tuple(found)


def broken(*groups: str) -> tuple[Broken, ...]:
    """The plugins of these groups that cannot be used; of all where none is named."""
    return tuple(one for group in groups or GROUPS for one in _registered(group).broken())


@cache
def _registered(group: str) -> Registered:
    """The group, built-ins first; of adapters the plugins alone, since ours are made by name."""
    if group in _BUILT_IN:
        made = _recipe if group == "recipes" else None
        return Registered(group, _BUILT_IN[group], made=made)
    taken = {name.partition(":")[0] for name in _builtin_adapters()[group][1]}
    return Registered(group, taken=taken)


def _recipe(loaded: Any) -> Recipe:
    """A recipe, or what a function gives."""
    found = loaded if isinstance(loaded, Recipe) else loaded()
    if not isinstance(found, Recipe):
        raise Unusable(f"gives a {type(found).__name__}, not a Recipe")
    return found


def _builtin_adapters() -> Mapping[str, tuple[str, Sequence[str]]]:
    """The built-in adapters, as one types their names."""
    from foveate import stores
    from foveate.providers import chat, embedders
    from foveate.stores import caches

    return {
        "tokenizers": ("Count the tokens of texts, and cut texts.", tokenizers.NAMES),
        "embedders": ("Turn texts into vectors.", embedders.NAMES),
        "models": ("Answer questions; MODEL@URL asks a server of your own.", chat.NAMES),
        "shapes": ("Read records, tables and logs in texts.", ()),
        "rerankers": ("Score what a search found again.", ()),
        "prompts": ("System prompts, in four languages.", PROMPTS),
        "stores": ("Open the store at `NAME:PATH`.", stores.SCHEMES),
        "caches": ("Open the cache at `NAME:…`.", caches.SCHEMES),
    }


def _summary(thing: Any) -> str:
    """The first line of what it says about itself."""
    words = thing.description if isinstance(thing, Recipe) else (thing.__doc__ or "")
    return str(words).strip().split("\n")[0]
