"""A problem as RFC 9457 has it, with what ours say besides."""

from __future__ import annotations

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
