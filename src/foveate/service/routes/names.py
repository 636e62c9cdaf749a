"""`/v1/recipes`, `/v1/me`, `/healthz`, `/readyz` and `/metrics`."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel

from foveate import plugins
from foveate.core.spec import recipe_to_dict, recipe_to_toml
from foveate.service.auth.caller import Caller, require_scope
from foveate.service.problems import problem_responses
from foveate.service.routes import state_of
from foveate.service.wire.answers import MeAnswer, RecipeAnswer, RecipesAnswer
from foveate.service.wire.errors import ProblemError, busy_problem
from foveate.service.wire.json import json_response

router = APIRouter(prefix="/v1", tags=["names"])
LISTED_NAMES = ("recipes", "tokenizers", "formats", "orders", "prompts", "languages")
"""The closed lists that `/v1/me` shows."""
AnyCaller = Annotated[Caller, require_scope(None)]


@router.get("/recipes", response_model=RecipesAnswer, responses=problem_responses())
async def list_recipes(request: Request, caller: AnyCaller) -> Response:
    """The recipes by name, with what each is for."""
    recipes = state_of(request).request_options.recipes
    listed = [{"name": name, "description": recipe.description} for name, recipe in recipes.items()]
    return json_response({"recipes": listed})


@router.get("/recipes/{name}", response_model=RecipeAnswer, responses=problem_responses(404))
async def get_recipe(request: Request, name: str, caller: AnyCaller) -> Response:
    """One recipe, to be changed and sent along."""
    recipes = state_of(request).request_options.recipes
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


@router.get("/me", response_model=MeAnswer, responses=problem_responses())
async def me(request: Request, caller: AnyCaller) -> Response:
    """What this caller may do, and the names that its requests may use."""
    state = state_of(request)
    settings, names = state.settings, state.request_options
    return json_response(
        {
            "key": caller.key_id,
            "tenant": caller.tenant,
            "principals": list(caller.principals),
            "scopes": sorted(caller.scopes),
            "store": await asyncio.to_thread(state.stores.has_store, caller.tenant),
            "recipe": state.settings.recipe,
            "models": list(names.answer_models),
            **{name: list(getattr(names, name)) for name in LISTED_NAMES},
            "limits": {
                "body_bytes": settings.body_bytes,
                "candidates": settings.candidates,
                "seconds": settings.seconds,
            },
        }
    )


health_router = APIRouter(tags=["health"])


class State(BaseModel):
    """How it is."""

    status: str
    failing: list[str] = []


@health_router.get("/healthz", response_model=State, responses=problem_responses())
async def healthz() -> Response:
    """Whether the process answers at all."""
    return json_response({"status": "ok"})


@health_router.get("/readyz", response_model=State, responses=problem_responses())
async def readyz(request: Request) -> Response:
    """Whether new requests should be sent here; red while keys cannot be checked.

    What did not answer lately (a store, the reranker, the
    cache, an embedder) is in `failing`; the requests that need nothing of it go on.
    """
    if request.app.state.key_ring.fault is not None:
        raise busy_problem("this process takes no new requests", after=5, kind="not-ready")
    failing = state_of(request).failing()
    return json_response({"status": "ready"} | ({"failing": failing} if failing else {}))


@health_router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses=problem_responses(401, 403, 429, 500, 503),
)
async def metrics(
    request: Request, caller: Annotated[Caller, require_scope("metrics")]
) -> Response:
    """What the service has counted, of all callers together, in Prometheus' text format."""
    accept = request.headers.get("accept", "")
    body, media_type = await asyncio.to_thread(request.app.state.telemetry.metrics.text, accept)
    return Response(body, headers={"content-type": media_type})
