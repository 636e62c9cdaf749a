"""`/v1/recipes`, `/v1/curves` and `/v1/me`."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class RecipeSummary(BaseModel):
    """A recipe's name, and what it is for."""

    name: str
    description: str


class RecipesAnswer(BaseModel):
    """All recipes."""

    recipes: list[RecipeSummary]


class RecipeAnswer(BaseModel):
    """A recipe, in both spellings."""

    name: str
    description: str
    recipe: dict[str, Any] = Field(description="As `recipe` of a request takes it.")
    toml: str = Field(description="As `foveate recipes show` prints it.")


class CurveOut(BaseModel):
    """How often a model answered right, by where the evidence stood; from a publication."""

    name: str
    source: str = Field(description="Who measured it, and where it is published.")
    model: str = Field(description="The model that was measured; empty where there is none.")
    positions: list[float] = Field(description="Relative places in the context, 0 to 1, rising.")
    accuracy: list[float] = Field(description="Right answers there, in per cent.")


class CurvesAnswer(BaseModel):
    """All published curves."""

    curves: list[CurveOut]


class Limits(BaseModel):
    """How much a request may ask for."""

    body_bytes: int
    candidates: int
    seconds: float


class MeAnswer(BaseModel):
    """What this caller may do, and the names that its requests may use."""

    key: str | None = Field(description="The key's id; null where there are no keys.")
    tenant: str
    principals: list[str]
    scopes: list[str]
    store: bool = Field(description="Whether there is a store to search.")
    models: list[str] = Field(description="Models that answer; the first is the default.")
    recipes: list[str]
    tokenizers: list[str]
    formats: list[str]
    orders: list[str]
    prompts: list[str]
    languages: list[str]
    limits: Limits
