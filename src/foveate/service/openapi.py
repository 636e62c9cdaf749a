"""The OpenAPI description: the framework's, with our own schemas and problems.

Models name a schema of ours (a candidate, a bundle) by `x-schema`; it becomes a reference to one
component, and so does each problem. Every response carries the request's id.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, Field, TypeAdapter

from foveate.core import fields
from foveate.core.images import MAX_CAPTION, MAX_IMAGES, MAX_SIDE, MEDIA_TYPES
from foveate.service.limits.asgi import HEALTH_PATHS
from foveate.service.problems import LAYER_STATUSES, MEDIA_TYPE, status_sentence


def _nullable(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": [kind, "null"], **more}


IMAGE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["media_type", "width", "height"],
    "properties": {
        "url": _nullable("string"),
        "hash": _nullable("string", description="BLAKE3 of the bytes, 32 hex digits."),
        "media_type": {"enum": list(MEDIA_TYPES)},
        "width": {"type": "integer", "minimum": 1, "maximum": MAX_SIDE},
        "height": {"type": "integer", "minimum": 1, "maximum": MAX_SIDE},
        "caption": _nullable("string", maxLength=MAX_CAPTION),
        "page": _nullable("integer", minimum=0),
    },
    "additionalProperties": False,
}
_SCHEMAS: dict[Any, dict[str, Any]] = {
    fields.read_text: {"type": "string"},
    fields.read_id: {"type": ["string", "integer", "null"]},
    fields.read_string: _nullable("string"),
    fields.read_section: {"type": ["string", "array", "null"], "items": {"type": "string"}},
    fields.read_integer: _nullable("integer", minimum=0),
    fields.read_number: _nullable("number"),
    fields.read_time: _nullable("string", format="date-time"),
    fields.read_principals: _nullable("array", items={"type": "string"}),
    fields.read_vector: _nullable("array", items={"type": "number"}, minItems=1),
    fields.read_origin: {"enum": [*fields.ORIGINS, None]},
}
"""What reads a field of a candidate → the values that it takes."""
CANDIDATE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["text"],
    "properties": {
        **{name: _SCHEMAS[field.read] for name, field in fields.FIELDS.items()},
        "metadata": _nullable("object"),
        "images": _nullable("array", items=IMAGE_SCHEMA, maxItems=MAX_IMAGES),
    },
    "additionalProperties": True,
    "description": "A chunk with its scores; a key that is not named here is metadata.",
    "examples": [{"id": "c1", "source": "boiler.md", "score": 0.9, "text": "Keep it at one bar."}],
}


class WrongField(BaseModel):
    """One field that is wrong."""

    field: str = Field(description="Where it stands, `candidates.3.score`; empty: the body.")
    message: str = Field(description="What is wrong with it.")


class Problem(BaseModel):
    """What went wrong, and what to do about it."""

    type: str = Field(description="`urn:foveate:problem:KIND`; the kind stays.")
    title: str = Field(description="The status in words.")
    status: int = Field(ge=400, le=599, description="The status.")
    detail: str = Field(description="What is wrong with this request, and what to do.")
    instance: str = Field(description="The request's id, as in X-Request-Id.")
    field: str = Field("", description="The field that is wrong.")
    line: int = Field(1, ge=1, description="The candidate that is wrong, counted from 1.")
    fields: list[WrongField] = Field([], description="All fields that are wrong.")
    name: str = Field("", description="The name that does not exist.")
    known: list[str] = Field([], description="The names that do.")
    needed: int = Field(1, ge=1, description="The smallest budget that would do.")
    budget: int = Field(1, description="The budget that is too small.")
    unit: str = Field("tokens", description="What both are counted in.")
    scope: str = Field("", description="The scope that the key would need.")


REF = "#/components/{kind}/{name}"
VALUES = (
    "Citation", "ConfirmedCitation", "DanglingMarker", "Decision", "Manifest", "Part",
    "PrefixBreak", "Quotation", "RefusedCitation", "Source", "StageTrace",
    "Support",
)  # fmt: skip
"""The library's values in answers: written with all their fields, defaults too."""
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
    for model in set(VALUES) & set(schemas):
        schemas[model]["required"] = list(schemas[model]["properties"])
    schemas.update(_problem_schemas(), Candidate=CANDIDATE_SCHEMA, Bundle=BUNDLE_SCHEMA)
    components["headers"] = {"RequestId": REQUEST_ID_HEADER, "RetryAfter": RETRY_AFTER_HEADER}
    components["securitySchemes"] = {"key": KEY_SCHEME}
    responses: dict[str, Any] = {}
    components["responses"] = responses
    needed: list[dict[str, list[str]]] = (
        [{"key": []}] if app.state.key_ring.in_use else [{"key": []}, {}]
    )
    for path, methods in made["paths"].items():
        for operation in methods.values():
            operation["security"] = [] if path in HEALTH_PATHS else needed
            _normalise_responses(operation["responses"], responses)
    return _resolve_references(made)  # type: ignore[no-any-return]


def _normalise_responses(answers: dict[str, Any], shared: dict[str, Any]) -> None:
    """Refer to shared problems, drop the framework's own, add the request's id."""
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
    return {
        "description": status_sentence(status),
        "headers": _response_headers(after=status in {429, 503}),
        "content": {MEDIA_TYPE: {"schema": {"x-schema": "Problem"}}},
    }


def _response_headers(*, after: bool = False) -> dict[str, Any]:
    found = {"X-Request-Id": {"$ref": REF.format(kind="headers", name="RequestId")}}
    if after:
        found["Retry-After"] = {"$ref": REF.format(kind="headers", name="RetryAfter")}
    return found


def _problem_schemas() -> dict[str, Any]:
    """The problem's schemas; an absent part is left out, and is never null."""
    template = REF.format(kind="schemas", name="{model}")
    schema = TypeAdapter(Problem).json_schema(ref_template=template)
    return {**schema.pop("$defs", {}), "Problem": schema}


def _resolve_references(value: Any) -> Any:
    if isinstance(value, list):
        return [_resolve_references(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "x-schema" in value:
        rest = {name: one for name, one in value.items() if name in {"description", "title"}}
        return {"$ref": REF.format(kind="schemas", name=value["x-schema"]), **rest}
    return {name: _resolve_references(one) for name, one in value.items()}
