"""Names in a request → values. The border: everything comes from a closed list.

Rules: no file, no URL and no package of a request is ever opened or asked for. A name is looked
up in a list made beforehand, and only then handed on; where elsewhere a name may be a path
(`mine.toml`, `hf:PATH`, `attention:FILE.json`, `prompt.md`, `openai:m@http://…`), here it is
unknown. Inline recipes are values all through: stages and formats by name, options by type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from foveate import plugins
from foveate.answer.answer_budget import find_answer_model
from foveate.core import formats, stages
from foveate.core.contracts import Format, Tokenizer
from foveate.core.errors import BadInput, BadOption, InvalidRequest, UnknownName
from foveate.core.replay import inputs_from_bundle
from foveate.core.request import Inputs, Recipe
from foveate.core.spec import ComponentRegistry, recipe_from_dict, recipe_from_toml
from foveate.core.stages.order import OrderBy
from foveate.core.zones import Budget
from foveate.models import SAFE_WINDOW, registry
from foveate.models import Model as KnownModel
from foveate.pipeline.curves import load_published_curves
from foveate.pipeline.options import AssembleOptions
from foveate.pipeline.prompts.text import LANGUAGES
from foveate.ports import Model
from foveate.providers.tokenizers import ENCODINGS
from foveate.service.settings import Settings
from foveate.service.wire.request import BudgetIn

MAX_STAGES = 32
_POOLS = ("candidates", "neighbours", "supplements", "offers")
_NEIGHBOUR_REACH = 3
"""How far `expand` looks to either side, so many neighbours a candidate may have."""
_NAME_PATTERN = re.compile(r"[\w.-]+")


class RequestOptions:
    """The closed lists of one service, made when it starts. Holds values only."""

    def __init__(self, settings: Settings) -> None:
        self.recipes = _load_recipes(settings)
        self._default_recipe = _default(settings.recipe, self.recipes)
        self._recipe_parts = _allowed_parts(plugin_stages=settings.plugin_stages)
        self.formats: Mapping[str, Callable[..., Format]] = plugins.component_registry().formats
        self.tokenizers = _allowed_tokenizers(settings)
        self.prompts = _allowed_prompts()
        self.languages = settings.languages
        self.orders = (
            *get_args(OrderBy),
            *(f"attention:{name}" for name in load_published_curves()),
        )
        self.answer_models = tuple(settings.models)
        self._models = settings.models
        self._windows = settings.windows
        self._max_bundle_items = 2 * _NEIGHBOUR_REACH * settings.candidates
        self._loaded_models: dict[str, Model] = {}

    def options(
        self,
        *,
        recipe: str | Mapping[str, Any] | None = None,
        budget: int | BudgetIn | None = None,
        tokenizer: str | None = None,
        model: str | None = None,
        format: str | None = None,
        order: str | None = None,
        language: str = "en",
        channel: Literal["text", "voice"] = "text",
        prompt: str | None = None,
        max_output: int = 1024,
    ) -> AssembleOptions:
        """The options of a request, with values in place of names.

        Raises `UnknownName` or `BadOption`.
        """
        if tokenizer is not None and model is not None:
            raise BadOption("give a tokenizer or a model, not both: a model brings its tokenizer")
        chosen = self.recipe(recipe)
        known = self.model(model) if model is not None else None
        counter = tokenizer or (known.tokenizer if known else chosen.tokenizer)
        return AssembleOptions(
            recipe=chosen,
            budget=_budget_from_request(budget),
            tokenizer=self.tokenizer(counter),
            model=known,
            format=_check_optional_name("format", format, self.formats),
            order=_check_optional_name("order", order, self.orders),
            language=self.language(language),
            channel=channel,
            prompt=self._check_prompt(prompt, language),
            max_output=max_output,
        )

    def recipe(self, asked: str | Mapping[str, Any] | None) -> Recipe:
        """By name, or as an object."""
        if asked is None:
            return self.recipes[self._default_recipe]
        if isinstance(asked, str):
            return self.recipes[_check_name("recipe", asked, self.recipes)]
        return self.parse_recipe(asked)

    def parse_recipe(self, record: Mapping[str, Any]) -> Recipe:
        """A recipe that is written out in the request."""
        self._check_stage_count(record)
        found = recipe_from_dict(record, self._recipe_parts)
        _check_name("tokenizer", found.tokenizer, self.tokenizers)
        return found

    def parse_bundle(self, bundle: Mapping[str, Any]) -> Inputs:
        """The inputs of a bundle, whose recipe passes the same door; raises `BadInput`."""
        record = bundle.get("recipe")
        if not isinstance(record, Mapping):
            raise BadInput("the bundle has no 'recipe'; make it again with /v1/assemble")
        self._check_stage_count(record)
        for part in _POOLS:
            if isinstance(bundle.get(part), list) and len(bundle[part]) > self._max_bundle_items:
                raise BadInput(
                    f"the bundle has more than {self._max_bundle_items} {part}", field=part
                )
        found = inputs_from_bundle(bundle, self._recipe_parts)
        texts = (found.query, found.intent, found.language, found.state_root, found.index)
        if not all(isinstance(text, str) for text in texts):
            raise BadInput("the bundle is damaged; make it again with /v1/assemble")
        self.language(found.language)
        return found

    @property
    def recipe_parts(self) -> ComponentRegistry:
        """The stages and formats that inline recipes and bundles may use."""
        return self._recipe_parts

    def tokenizer(self, name: str) -> Tokenizer:
        """One of the list, or what one of the operator's models counts by."""
        if not any(self.model(one).tokenizer == name for one in self._models):
            _check_name("tokenizer", name, self.tokenizers)
        return plugins.tokenizer(name)

    def model(self, name: str) -> KnownModel:
        """What is known of a model, for its window and tokenizer; nothing is asked of it."""
        if name in self._models:
            known = find_answer_model(self._models[name], self._windows.get(name))
            return known or KnownModel(name=name, window=SAFE_WINDOW)
        found = registry().get(name)
        if found is None or found.tokenizer not in self.tokenizers:
            raise UnknownName("model", name, (*self._models, *registry()))
        return found

    def answer_model(self, name: str) -> Model:
        """One of the models that the operator allows, to be asked; one object for all requests."""
        spelled = self._models[_check_name("model", name, self._models)]
        if name not in self._loaded_models:
            self._loaded_models[name] = plugins.model(spelled)
        return self._loaded_models[name]

    def language(self, name: str) -> str:
        """One of the list."""
        return _check_name("language", name, self.languages)

    @staticmethod
    def _check_stage_count(record: Mapping[str, Any]) -> None:
        listed = record.get("stages")
        if isinstance(listed, list) and len(listed) > MAX_STAGES:
            raise BadOption(f"recipe: {len(listed)} stages; give {MAX_STAGES} at the most")

    def _check_prompt(self, name: str | None, language: str) -> str | None:
        if name is None:
            return None
        _check_name("language of prompts", language, LANGUAGES)
        return _check_name("prompt", name, self.prompts)


def _check_name(kind: str, name: str, known: Any) -> str:
    if name not in known:
        raise UnknownName(kind, name, known)
    return name


def _check_optional_name(kind: str, name: str | None, known: Any) -> str | None:
    return None if name is None else _check_name(kind, name, known)


def _budget_from_request(asked: int | BudgetIn | None) -> int | Budget | None:
    return Budget(**asked.model_dump()) if isinstance(asked, BudgetIn) else asked


def _allowed_parts(*, plugin_stages: bool) -> ComponentRegistry:
    """Ours alone, unless the operator says otherwise: an option of theirs may be a path."""
    if plugin_stages:
        return plugins.component_registry()
    return ComponentRegistry(stages=dict(stages.BUILTIN), formats=dict(formats.BUILTIN))


def _load_recipes(settings: Settings) -> dict[str, Recipe]:
    """Those that are registered, and the operator's own."""
    found = dict(plugins.recipe_table())
    for name in settings.recipes:
        recipe = _load_recipe(Path(name))
        found[recipe.name] = recipe
    return found


def _default(name: str, recipes: Mapping[str, Recipe]) -> str:
    """The name, where it is one; raises `UnknownName`, or `OutsideFailure` for a broken plugin."""
    if name not in recipes:
        try:
            plugins.recipe_table()[name]
        except KeyError:
            raise UnknownName("recipe", name, recipes) from None
    return name


def _load_recipe(path: Path) -> Recipe:
    try:
        return recipe_from_toml(path.read_text(encoding="utf-8-sig"), plugins.component_registry())
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    except (InvalidRequest, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: {error}") from None


def _allowed_tokenizers(settings: Settings) -> tuple[str, ...]:
    """The offline ones, with the margins that models need, and the operator's own."""
    margins = {model.tokenizer for model in registry().values()}
    inner = [name for name in margins if name.partition("*")[0] in ENCODINGS]
    return tuple(dict.fromkeys((*ENCODINGS, "simple", *sorted(inner), *settings.tokenizers)))


def _allowed_prompts() -> tuple[str, ...]:
    """By name; one that looks like a file's name would be read as one."""
    names = [p.name for p in plugins.list_plugins() if p.group == "prompts"]
    return tuple(n for n in names if _NAME_PATTERN.fullmatch(n) and not n.endswith((".md", ".txt")))
