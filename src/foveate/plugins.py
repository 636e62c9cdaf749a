"""Names → objects: what is built in, and what other packages register under entry points.

Groups: `foveate.stages`, `foveate.formats`, `foveate.recipes` (a `Recipe`, or a function that
gives one), `foveate.tokenizers` and `foveate.embedders` (functions that give one),
`foveate.models` (functions that give one for what follows the colon of its name) and
`foveate.prompts` (functions that give a system prompt for a language). An entry point may not take
a built-in's name. Nothing is loaded before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from foveate.adapters import caches, embedders, loaders, models, stores, tokenizers
from foveate.core import formats, recipes, stages
from foveate.core.contracts import Tokenizer
from foveate.core.errors import OutsideFailure, UnknownName
from foveate.core.spec import Known
from foveate.core.types import Recipe
from foveate.ports import Embedder, Model

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUPS = ("stages", "formats", "recipes", "tokenizers", "embedders", "models", "prompts")
PROMPTS = ("grounded", "soft", "strict", "voice")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """One name that can be used, and the distribution that brings it."""

    group: str
    name: str
    origin: str
    summary: str


@lru_cache(maxsize=1)
def known() -> Known:
    """Every stage and format, built in or registered."""
    return Known(
        stages={**stages.BUILTIN, **_loaded("stages", stages.BUILTIN)},
        formats={**formats.BUILTIN, **_loaded("formats", formats.BUILTIN)},
    )


def recipe(name: str) -> Recipe:
    """The recipe of that name; built-ins are found without looking at entry points."""
    built_in = recipes.builtin()
    if name in built_in:
        return built_in[name]
    others = recipe_table()
    if name not in others:
        raise UnknownName("recipe", name, others)
    return others[name]


def recipe_table() -> Mapping[str, Recipe]:
    """All recipes by name."""
    built_in = recipes.builtin()
    loaded = _loaded("recipes", built_in)
    return built_in | {n: r if isinstance(r, Recipe) else r() for n, r in loaded.items()}


def tokenizer(name: str) -> Tokenizer:
    """The tokenizer of that name; entry points are asked where no built-in has it.

    A model file's own, `gguf:FILE`, is the engine that answers with it.
    """
    if name.startswith("gguf:") and "*" not in name:
        from foveate.adapters.models.gguf import speaker_of

        asked = speaker_of(name.removeprefix("gguf:"))
        return tokenizers.of(asked.name, asked.fingerprint(), asked.count)
    return cast("Tokenizer", _made("tokenizers", name, tokenizers.load))


def embedder(name: str) -> Embedder:
    """The embedder of that name, likewise."""
    return cast("Embedder", _made("embedders", name, embedders.load))


def model(name: str) -> Model:
    """The model of that name; an entry point `mine` gives `mine:WHICH`, called with `WHICH`."""
    try:
        return models.load(name)
    except UnknownName:
        provider, _, which = name.partition(":")
        maker = _loaded("models", {}).get(provider)
        if maker is None:
            raise
        return cast("Model", maker(which))


def prompt(name: str, language: str) -> str:
    """The system prompt of that name, from an entry point; our own are files of the answer room."""
    makers = _loaded("prompts", dict.fromkeys(PROMPTS))
    if name not in makers:
        raise UnknownName("prompt", name, (*PROMPTS, *makers))
    return cast("str", makers[name](language))


def _made(group: str, name: str, load: Callable[[str], Any]) -> Any:
    try:
        return load(name)
    except UnknownName:
        maker = _loaded(group, {}).get(name)
        if maker is None:
            raise
        return maker()


def listed() -> tuple[Plugin, ...]:
    """Everything that can be named, for `foveate plugins`."""
    tables: dict[str, Mapping[str, Any]] = {
        "stages": stages.BUILTIN,
        "formats": formats.BUILTIN,
        "recipes": recipes.builtin(),
    }
    found = [
        Plugin(group=group, name=name, origin="foveate", summary=_summary(thing))
        for group, table in tables.items()
        for name, thing in table.items()
    ]
    found += [
        Plugin(group=group, name=name, origin="foveate", summary=summary)
        for group, (summary, names) in _adapters().items()
        for name in names
    ]
    for group in GROUPS:
        loaded = _loaded(group, tables.get(group, {}))
        origins = {point.name: _origin(point) for point in _points(group)}
        found += [
            Plugin(group=group, name=name, origin=origins[name], summary=_summary(thing))
            for name, thing in loaded.items()
        ]
    return tuple(found)


def _adapters() -> Mapping[str, tuple[str, Sequence[str]]]:
    """The built-in adapters, as one types their names; loaders by the suffixes they read."""
    return {
        "tokenizers": ("Counts and cuts texts.", tokenizers.KNOWN),
        "embedders": ("Turns texts into vectors.", embedders.NAMES),
        "models": ("Answers; MODEL@URL, of a server elsewhere.", models.NAMES),
        "prompts": ("What a model is told, in four languages.", PROMPTS),
        "loaders": ("Reads files of this suffix.", loaders.suffixes()),
        "stores": ("Opens the store at `NAME:PATH`.", stores.SCHEMES),
        "caches": ("Opens the cache at `NAME:…`.", caches.SCHEMES),
    }


def _points(group: str) -> list[EntryPoint]:
    """The group's entry points, in an order that does not depend on the installation."""
    from importlib.metadata import entry_points

    return sorted(entry_points(group=f"foveate.{group}"), key=lambda p: (p.name, p.value))


def _loaded(group: str, built_in: Mapping[str, Any]) -> dict[str, Any]:
    """Load the group; a name that is taken, or a plugin that fails, is said with its origin."""
    found: dict[str, Any] = {}
    for point in _points(group):
        if point.name in built_in or point.name in found:
            raise OutsideFailure(
                f"{_origin(point)} registers {group} {point.name!r}, a name that is taken; "
                "uninstall it or ask its author to rename it"
            )
        try:
            found[point.name] = point.load()
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise OutsideFailure(
                f"the plugin {point.value!r} of {_origin(point)} does not load ({what}); "
                "upgrade or uninstall it"
            ) from error
    return found


def _origin(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown distribution"


def _summary(thing: Any) -> str:
    """The first line of what it says about itself."""
    words = thing.description if isinstance(thing, Recipe) else (thing.__doc__ or "")
    return str(words).strip().split("\n")[0]
