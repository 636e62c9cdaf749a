"""The names in a request become values from closed lists.

No file, URL or package of a request is ever opened. The library takes names that may be paths
(`mine.toml`, `hf:PATH`, `prompt.md`, `openai:m@http://…`); here a name is
looked up in a list first. Inline recipes name stages and formats, and their options are values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, get_args

from foveate import plugins
from foveate.answer.answer_budget import find_answer_model
from foveate.core import formats, stages
from foveate.core.contracts import Format, Tokenizer
from foveate.core.errors import BadInput, BadOption, UnknownName
from foveate.core.replay import inputs_from_bundle
from foveate.core.request import Inputs, Recipe
from foveate.core.spec import ComponentRegistry, recipe_from_dict
from foveate.core.stages.order import OrderBy
from foveate.core.zones import Budget
from foveate.models import SAFE_WINDOW, registry
from foveate.models import Model as KnownModel
from foveate.pipeline.options import AssembleOptions, read_recipe
from foveate.pipeline.prompts import LANGUAGES
from foveate.ports import Model
from foveate.providers.tokenizers import ENCODINGS, tokenizer_in_list
from foveate.service.settings import Settings
from foveate.service.wire.requests import BudgetIn, ContextRequest

MAX_STAGES = 32
MAX_NEAR_STAGES = 4
"""Stages of an inline recipe that compare texts with one another, which takes longest."""
_READ_APART = {"messages", "neighbours", "principals", "supplements"}
"""Options whose values a request writes otherwise."""
_POOLS = ("candidates", "neighbours", "supplements", "offers")
NEIGHBOUR_REACH = 3
"""How far `expand` looks to either side, so many neighbours a candidate may have."""
_NAME_PATTERN = re.compile(r"[\w.-]+")


def is_path(name: str) -> bool:
    """Whether a model's or tokenizer's name holds the path of a file.

    >>> is_path("gguf:small.gguf"), is_path("/srv/m.gguf"), is_path("org/model"), is_path("gpt-4o")
    (True, True, False, False)
    """
    return name.startswith(("gguf:", "hf:", "/", "./", "../")) or "\\" in name


class RequestOptions:
    """The closed lists of one service, made when it starts.

    `recipe_parts`: the stages and formats that inline recipes and bundles may use.
    """

    def __init__(self, settings: Settings) -> None:
        self.recipes = _load_recipes(settings)
        if settings.recipe not in self.recipes:
            plugins.recipe(settings.recipe)  # says whose plugin is broken
        self._default_recipe = _check_name("recipe", settings.recipe, self.recipes)
        self.recipe_parts = _allowed_parts(plugin_stages=settings.plugin_stages)
        self.formats: Mapping[str, Callable[..., Format]] = plugins.component_registry().formats
        self.tokenizers = tuple(dict.fromkeys((*ENCODINGS, "simple", *settings.tokenizers)))
        self.prompts = _allowed_prompts()
        self.languages = settings.languages
        self.orders = get_args(OrderBy)
        self.answer_models = tuple(settings.models)
        self._models = settings.models
        self._windows = settings.windows
        self._max_bundle_items = 2 * NEIGHBOUR_REACH * settings.candidates
        self._loaded_models: dict[str, Model] = {}

    def options(self, **names: Any) -> AssembleOptions:
        """The options with these fields, of which names become values from the closed lists.

        Raises `UnknownName` or `BadOption`.
        """
        tokenizer, model, budget = (names.get(one) for one in ("tokenizer", "model", "budget"))
        if tokenizer is not None and model is not None:
            raise BadOption("give a tokenizer or a model, not both: a model brings its tokenizer")
        recipe = self.recipe(names.get("recipe"))
        known = self.model(model) if model is not None else None
        counter = tokenizer or (known.tokenizer if known else recipe.tokenizer)
        for kind, allowed in (("format", self.formats), ("order", self.orders)):
            if names.get(kind) is not None:
                _check_name(kind, names[kind], allowed)
        language = self.language(names.get("language", "en"))
        if names.get("prompt") is not None:
            _check_name("language of prompts", language, LANGUAGES)
            _check_name("prompt", names["prompt"], self.prompts)
        values = {
            "recipe": recipe,
            "budget": Budget(**budget.model_dump()) if isinstance(budget, BudgetIn) else budget,
            "tokenizer": self.tokenizer(counter),
            "model": known,
        }
        return AssembleOptions(**{**names, **values})

    def options_from(self, body: ContextRequest, **changes: Any) -> AssembleOptions:
        """The options that a request names, with `changes` in their place."""
        known = AssembleOptions.__dataclass_fields__.keys() - _READ_APART
        names = {name: getattr(body, name) for name in type(body).model_fields if name in known}
        names["messages"] = tuple((one.role, one.content) for one in body.messages)
        return self.options(**{**names, **changes})

    def recipe(self, recipe: str | Mapping[str, Any] | None) -> Recipe:
        """The recipe of that name, or written out as an object; None is the default one."""
        if recipe is None:
            return self.recipes[self._default_recipe]
        if isinstance(recipe, str):
            return self.recipes[_check_name("recipe", recipe, self.recipes)]
        return self.parse_recipe(recipe)

    def parse_recipe(self, record: Mapping[str, Any]) -> Recipe:
        """A recipe that is written out in the request."""
        self._check_stage_count(record)
        found = recipe_from_dict(record, self.recipe_parts)
        self.tokenizer(found.tokenizer)  # raises where a request may not name it
        return found

    def parse_bundle(self, bundle: Mapping[str, Any]) -> Inputs:
        """The inputs of a bundle, checked like a request; raises `BadInput`."""
        record = bundle.get("recipe")
        if not isinstance(record, Mapping):
            raise BadInput("the bundle has no 'recipe'; make it again with /v1/assemble")
        self._check_stage_count(record)
        for part in _POOLS:
            if isinstance(bundle.get(part), list) and len(bundle[part]) > self._max_bundle_items:
                raise BadInput(
                    f"the bundle has more than {self._max_bundle_items} {part}", field=part
                )
        found = inputs_from_bundle(bundle, self.recipe_parts)
        texts = (found.query, found.intent, found.language, found.state_root, found.index)
        if not all(isinstance(text, str) for text in texts):
            raise BadInput("the bundle is damaged; make it again with /v1/assemble")
        self.language(found.language)
        return found

    def tokenizer(self, name: str) -> Tokenizer:
        """A tokenizer of the list, or of one of the operator's models, by the model's name too.

        Each also with factors that were learned from what a provider counted.
        """
        if name in self.tokenizers:
            return plugins.tokenizer(name)
        return tokenizer_in_list(name, self._listed_tokenizer)

    def _listed_tokenizer(self, name: str) -> Tokenizer:
        if name in self._models:
            name = self.model(name).tokenizer
        elif not any(self.model(one).tokenizer == name for one in self._models):
            _check_name("tokenizer", name, self.tokenizers)
        return plugins.tokenizer(name)

    def hide_paths(self, record: dict[str, Any]) -> None:
        """Put the model's name in requests in the place of its file, in a context or a bundle."""
        manifest = record["manifest"]
        if is_path(manifest["tokenizer"]):
            for name in self._models:
                if self.model(name).tokenizer == manifest["tokenizer"]:
                    manifest["tokenizer"] = name

    def model(self, name: str) -> KnownModel:
        """The window and tokenizer of a model, which is not called."""
        if name in self._models:
            known = find_answer_model(self._models[name], self._windows.get(name))
            return replace(known or KnownModel(name=name, window=SAFE_WINDOW), name=name)
        return registry()[_check_name("model", name, (*self._models, *registry()))]

    def answer_model(self, name: str) -> Model:
        """A model of the operator's list; one object for all requests."""
        spelled = self._models[_check_name("model", name, self._models)]
        if name not in self._loaded_models:
            self._loaded_models[name] = plugins.model(spelled)
        return self._loaded_models[name]

    def language(self, name: str) -> str:
        """A language of the list."""
        return _check_name("language", name, self.languages)

    @staticmethod
    def _check_stage_count(record: Mapping[str, Any]) -> None:
        listed = record.get("stages")
        if not isinstance(listed, list):
            return
        if len(listed) > MAX_STAGES:
            raise BadOption(f"recipe: {len(listed)} stages; give {MAX_STAGES} at the most")
        names = [one.get("use") if isinstance(one, dict) else one for one in listed]
        if names.count("dedup_near") > MAX_NEAR_STAGES:
            raise BadOption(f"recipe: more than {MAX_NEAR_STAGES} stages dedup_near; give fewer")


def _check_name(kind: str, name: str, known: Any) -> str:
    if name not in known:
        raise UnknownName(kind, name, known)
    return name


def _allowed_parts(*, plugin_stages: bool) -> ComponentRegistry:
    """The built-in parts, unless the operator allows plugins: their options may be paths."""
    if plugin_stages:
        return plugins.component_registry()
    return ComponentRegistry(stages=dict(stages.BUILTIN), formats=dict(formats.BUILTIN))


def _load_recipes(settings: Settings) -> dict[str, Recipe]:
    found = dict(plugins.recipe_table())
    for name in settings.recipes:
        recipe = read_recipe(name)
        found[recipe.name] = recipe
    return found


def _allowed_prompts() -> tuple[str, ...]:
    """Prompts by name; a name like a file's would be read as one."""
    names = [p.name for p in plugins.list_plugins() if p.group == "prompts"]
    return tuple(n for n in names if _NAME_PATTERN.fullmatch(n) and not n.endswith((".md", ".txt")))
