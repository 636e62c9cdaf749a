"""The OpenAPI description: the framework's, with our problems in place of its own errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from foveate.service.wire.problem import Problem

FRAMEWORKS_OWN = ("HTTPValidationError", "ValidationError")
COMPONENT = "x-component"
"""In a schema: it is that component, which its own model does not know of."""


def openapi_of(app: FastAPI) -> dict[str, Any]:
    """All routes, with every answer that they can give."""
    made = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    for name in FRAMEWORKS_OWN:
        schemas.pop(name, None)
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs", {}))
    schemas["Problem"] = problem
    _refer(schemas)
    return made


def _refer(here: Any) -> None:
    """Put references where components are named, at any depth."""
    if isinstance(here, dict):
        if name := here.pop(COMPONENT, None):
            here["$ref"] = f"#/components/schemas/{name}"
        here = here.values()
    if not isinstance(here, str):
        for one in here if isinstance(here, Iterable) else ():
            _refer(one)
