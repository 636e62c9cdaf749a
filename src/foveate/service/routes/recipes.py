"""`/v1/recipes`, `/v1/curves` and `/v1/me`: what can be named."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Request, Response

from foveate import plugins
from foveate.core.spec import recipe_to_dict, recipe_to_toml
from foveate.pipeline.curves import load_published_curves
from foveate.service.app_state import AppState
from foveate.service.auth.caller import Caller, require_scope
from foveate.service.problems import ProblemError, problem_responses
from foveate.service.wire.json import json_response
from foveate.service.wire.recipe import CurvesAnswer, MeAnswer, RecipeAnswer, RecipesAnswer

router = APIRouter(prefix="/v1", tags=["names"])
AnyCaller = Annotated[Caller, require_scope(None)]


@router.get("/recipes", response_model=RecipesAnswer, responses=problem_responses())
async def list_recipes(request: Request, caller: AnyCaller) -> Response:
    """The recipes by name, with what each is for."""
    recipes = request.app.state.app_state.request_options.recipes
    return json_response(
        {
            "recipes": [
                {"name": name, "description": recipe.description}
                for name, recipe in recipes.items()
            ]
        }
    )


@router.get("/recipes/{name}", response_model=RecipeAnswer, responses=problem_responses(404))
async def get_recipe(request: Request, name: str, caller: AnyCaller) -> Response:
    """One recipe, to be changed and sent along."""
    recipes = request.app.state.app_state.request_options.recipes
    if name not in recipes:
        raise ProblemError(404, "unknown-name", "there is no recipe of this name", known=[*recipes])
    found, known = recipes[name], plugins.component_registry()
    return json_response(
        {
            "name": name,
            "description": found.description,
            "recipe": recipe_to_dict(found, known),
            "toml": recipe_to_toml(found, known),
        }
    )


@router.get("/curves", response_model=CurvesAnswer, responses=problem_responses())
async def list_curves(caller: AnyCaller) -> Response:
    """The published reading curves: what `order` names as `attention:NAME`."""
    return json_response({"curves": [asdict(curve) for curve in load_published_curves().values()]})


@router.get("/me", response_model=MeAnswer, responses=problem_responses())
async def me(request: Request, caller: AnyCaller) -> Response:
    """What this caller may do, and the names that its requests may use."""
    held: AppState = request.app.state.app_state
    settings, door = held.settings, held.request_options
    return json_response(
        {
            "key": caller.key_id,
            "tenant": caller.tenant,
            "principals": list(caller.principals),
            "scopes": sorted(caller.scopes),
            "store": bool(settings.store),
            "models": list(door.answer_models),
            "recipes": list(door.recipes),
            "tokenizers": list(door.tokenizers),
            "formats": list(door.formats),
            "orders": list(door.orders),
            "prompts": list(door.prompts),
            "languages": list(door.languages),
            "limits": {
                "body_bytes": settings.body_bytes,
                "candidates": settings.candidates,
                "seconds": settings.seconds,
            },
        }
    )
