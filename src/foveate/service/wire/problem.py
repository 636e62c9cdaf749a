"""A problem as RFC 9457 has it, with what ours say besides."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

MEDIA_TYPE = "application/problem+json"


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


def _example(status: int, title: str, kind: str, detail: str, **more: Any) -> dict[str, Any]:
    return {
        "type": f"urn:foveate:problem:{kind}",
        "title": title,
        "status": status,
        "detail": detail,
        "instance": "5f0c6c2f9d9e4f1d8a3b7c1e2d4f6a8b",
        **more,
    }


EXAMPLES: dict[int, dict[str, Any]] = {
    400: _example(
        400,
        "Bad Request",
        "bad-input",
        "line 2, field 'score': must be a finite number, not nan",
        line=2,
        field="score",
    ),
    422: _example(
        422,
        "Unprocessable Entity",
        "budget-too-small",
        "budget too small: the smallest context needs 31 tokens, the budget is 9; "
        "raise the budget to at least 31",
        budget=9,
        needed=31,
        unit="tokens",
    ),
    503: _example(
        503, "Service Unavailable", "busy", "all places are taken; come again in a second"
    ),
}
