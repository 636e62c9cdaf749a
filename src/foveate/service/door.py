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
from foveate.adapters.tokenizers import ENCODINGS
from foveate.answer.room import known_as
from foveate.core import formats, stages
from foveate.core.contracts import Format, Tokenizer
from foveate.core.errors import BadInput, BadOption, BadRequest, UnknownName
from foveate.core.replay import inputs_from
from foveate.core.spec import Known, recipe_from_dict, recipe_from_toml
from foveate.core.stages.order import By
from foveate.core.types import Inputs, Recipe
from foveate.core.zones import Budget
from foveate.curves import published
from foveate.models import SAFE_WINDOW, registry
from foveate.models import Model as KnownModel
from foveate.plan import Plan, plan
from foveate.ports import Model
from foveate.prompts.text import LANGUAGES
from foveate.service.settings import Settings
from foveate.service.wire.asked import BudgetAsked

MOST_STAGES = 32
_POOLS = ("candidates", "neighbours", "supplements", "offers")
_REACH = 3
"""How far `expand` looks to either side, so many neighbours a candidate may have."""
_PLAIN = re.compile(r"[\w.-]+")


class Door:
    """The closed lists of one service, made when it starts. Holds values only."""

    def __init__(self, settings: Settings) -> None:
        self.recipes = _recipes(settings)
        if settings.recipe not in self.recipes:
            raise UnknownName("recipe", settings.recipe, self.recipes)
        self._default = settings.recipe
        self._known = _known(plugin_stages=settings.plugin_stages)
        self.formats: Mapping[str, Callable[..., Format]] = plugins.known().formats
        self.tokenizers = _tokenizers(settings)
        self.prompts = _prompts()
        self.languages = settings.languages
        self.orders = (*get_args(By), *(f"attention:{name}" for name in published()))
        self.answering = tuple(settings.models)
        self._models = settings.models
        self._windows = settings.windows
        self._most = 2 * _REACH * settings.candidates
        self._speakers: dict[str, Model] = {}

    def plan(
        self,
        *,
        query: str,
        recipe: str | Mapping[str, Any] | None = None,
        budget: int | BudgetAsked | None = None,
        tokenizer: str | None = None,
        model: str | None = None,
        format: str | None = None,
        order: str | None = None,
        language: str = "en",
        channel: Literal["text", "voice"] = "text",
        prompt: str | None = None,
        max_output: int = 1024,
    ) -> Plan:
        """What a request asks for, settled; raises `UnknownName` or `BadOption`."""
        if tokenizer is not None and model is not None:
            raise BadOption("give a tokenizer or a model, not both: a model brings its tokenizer")
        self.language(language)
        chosen = self.recipe(recipe)
        known = self.model(model) if model is not None else None
        counter = tokenizer or (known.tokenizer if known else chosen.tokenizer)
        return plan(
            recipe=chosen,
            budget=_budget(budget),
            tokenizer=self.tokenizer(counter),
            model=known,
            format=_listed("format", format, self.formats),
            order=_listed("order", order, self.orders),
            query=query,
            channel=channel,
            prompt=self._prompt(prompt, language),
            language=language if language in LANGUAGES else "en",
            max_output=max_output,
        )

    def recipe(self, asked: str | Mapping[str, Any] | None) -> Recipe:
        """By name, or as an object."""
        if asked is None:
            return self.recipes[self._default]
        if isinstance(asked, str):
            return self.recipes[_among("recipe", asked, self.recipes)]
        return self.inline(asked)

    def inline(self, record: Mapping[str, Any]) -> Recipe:
        """A recipe that is written out in the request."""
        self._refuse_long(record)
        found = recipe_from_dict(record, self._known)
        _among("tokenizer", found.tokenizer, self.tokenizers)
        return found

    def inputs(self, bundle: Mapping[str, Any]) -> Inputs:
        """The inputs of a bundle, whose recipe passes the same door; raises `BadInput`."""
        record = bundle.get("recipe")
        if not isinstance(record, Mapping):
            raise BadInput("the bundle has no 'recipe'; make it again with /v1/assemble")
        self._refuse_long(record)
        for part in _POOLS:
            if isinstance(bundle.get(part), list) and len(bundle[part]) > self._most:
                raise BadInput(f"the bundle has more than {self._most} {part}", field=part)
        found = inputs_from(bundle, self._known)
        texts = (found.query, found.intent, found.language, found.state_root, found.index)
        if not all(isinstance(text, str) for text in texts):
            raise BadInput("the bundle is damaged; make it again with /v1/assemble")
        self.language(found.language)
        return found

    @property
    def known(self) -> Known:
        """The stages and formats that inline recipes and bundles may use."""
        return self._known

    def tokenizer(self, name: str) -> Tokenizer:
        """One of the list, or what one of the operator's models counts by."""
        if not any(self.model(one).tokenizer == name for one in self._models):
            _among("tokenizer", name, self.tokenizers)
        return plugins.tokenizer(name)

    def model(self, name: str) -> KnownModel:
        """What is known of a model, for its window and tokenizer; nothing is asked of it."""
        if name in self._models:
            known = known_as(self._models[name], self._windows.get(name))
            return known or KnownModel(name=name, window=SAFE_WINDOW)
        found = registry().get(name)
        if found is None or found.tokenizer not in self.tokenizers:
            raise UnknownName("model", name, (*self._models, *registry()))
        return found

    def speaker(self, name: str) -> Model:
        """One of the models that the operator allows, to be asked; one object for all requests."""
        spelled = self._models[_among("model", name, self._models)]
        if name not in self._speakers:
            self._speakers[name] = plugins.model(spelled)
        return self._speakers[name]

    def language(self, name: str) -> str:
        """One of the list."""
        return _among("language", name, self.languages)

    @staticmethod
    def _refuse_long(record: Mapping[str, Any]) -> None:
        listed = record.get("stages")
        if isinstance(listed, list) and len(listed) > MOST_STAGES:
            raise BadOption(f"recipe: {len(listed)} stages; give {MOST_STAGES} at the most")

    def _prompt(self, name: str | None, language: str) -> str | None:
        if name is None:
            return None
        _among("language of prompts", language, LANGUAGES)
        return _among("prompt", name, self.prompts)


def _among(kind: str, name: str, known: Any) -> str:
    if name not in known:
        raise UnknownName(kind, name, known)
    return name


def _listed(kind: str, name: str | None, known: Any) -> str | None:
    return None if name is None else _among(kind, name, known)


def _budget(asked: int | BudgetAsked | None) -> int | Budget | None:
    return Budget(**asked.model_dump()) if isinstance(asked, BudgetAsked) else asked


def _known(*, plugin_stages: bool) -> Known:
    """Ours alone, unless the operator says otherwise: an option of theirs may be a path."""
    if plugin_stages:
        return plugins.known()
    return Known(stages=dict(stages.BUILTIN), formats=dict(formats.BUILTIN))


def _recipes(settings: Settings) -> dict[str, Recipe]:
    """Those that are registered, and the operator's own."""
    found = dict(plugins.recipe_table())
    for name in settings.recipes:
        recipe = _recipe_in(Path(name))
        found[recipe.name] = recipe
    return found


def _recipe_in(path: Path) -> Recipe:
    try:
        return recipe_from_toml(path.read_text(encoding="utf-8-sig"), plugins.known())
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    except (BadRequest, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: {error}") from None


def _tokenizers(settings: Settings) -> tuple[str, ...]:
    """The offline ones, with the margins that models need, and the operator's own."""
    margins = {model.tokenizer for model in registry().values()}
    inner = [name for name in margins if name.partition("*")[0] in ENCODINGS]
    return tuple(dict.fromkeys((*ENCODINGS, "simple", *sorted(inner), *settings.tokenizers)))


def _prompts() -> tuple[str, ...]:
    """By name; one that looks like a file's name would be read as one."""
    names = [p.name for p in plugins.listed() if p.group == "prompts"]
    return tuple(n for n in names if _PLAIN.fullmatch(n) and not n.endswith((".md", ".txt")))
