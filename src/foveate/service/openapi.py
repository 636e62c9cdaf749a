"""The OpenAPI description: the framework's, made true.

Where a schema is our own (a candidate, a bundle), models name it by `x-schema`, and it stands
once among the components; so does each problem. Every answer carries the request's id.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from foveate.models import registry
from foveate.service.door import Door
from foveate.service.problems import LAYERS, said
from foveate.service.wire.candidate import CANDIDATE
from foveate.service.wire.problem import EXAMPLES, MEDIA_TYPE, Problem

REF = "#/components/{kind}/{name}"
OPEN = ("/healthz", "/readyz")
"""Asked without a key."""
FRAMEWORKS_OWN = ("HTTPValidationError", "ValidationError")
TAGS = {
    "contexts": "From a question to a context that fits, and to an answer.",
    "reviews": "Why a model was shown what it was shown, and whether its answer holds.",
    "documents": "What a tenant's store holds.",
    "names": "What requests may name.",
    "health": "For whoever runs the service.",
}
BUNDLE = {
    "type": "object",
    "description": "A context with all that it was made of, as `/v1/assemble` with `bundle` gives "
    "it and `foveate assemble --bundle` writes it. Opaque: send it as it came.",
    "properties": {"kind": {"const": "foveate-bundle"}},
    "required": ["kind"],
}
ID = {
    "required": True,
    "description": "The request's id: the caller's own X-Request-Id, or a new one.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"},
}
AFTER = {
    "required": True,
    "description": "Seconds to wait before asking again.",
    "schema": {"type": "integer", "minimum": 0},
}
KEY = {
    "type": "http",
    "scheme": "bearer",
    "description": "A key of `foveate keys add`; none where the service runs without keys.",
}


def openapi_of(app: FastAPI) -> dict[str, Any]:
    """All routes, with every answer that they can give."""
    made = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        routes=app.routes,
        tags=[{"name": name, "description": what} for name, what in TAGS.items()],
    )
    components = made.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in FRAMEWORKS_OWN:
        schemas.pop(name, None)
    schemas.update(_problem(), Candidate=CANDIDATE, Bundle=BUNDLE)
    _name(schemas, app)
    components["headers"] = {"RequestId": ID, "RetryAfter": AFTER}
    components["securitySchemes"] = {"key": KEY}
    responses: dict[str, Any] = {}
    components["responses"] = responses
    needed: list[dict[str, list[str]]] = (
        [{"key": []}] if app.state.guard.ring.in_use else [{"key": []}, {}]
    )
    for path, methods in made["paths"].items():
        for operation in methods.values():
            operation["security"] = [] if path in OPEN else needed
            _settle(operation["responses"], responses)
    return _referring(made)  # type: ignore[no-any-return]


def _name(schemas: dict[str, Any], app: FastAPI) -> None:
    """The names that this service knows, where a request takes one of them."""
    door = Door(app.state.settings)
    known: dict[str, Iterable[str]] = {
        "tokenizer": door.tokenizers,
        "model": (*door.answering, *registry()),
        "format": door.formats,
        "order": door.orders,
        "prompt": door.prompts,
        "language": door.languages,
        "recipe": door.recipes,
    }
    for schema in ("AssembleAsked", "AskAsked", "CheckAsked"):
        for name, field in schemas[schema]["properties"].items():
            if name in known:
                _enumerate(field, [*known[name]])
    if door.answering:
        _enumerate(schemas["AskAsked"]["properties"]["model"], [*door.answering])


def _enumerate(field: dict[str, Any], names: list[str]) -> None:
    """What is a string there is one of these."""
    for one in (field, *field.get("anyOf", ())):
        if one.get("type") == "string":
            one["enum"] = names
            one.pop("maxLength", None)
            one.pop("minLength", None)


def _settle(answers: dict[str, Any], shared: dict[str, Any]) -> None:
    """Problems by reference, the framework's own left out, the id on what remains."""
    for status, answer in list(answers.items()):
        if int(status) >= LAYERS[0]:
            if "HTTPValidationError" in str(answer):
                del answers[status]
                continue
            name = f"Problem{status}"
            shared.setdefault(name, _response(int(status)))
            answers[status] = {"$ref": REF.format(kind="responses", name=name)}
        else:
            answer["headers"] = _headers()


def _response(status: int) -> dict[str, Any]:
    """A problem of this status."""
    content: dict[str, Any] = {"schema": {"x-schema": "Problem"}}
    if status in EXAMPLES:
        content["example"] = EXAMPLES[status]
    return {
        "description": said(status),
        "headers": _headers(after=status in {429, 503}),
        "content": {MEDIA_TYPE: content},
    }


def _headers(*, after: bool = False) -> dict[str, Any]:
    found = {"X-Request-Id": {"$ref": REF.format(kind="headers", name="RequestId")}}
    if after:
        found["Retry-After"] = {"$ref": REF.format(kind="headers", name="RetryAfter")}
    return found


def _problem() -> dict[str, Any]:
    """The problem's schemas; what a problem does not say is not there, never null."""
    template = REF.format(kind="schemas", name="{model}")
    schema = TypeAdapter(Problem).json_schema(ref_template=template)
    return {**schema.pop("$defs", {}), "Problem": schema}


def _referring(value: Any) -> Any:
    """Every `x-schema` as the reference that it stands for."""
    if isinstance(value, list):
        return [_referring(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "x-schema" in value:
        rest = {name: one for name, one in value.items() if name in {"description", "title"}}
        return {"$ref": REF.format(kind="schemas", name=value["x-schema"]), **rest}
    return {name: _referring(one) for name, one in value.items()}
