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
from foveate.service.problems import LAYER_STATUSES, status_sentence
from foveate.service.request_options import RequestOptions
from foveate.service.wire.candidate import CANDIDATE_SCHEMA
from foveate.service.wire.problem import EXAMPLES, MEDIA_TYPE, Problem

REF = "#/components/{kind}/{name}"
PUBLIC_PATHS = ("/healthz", "/readyz")
"""Asked without a key."""
FRAMEWORK_SCHEMAS = ("HTTPValidationError", "ValidationError")
TAGS = {
    "contexts": "From a question to a context that fits, and to an answer.",
    "reviews": "Why a model was shown what it was shown, and whether its answer holds.",
    "documents": "What a tenant's store holds.",
    "names": "What requests may name.",
    "health": "For whoever runs the service.",
}
BUNDLE_SCHEMA = {
    "type": "object",
    "description": "A context with all that it was made of, as `/v1/assemble` with `bundle` gives "
    "it and `foveate assemble --bundle` writes it. Opaque: send it as it came.",
    "properties": {"kind": {"const": "foveate-bundle"}},
    "required": ["kind"],
}
REQUEST_ID_HEADER = {
    "required": True,
    "description": "The request's id: the caller's own X-Request-Id, or a new one.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"},
}
RETRY_AFTER_HEADER = {
    "required": True,
    "description": "Seconds to wait before asking again.",
    "schema": {"type": "integer", "minimum": 0},
}
KEY_SCHEME = {
    "type": "http",
    "scheme": "bearer",
    "description": "A key of `foveate keys add`; none where the service runs without keys.",
}


def build_openapi(app: FastAPI) -> dict[str, Any]:
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
    for name in FRAMEWORK_SCHEMAS:
        schemas.pop(name, None)
    schemas.update(_problem_schemas(), Candidate=CANDIDATE_SCHEMA, Bundle=BUNDLE_SCHEMA)
    _enumerate_names(schemas, app)
    components["headers"] = {"RequestId": REQUEST_ID_HEADER, "RetryAfter": RETRY_AFTER_HEADER}
    components["securitySchemes"] = {"key": KEY_SCHEME}
    responses: dict[str, Any] = {}
    components["responses"] = responses
    needed: list[dict[str, list[str]]] = (
        [{"key": []}] if app.state.guard.ring.in_use else [{"key": []}, {}]
    )
    for path, methods in made["paths"].items():
        for operation in methods.values():
            operation["security"] = [] if path in PUBLIC_PATHS else needed
            _normalise_responses(operation["responses"], responses)
    return _resolve_references(made)  # type: ignore[no-any-return]


def _enumerate_names(schemas: dict[str, Any], app: FastAPI) -> None:
    """The names that this service knows, where a request takes one of them."""
    door = RequestOptions(app.state.settings)
    known: dict[str, Iterable[str]] = {
        "tokenizer": door.tokenizers,
        "model": (*door.answer_models, *registry()),
        "format": door.formats,
        "order": door.orders,
        "prompt": door.prompts,
        "language": door.languages,
        "recipe": door.recipes,
    }
    for schema in ("AssembleRequest", "AskRequest", "CheckRequest"):
        for name, field in schemas[schema]["properties"].items():
            if name in known:
                _set_enum(field, [*known[name]])
    if door.answer_models:
        _set_enum(schemas["AskRequest"]["properties"]["model"], [*door.answer_models])


def _set_enum(field: dict[str, Any], names: list[str]) -> None:
    """What is a string there is one of these."""
    for one in (field, *field.get("anyOf", ())):
        if one.get("type") == "string":
            one["enum"] = names
            one.pop("maxLength", None)
            one.pop("minLength", None)


def _normalise_responses(answers: dict[str, Any], shared: dict[str, Any]) -> None:
    """Problems by reference, the framework's own left out, the id on what remains."""
    for status, answer in list(answers.items()):
        if int(status) >= LAYER_STATUSES[0]:
            if "HTTPValidationError" in str(answer):
                del answers[status]
                continue
            name = f"Problem{status}"
            shared.setdefault(name, _problem_response(int(status)))
            answers[status] = {"$ref": REF.format(kind="responses", name=name)}
        else:
            answer["headers"] = _response_headers()


def _problem_response(status: int) -> dict[str, Any]:
    """A problem of this status."""
    content: dict[str, Any] = {"schema": {"x-schema": "Problem"}}
    if status in EXAMPLES:
        content["example"] = EXAMPLES[status]
    return {
        "description": status_sentence(status),
        "headers": _response_headers(after=status in {429, 503}),
        "content": {MEDIA_TYPE: content},
    }


def _response_headers(*, after: bool = False) -> dict[str, Any]:
    found = {"X-Request-Id": {"$ref": REF.format(kind="headers", name="RequestId")}}
    if after:
        found["Retry-After"] = {"$ref": REF.format(kind="headers", name="RetryAfter")}
    return found


def _problem_schemas() -> dict[str, Any]:
    """The problem's schemas; what a problem does not say is not there, never null."""
    template = REF.format(kind="schemas", name="{model}")
    schema = TypeAdapter(Problem).json_schema(ref_template=template)
    return {**schema.pop("$defs", {}), "Problem": schema}


def _resolve_references(value: Any) -> Any:
    """Every `x-schema` as the reference that it stands for."""
    if isinstance(value, list):
        return [_resolve_references(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "x-schema" in value:
        rest = {name: one for name, one in value.items() if name in {"description", "title"}}
        return {"$ref": REF.format(kind="schemas", name=value["x-schema"]), **rest}
    return {name: _resolve_references(one) for name, one in value.items()}
