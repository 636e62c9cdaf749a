"""A context as MessagePack bytes and back, for caches.

Data of another version or key, and damaged data, decode to None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from foveate._version import __version__
from foveate.core.errors import MissingExtra
from foveate.core.manifest import budget_hash, canonical_recipe, digest
from foveate.core.seal import MANIFEST_SCHEMA, Manifest
from foveate.core.types import Block, Citation, Context, StageTrace
from foveate.core.zones import Budget
from foveate.pipeline.options import ResolvedOptions

FORM = f"{MANIFEST_SCHEMA}.2"  # of the encoding; another one is not read


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    """A context's fields, how its candidates were found, and the key it is kept under."""

    form: str
    key: str
    found: dict[str, bool | int | float | str]
    text: str
    token_count: int
    blocks: tuple[Block, ...]
    citations: tuple[Citation, ...]
    trace: tuple[StageTrace, ...]
    metrics: dict[str, int | float]
    manifest: Manifest
    budget: Budget
    query: str


def cache_key(query: str, state_root: str, resolved: ResolvedOptions, ports: object) -> str:
    """A key for everything that decides a context's bytes."""
    options = resolved.options
    parts = (
        __version__,
        FORM,
        query,
        state_root,
        canonical_recipe(resolved.recipe).hash,
        budget_hash(resolved.budget),
        resolved.tokenizer.fingerprint,
        resolved.image_formula,
        resolved.messages,
        tuple(sorted(set(resolved.principals))),
        sorted((options.where or {}).items(), key=repr),
        (options.limit, options.depth, options.intent, options.instant, options.language),
        ports,
    )
    return digest(repr(parts))


def encode_context(
    context: Context, key: str, found: Mapping[str, bool | int | float | str] | None = None
) -> bytes:
    """The context as bytes, to be kept under this key; raises `MissingExtra`."""
    values = {name: getattr(context, name) for name in Context.__dataclass_fields__}
    values["metrics"] = dict(context.metrics)
    record = _Record(form=FORM, key=key, found=dict(found or {}), **values)
    data: bytes = _codec()[0].encode(record)
    return data


def decode_context(
    data: bytes, key: str
) -> tuple[Context, Mapping[str, bool | int | float | str]] | None:
    """The context that was encoded under this key, and how its candidates were found."""
    _, decoder, failures = _codec()
    try:
        record: _Record = decoder.decode(data)
    except failures:
        return None
    if record.form != FORM or record.key != key:
        return None
    if digest(record.text) != record.manifest.output_hash:
        return None
    values = {name: getattr(record, name) for name in Context.__dataclass_fields__}
    return Context(**values), record.found


@lru_cache(maxsize=1)
def _codec() -> tuple[Any, Any, tuple[type[Exception], ...]]:
    try:
        import msgspec
    except ImportError:
        raise MissingExtra("msgspec", "cache") from None
    # Values that were tampered with raise BadInput and BadOption, which are ValueErrors.
    failures = (msgspec.MsgspecError, UnicodeDecodeError, ValueError, RecursionError)
    return msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(_Record), failures
