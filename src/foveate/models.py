"""What is known about models: window, limits, tokenizer, chat framing. The data: `models.toml`.

Rules: a name is looked up as it is written (or in lower case), never guessed from its parts; a
model that is not known gets a small window and a warning; a registry is a value, nothing is global.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Any

from foveate.core.errors import BadInput, BadOption, ExternalError
from foveate.core.images.tokens import parse_formula
from foveate.core.typed import read_record
from foveate.ports import Usage

SAFE_WINDOW = 8_192
"""For a model that is not known."""


class UnknownModel(UserWarning):
    """A model is not in the registry; a small window and a cautious tokenizer are assumed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One model. All numbers are tokens; a limit of None means: only the window limits.

    `frame`: what the chat format adds to each message, and before the answer. `price`: US dollars a
    million tokens read, read from the provider's cache, and written; None where it is not known.
    `tokenizer`: by default one with a margin that is enough for every vocabulary it was tried with.
    `images`: the formula that counts images (`core/images/tokens.py`); empty: the format's.
    """

    name: str
    window: int
    max_input: int | None = None
    max_output: int | None = None
    tokenizer: str = field(default_factory=lambda: with_named_margin("cl100k_base*unknown"))
    frame: tuple[int, int] = (8, 8)
    price: tuple[float, float, float] | None = None
    images: str = ""
    aliases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse numbers and names that cannot be."""
        where = f"model {self.name!r}"
        if self.window < 1:
            raise BadOption(f"{where}: window is {self.window}; it must be 1 or more")
        for name in ("max_input", "max_output"):
            limit = getattr(self, name)
            if limit is not None and not 1 <= limit <= self.window:
                raise BadOption(f"{where}: {name} is {limit}; it must be 1 to {self.window}")
        if min(self.frame) < 0:
            raise BadOption(f"{where}: frame is {self.frame}; it must be 0 or more")
        if self.price is not None and not all(0 <= one < inf for one in self.price):
            raise BadOption(f"{where}: price is {self.price}; it must be 0 or more")
        if self.images:
            try:
                parse_formula(self.images)
            except BadOption as error:
                raise BadOption(f"{where}: {error}") from None
        if not all((self.name, self.tokenizer, *self.aliases)):
            raise BadOption(f"{where}: name, tokenizer and aliases must not be empty")

    def cost(self, usage: Usage) -> float | None:
        """US dollars at the list price; None where price or usage is not known.

        >>> model("gpt-4.1").cost(Usage(prompt=3_000, completion=500, cached=1_000))
        0.0085
        """
        if self.price is None or usage.prompt is None or usage.completion is None:
            return None
        read, again, written = self.price
        cached = min(usage.cached or 0, usage.prompt)
        millionths = (usage.prompt - cached) * read + cached * again + usage.completion * written
        return millionths / 1_000_000

    def framing(self, messages: int) -> int:
        """What the chat format adds to a request of so many messages."""
        per_message, per_reply = self.frame
        return messages * per_message + per_reply


def registry(*extra: str | Path) -> Mapping[str, Model]:
    """Every model by name and by alias: the built-in ones, then those of the files given.

    A later model replaces an earlier one of its name, aliases included. A file is written like
    `models.toml`. Raises `ExternalError` where a file cannot be read, `BadInput` and `BadOption`
    for what is in it.

    >>> registry()["mistral:7b"].window
    8192
    """
    if not extra:
        return _built_in()
    known = dict(_built_in())
    for path in extra:
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise ExternalError(f"models file {str(path)!r}: {error.strerror}") from error
        except UnicodeDecodeError:
            raise BadInput(f"models file {str(path)!r}: not UTF-8 text") from None
        added = _parse_models(_read_tables(text, str(path)), str(path))
        replaced = {m.name for m in added.values()}
        known = {name: m for name, m in known.items() if m.name not in replaced} | added
    return MappingProxyType(known)


def models(*extra: str | Path) -> tuple[Model, ...]:
    """Every model once, by name."""
    known = registry(*extra)
    return tuple(sorted({m.name: m for m in known.values()}.values(), key=lambda m: m.name))


def model(
    name: str,
    known: Mapping[str, Model] | None = None,
    *,
    advice: str = "say it with Model(name=…, window=…), or add the model to a file and give that "
    "to foveate.models.registry(FILE)",
) -> Model:
    """The model of this name or alias; an unknown one gets 8,192 tokens and an `UnknownModel`.

    `known`: a `registry(...)` with models of one's own. `advice`: what the warning says to do.

    >>> model("gpt-4o").window
    128000
    """
    known = _built_in() if known is None else known
    found = known.get(name) or known.get(name.strip().lower())
    if found is not None:
        return found
    near = get_close_matches(name.strip().lower(), sorted(known), n=1, cutoff=0.6)
    hint = f"did you mean {near[0]!r}? A" if near else "a"
    warnings.warn(
        f"unknown model {name!r}; {hint} window of {SAFE_WINDOW} tokens is assumed; {advice}",
        UnknownModel,
        stacklevel=2,
    )
    return Model(name=name, window=SAFE_WINDOW)


@lru_cache(maxsize=1)
def _built_in() -> Mapping[str, Model]:
    return MappingProxyType(_parse_models(_built_in_tables(), "models.toml"))


@lru_cache(maxsize=1)
def _built_in_tables() -> Mapping[str, Any]:
    from importlib.resources import files

    text = files("foveate").joinpath("models.toml").read_text(encoding="utf-8")
    return _read_tables(text, "models.toml")


def _read_tables(text: str, source: str) -> Mapping[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"models file {source!r}: {error}") from None


def _parse_models(tables: Mapping[str, Any], source: str) -> dict[str, Model]:
    margins = _margins_from_table(tables.get("margins", {}))
    known: dict[str, Model] = {}
    for name, table in tables.items():
        if name == "margins":
            continue
        found = _model_from_table(name, table)
        found = replace(found, tokenizer=with_named_margin(found.tokenizer, margins))
        for one in (found.name, *found.aliases):
            if one in known:
                raise BadInput(f"models file {source!r}: {one!r} is named twice")
            known[one] = found
    return known


def with_named_margin(tokenizer: str, own: Mapping[str, float] | None = None) -> str:
    """The name of a tokenizer with the factor of the margin behind its star, if it names one.

    `own`: margins by name besides the built-in ones.

    >>> with_named_margin("cl100k_base*llama-3")
    'cl100k_base*1.12'
    >>> with_named_margin("cl100k_base*1.3")
    'cl100k_base*1.3'
    """
    margins = _built_in_tables()["margins"] | dict(own or {})
    inner, star, margin = tokenizer.rpartition("*")
    return f"{inner}*{margins[margin]}" if star and margin in margins else tokenizer


def _margins_from_table(table: Any) -> dict[str, float]:
    if not isinstance(table, dict) or not all(type(one) in (int, float) for one in table.values()):
        raise BadOption("margins: write margins.NAME = 1.3, one factor for all texts")
    return table


def _model_from_table(name: str, table: Any) -> Model:
    if not isinstance(table, dict) or "window" not in table:
        raise BadOption(f"model {name!r}: write {name!r} = {{ window = 8192 }}")
    try:
        found: Model = read_record(Model, {**table, "name": name}, f"key of model {name!r}")
    except BadInput as error:
        raise BadOption(f"model {name!r}: {error}") from None
    return found
