"""A context as bytes and back, for caches: MessagePack, checked against the types when read.

What comes back is equal to what went in. What another version wrote, what is broken and what
does not belong to the key reads as nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from foveate._version import __version__
from foveate.core.errors import MissingExtra
from foveate.core.manifest import SCHEMA, Manifest, budget_hash, digest, spelling
from foveate.core.types import Block, Citation, Context, Stages, StageTrace
from foveate.core.zones import Budget
from foveate.plan import Plan

FORM = f"{SCHEMA}.1"  # of what is written; another one is not read


@dataclass(frozen=True, slots=True, kw_only=True)
class _Packed:
    """A context's fields, and what it was kept under."""

    form: str
    key: str
    text: str
    token_count: int
    blocks: tuple[Block, ...]
    citations: tuple[Citation, ...]
    trace: tuple[StageTrace, ...]
    metrics: dict[str, int | float]
    manifest: Manifest
    budget: Budget
    query: str


def key_of(query: str, state_root: str, plan: Plan, *scope: object) -> str:
    """A key for everything that decides a context's bytes.

    `state_root`: of what the caller may read. `scope`: who asks, and what the search was told; of
    values whose `repr` says all of them.
    """
    parts = (
        __version__,
        FORM,
        query,
        state_root,
        spelling(plan.recipe).hash,
        budget_hash(plan.budget),
        plan.tokenizer.fingerprint,
        plan.messages,
        scope,
    )
    return digest(repr(parts))


def packed(context: Context, key: str) -> bytes:
    """The context, to be kept under this key; raises `MissingExtra`."""
    values = {name: getattr(context, name) for name in Context.__dataclass_fields__}
    values["metrics"] = dict(context.metrics)
    done: bytes = _codec()[0].encode(_Packed(form=FORM, key=key, **values))
    return done


def unpacked(data: bytes, key: str) -> Context | None:
    """The context that was packed under this key; None for anything else."""
    _, decoder, failures = _codec()
    try:
        found: _Packed = decoder.decode(data)
    except failures:
        return None
    if found.form != FORM or found.key != key or digest(found.text) != found.manifest.output_hash:
        return None
    values = {name: getattr(found, name) for name in Context.__dataclass_fields__}
    return Context(**{**values, "trace": Stages(found.trace)})


@lru_cache(maxsize=1)
def _codec() -> tuple[Any, Any, tuple[type[Exception], ...]]:
    try:
        import msgspec
    except ImportError:
        raise MissingExtra("msgspec", "cache") from None
    # BadInput and BadOption are what values say that were tampered with.
    failures = (msgspec.MsgspecError, UnicodeDecodeError, ValueError, RecursionError)
    return msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(_Packed), failures
