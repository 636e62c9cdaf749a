"""`/v1/recipes`, `/v1/curves` and `/v1/me`: what can be named."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Request, Response

from foveate import plugins
from foveate.core.spec import recipe_to_dict, recipe_to_toml
from foveate.curves import published
from foveate.service.auth.caller import Caller, caller_with
from foveate.service.problems import ProblemError, documented
from foveate.service.wire.json import answer
from foveate.service.wire.recipe import CurvesAnswer, MeAnswer, RecipeAnswer, RecipesAnswer

router = APIRouter(prefix="/v1", tags=["names"])
AnyCaller = Annotated[Caller, caller_with(None)]


@router.get("/recipes", response_model=RecipesAnswer, responses=documented())
async def list_recipes(request: Request, caller: AnyCaller) -> Response:
    """The recipes by name, with what each is for."""
    recipes = request.app.state.held.door.recipes
    return answer(
        {
            "recipes": [
                {"name": name, "description": recipe.description}
                for name, recipe in recipes.items()
            ]
        }
    )


@router.get("/recipes/{name}", response_model=RecipeAnswer, responses=documented(404))
async def get_recipe(request: Request, name: str, caller: AnyCaller) -> Response:
    """One recipe, to be changed and sent along."""
    recipes = request.app.state.held.door.recipes
    if name not in recipes:
        raise ProblemError(404, "unknown-name", "there is no recipe of this name", known=[*recipes])
    found, known = recipes[name], plugins.known()
    return answer(
        {
            "name": name,
            "description": found.description,
            "recipe": recipe_to_dict(found, known),
            "toml": recipe_to_toml(found, known),
        }
    )


@router.get("/curves", response_model=CurvesAnswer, responses=documented())
async def list_curves(caller: AnyCaller) -> Response:
    """The published reading curves: what `order` names as `attention:NAME`."""
    return answer({"curves": [asdict(curve) for curve in published().values()]})


@router.get("/me", response_model=MeAnswer, responses=documented())
async def me(request: Request, caller: AnyCaller) -> Response:
    """What this caller may do, and the names that its requests may use."""
    held = request.app.state.held
    settings, door = held.settings, held.door
    return answer(
        {
            "key": caller.key_id,
            "tenant": caller.tenant,
            "principals": list(caller.principals),
            "scopes": sorted(caller.scopes),
            "store": bool(settings.store),
            "models": list(door.answering),
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
