"""A context as `/v1/assemble` gave it → the value it was, checked field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foveate.core.errors import BadInput
from foveate.core.types import Context


def context_from_json(record: Mapping[str, Any], query: str) -> Context:
    """The context; raises `BadInput` naming the part that is missing, wrong or changed."""
    try:
        return Context.from_dict(record, query=query)
    except BadInput as error:
        message = str(error).removeprefix(f"field {error.field!r}: ")
        raise BadInput(message, field=f"context.{error.field}") from None
