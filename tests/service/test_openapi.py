"""The OpenAPI description, held against itself and against what the service answers."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator


@pytest.fixture(scope="module")
def described(service) -> dict[str, Any]:
    """The description that the service gives."""
    return service.get("/openapi.json").json()


def parts(value: Any):
    """All objects in a description."""
    inner = value if isinstance(value, list) else []
    if isinstance(value, dict):
        yield value
        inner = list(value.values())
    for one in inner:
        yield from parts(one)


def resolved(described, reference: str) -> Any:
    """What a reference stands for."""
    found = described
    for name in reference.removeprefix("#/").split("/"):
        found = found[name.replace("~1", "/")]
    return found


def operations(described):
    """(address, method, operation) of all."""
    return [
        (path, method, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]


def test_every_reference_leads_somewhere(described):
    """F3: no reference dangles, and nothing of the framework's own is left."""
    references = [part["$ref"] for part in parts(described) if isinstance(part.get("$ref"), str)]

    assert references
    assert all(resolved(described, one) is not None for one in references)
    assert "HTTPValidationError" not in str(described)
    assert not [part for part in parts(described) if "x-schema" in part]


def test_every_operation_says_what_it_can_answer(described):
    """F3: its problems, the request's id on each answer, words, and a name of its own."""
    names = [operation["operationId"] for _, _, operation in operations(described)]

    assert sorted(set(names)) == sorted(names)
    for path, method, operation in operations(described):
        assert {"400", "401", "429", "500", "503"} <= set(operation["responses"]), path
        assert ("413" in operation["responses"]) == (method in {"post", "put"}), path
        assert operation["description"] or operation["summary"]
        for answer in operation["responses"].values():
            whole = resolved(described, answer["$ref"]) if "$ref" in answer else answer
            assert "X-Request-Id" in whole["headers"]


def test_examples_are_what_their_schema_says(described):
    """F3: each example is valid; components that nobody names do not stand there."""
    checked = 0
    for part in parts(described):
        for example in part.get("examples", []) if "type" in part or "anyOf" in part else []:
            schema = {**part, "components": described["components"]}
            assert Draft202012Validator(schema).is_valid(example), part
            checked += 1
    used = {part["$ref"] for part in parts(described) if isinstance(part.get("$ref"), str)}
    unused = {f"#/components/schemas/{n}" for n in described["components"]["schemas"]} - used

    assert checked > 8
    assert unused == set()
