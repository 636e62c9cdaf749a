"""The hashes that make a context replayable (SPEC D2).

Everything that could change a byte of the context is under one of them: the query, the inputs,
the recipe, the budget, the tokenizer's vocabulary and the version. `when` is outside them all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from types import FunctionType

from blake3 import blake3

from foveate._version import __version__
from foveate.core.contracts import Tokenizer
from foveate.core.types import Budget, Candidate, Chunk, Inputs, Recipe, Stage, Vector

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a context was made of, by hash (BLAKE3, 32 hex digits); `when` is not compared."""

    schema: int = SCHEMA
    version: str = __version__
    recipe: str
    recipe_hash: str
    query_hash: str
    inputs_hash: str
    budget_hash: str
    state_root: str
    tokenizer: str
    tokenizer_fingerprint: str
    output_hash: str
    budget_tokens: int | None
    token_count: int
    when: str = field(default="", compare=False)


def manifest_of(inputs: Inputs, tokenizer: Tokenizer, text: str, token_count: int) -> Manifest:
    """Seal a context."""
    return Manifest(
        recipe=inputs.recipe.name,
        recipe_hash=digest(spelled(inputs.recipe)),
        query_hash=digest(inputs.query),
        inputs_hash=digest("".join(part_hashes(inputs).values())),
        budget_hash=budget_hash(inputs.budget),
        state_root=inputs.state_root,
        tokenizer=tokenizer.name,
        tokenizer_fingerprint=tokenizer.fingerprint,
        output_hash=digest(text),
        budget_tokens=inputs.budget.documents,
        token_count=token_count,
    )


def digest(text: str) -> str:
    """BLAKE3 of the text's UTF-8 bytes, 32 hex digits."""
    return blake3(text.encode()).hexdigest(16)


def budget_hash(budget: Budget) -> str:
    """The zones, by name: a subclass with the same zones has the same hash."""
    zones = [(f.name, getattr(budget, f.name)) for f in fields(Budget)]
    return digest(repr(zones))


def spelled(recipe: Recipe) -> str:
    """All of a recipe that can change a byte, as text; not its budget, nor its description."""
    stages = ", ".join(spelled_stage(stage) for stage in recipe.stages)
    rest = (
        recipe.name,
        recipe.cite,
        recipe.summary_label,
        recipe.include_metadata,
        recipe.spotlight,
    )
    return f"{rest!r} {recipe.format!r} ({stages})"


def spelled_stage(stage: Stage) -> str:
    """How the stage is typed; a plain function by its module and name."""
    if is_dataclass(stage):
        return repr(stage)
    if isinstance(stage, partial):
        return f"partial({spelled_stage(stage.func)}, {stage.args!r}, {stage.keywords!r})"
    kind = stage if isinstance(stage, FunctionType) else type(stage)
    return f"{kind.__module__}:{kind.__qualname__}"


def part_hashes(inputs: Inputs) -> dict[str, str]:
    """A hash for every single input, under a name that a report can show."""
    found: dict[str, str] = {}
    for c in inputs.candidates:
        name = f"candidate {c.id}"
        found[name if name not in found else f"{name} again"] = candidate_hash(c)
    found |= {f"neighbour {c.id}": digest(_chunk(c)) for c in inputs.neighbours}
    found |= {f"supplement {s.id}": digest(repr(s)) for s in inputs.supplements}
    found["query embedding"] = _vector_hash(inputs.query_embedding)
    for name in ("principals", "messages", "intent", "instant", "language"):
        found[name] = digest(repr(getattr(inputs, name)))
    return found


def candidate_hash(candidate: Candidate) -> str:
    """Everything of a candidate that a stage or a format may look at."""
    scores = (
        candidate.score,
        candidate.semantic_score,
        candidate.lexical_score,
        candidate.rerank_score,
        candidate.origin,
    )
    return digest(f"{scores!r} {_chunk(candidate.chunk)}")


def _chunk(chunk: Chunk) -> str:
    fields = (
        (chunk.id, chunk.content_hash, chunk.document_id, chunk.source, chunk.title),
        (chunk.sequence, chunk.start, chunk.end, chunk.byte_offset),
        (chunk.page, chunk.section, chunk.row, chunk.line, chunk.summary),
        chunk.modified_at.isoformat() if chunk.modified_at else None,
        chunk.principals,
        json.dumps(dict(chunk.metadata), sort_keys=True, default=str),
        _vector_hash(chunk.embedding),
    )
    return repr(fields)


def _vector_hash(vector: Vector | None) -> str:
    if vector is None:
        return ""
    import numpy as np

    return blake3(np.ascontiguousarray(vector, dtype=np.float64).tobytes()).hexdigest(16)


def changed(old: dict[str, str], new: dict[str, str]) -> Iterable[str]:
    """What differs between two sets of hashes, in words."""
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            yield f"{name} is missing"
        elif name not in old:
            yield f"{name} is new"
        elif old[name] != new[name]:
            yield f"{name} changed"
