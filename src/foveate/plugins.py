"""Names → objects: what is built in, and what other packages register under entry points.

Groups: `foveate.stages`, `foveate.formats`, `foveate.recipes` (a `Recipe`, or a function that gives
one), `foveate.tokenizers` and `foveate.embedders` (functions that give one), `foveate.models`
(functions that give one for what follows the colon of its name), `foveate.rerankers` (functions
that give one) and `foveate.prompts` (functions that give a system prompt for a language). An entry
point may not take a built-in's name. Nothing is loaded before it is named or listed.

A plugin is code of somebody else: it may raise, or end the process, while it is imported. Whoever
names it is told so; a list leaves it out, and `broken` has the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, cast

from foveate.core import formats, recipes, stages
from foveate.core.contracts import Format, Tokenizer
from foveate.core.errors import ExternalError, UnknownName
from foveate.core.request import Recipe
from foveate.core.spec import ComponentRegistry
from foveate.ports import Embedder, Model, Reranker
from foveate.providers import tokenizers

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_BUILT_IN: Mapping[str, Mapping[str, Any]] = {
    "stages": stages.BUILTIN,
    "formats": formats.BUILTIN,
    "recipes": recipes.builtin_recipes(),
}
GROUPS = (
    "stages", "formats", "recipes", "tokenizers", "embedders", "models", "rerankers",
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
    """Every stage and format, built in or registered."""
    groups = ("stages", "formats")
    return ComponentRegistry(**{group: _registered(group) for group in groups})


def recipe(name: str) -> Recipe:
    """The recipe of that name; built-ins are found without looking at entry points."""
    return cast("Recipe", _by_name("recipes", name))


def recipe_table() -> Mapping[str, Recipe]:
    """All recipes by name."""
    return _registered("recipes")


def tokenizer(name: str | Tokenizer) -> Tokenizer:
    """The tokenizer of that name; entry points are asked where no built-in has it.

    A model file's own, `gguf:FILE`, is the engine that answers with it. A tokenizer is itself.
    """
    if not isinstance(name, str):
        return name
    if name.startswith("gguf:") and "*" not in name:
        from foveate.providers.chat.gguf import get_provider
        from foveate.providers.tokenizers.simple import CallbackTokenizer

        asked = get_provider(name.removeprefix("gguf:"))
        return CallbackTokenizer(
            name=asked.name, fingerprint=asked.fingerprint(), tokens=asked.count
        )
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
        factory = _registered("models").get(provider)
        if factory is None:
            raise
        return cast("Model", factory(which))


def reranker(name: str) -> Reranker:
    """The reranker of that name, from an entry point; none is built in."""
    return cast("Reranker", _by_name("rerankers", name)())


def prompt(name: str, language: str) -> str:
    """The system prompt of that name, from an entry point; our own are files of the answer room."""
    return cast("str", _by_name("prompts", name, PROMPTS)(language))


def make_format(name: str) -> Format:
    """The format of that name, as it is without options."""
    return cast("Format", _by_name("formats", name)())


def _by_name(group: str, name: str, own: Sequence[str] = ()) -> Any:
    """What the group has under the name; `own`: names to be had elsewhere, for the error."""
    table = _registered(group)
    try:
        return table[name]
    except KeyError:
        raise UnknownName(group.removesuffix("s"), name, (*own, *table)) from None


def _load_named(group: str, name: str, load: Callable[[str], Any]) -> Any:
    try:
        return load(name)
    except UnknownName:
        factory = _registered(group).get(name)
        if factory is None:
            raise
        return factory()


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
        "rerankers": ("Score what a search found again.", ()),
        "prompts": ("System prompts, in four languages.", PROMPTS),
        "stores": ("Open the store at `NAME:PATH`.", stores.SCHEMES),
        "caches": ("Open the cache at `NAME:…`.", caches.SCHEMES),
    }


def _summary(thing: Any) -> str:
    """The first line of what it says about itself."""
    words = thing.description if isinstance(thing, Recipe) else (thing.__doc__ or "")
    return str(words).strip().split("\n")[0]


class Unusable(TypeError):
    """What a plugin gives is not what its group holds; the message follows the plugin's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A plugin that cannot be used, the distributions that bring it, and why."""

    group: str
    name: str
    origin: str
    reason: str

    def __str__(self) -> str:
        kind = self.group.removesuffix("s")
        return f"the {kind} {self.name!r} of {self.origin} {self.reason}; upgrade or uninstall it"


class Registered(Mapping[str, Any]):
    """The usable plugins of a group by name, after those that are built in.

    Looking up a broken one raises `ExternalError`. `taken`: names that no plugin may have beside
    those of `built_in`. `made` turns what was loaded into what is wanted; it raises `Unusable`.
    """

    def __init__(
        self,
        group: str,
        built_in: Mapping[str, Any] | None = None,
        *,
        taken: Collection[str] = (),
        made: Callable[[Any], Any] | None = None,
    ) -> None:
        self._group = group
        self._built_in = built_in or {}
        self._taken = {*self._built_in, *taken}
        self._made = made

    def __getitem__(self, name: str) -> Any:
        if name in self._built_in:
            return self._built_in[name]
        points = self._points.get(name)
        if points is None:
            raise KeyError(name)
        found = self._found(name, points)
        if isinstance(found, Broken):
            raise ExternalError(str(found))
        return found

    def __contains__(self, name: object) -> bool:
        try:
            self[name]  # type: ignore[index]
        except (KeyError, ExternalError):
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        yield from self._built_in
        yield from self.plugins()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def plugins(self) -> dict[str, Any]:
        """The usable ones that are not built in."""
        return {name: one for name, one in self._all() if not isinstance(one, Broken)}

    def broken(self) -> list[Broken]:
        """The others."""
        return [one for _, one in self._all() if isinstance(one, Broken)]

    def origin(self, name: str) -> str:
        """Which distribution brings it."""
        return _origins(self._points[name])

    def _all(self) -> Iterator[tuple[str, Any]]:
        for name, points in self._points.items():
            yield name, self._found(name, points)

    @cached_property
    def _points(self) -> dict[str, tuple[EntryPoint, ...]]:
        """The group's entry points by name, in an order that no installation changes."""
        from importlib.metadata import entry_points

        found: dict[str, tuple[EntryPoint, ...]] = {}
        for point in sorted(entry_points(group=f"foveate.{self._group}"), key=lambda p: p.name):
            found[point.name] = (*found.get(point.name, ()), point)
        return found

    def _found(self, name: str, points: tuple[EntryPoint, ...]) -> Any:
        """What the plugin gives, or `Broken`."""
        thing, reason = None, ""
        if name in self._taken:
            reason = "has a name that is taken"
        elif len(points) > 1:
            reason = "is registered more than once"
        else:
            thing, reason = _loaded(points[0], self._made)
        if not reason:
            return thing
        return Broken(group=self._group, name=name, origin=_origins(points), reason=reason)


@cache
def _loaded(point: EntryPoint, made: Callable[[Any], Any] | None) -> tuple[Any, str]:
    """What the entry point gives, and why it cannot be used; tried once in a process."""
    try:
        found = point.load()
        return (made(found) if made is not None else found), ""
    except Unusable as error:
        return None, str(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever it does, but for Ctrl-C
        said = " ".join(f"{type(error).__name__}: {error}".split())
        return None, f"does not load ({said})"


def _origins(points: tuple[EntryPoint, ...]) -> str:
    named = (f"{p.dist.name} {p.dist.version}" if p.dist else "" for p in points)
    return " and ".join(sorted(name or "an unknown distribution" for name in named))
