"""`POST /v1/replay`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from foveate.service.wire.request import RequestModel

_BUNDLE = {"x-schema": "Bundle"}
Bundle = Annotated[dict[str, Any] | None, WithJsonSchema(_BUNDLE)]


class ReplayRequest(RequestModel):
    """One bundle, to be made again; or two, to be compared."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["bundle"]}, {"required": ["a", "b"]}]}
    )

    bundle: Bundle = None
    a: Bundle = None
    b: Bundle = None


class ReplayAnswer(BaseModel):
    """What a comparison found."""

    identical: bool
    stage: str = Field(description="The first stage that decided otherwise.")
    first: str = Field(description="Its first decision that differs.")
    causes: list[str] = Field(description="Which input, recipe, tokenizer or version changed.")
    lines: list[str] = Field(description="The same as `foveate replay` prints it.")
