"""The values of a manifest; `manifest.py` makes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from foveate._version import __version__

SCHEMA = 2


class CanonicalRecipe(NamedTuple):
    """How a recipe is typed: each stage by name and in full, the format, and a hash of it all."""

    names: tuple[str, ...]
    stages: tuple[str, ...]
    format: str
    recipe: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a context was made of, by hash (BLAKE3, 32 hex digits); `when` is not compared.

    `exact` and `index` say how the store searched; they change no byte of the context.
    """

    schema: int = SCHEMA
    version: str = __version__
    recipe: str
    recipe_hash: str
    query_hash: str
    inputs_hash: str
    budget_hash: str
    state_root: str
    tokenizer: str
    tokenizer_fingerprint: str
    output_hash: str
    budget_tokens: int | None
    token_count: int
    exact: bool = True
    index: str = ""
    when: str = field(default="", compare=False)
