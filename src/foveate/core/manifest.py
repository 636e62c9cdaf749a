"""The hashes that make a context replayable (SPEC D2).

Everything that could change a byte of the context is under one of them: the query, the inputs,
the recipe, the budget, the tokenizer's vocabulary and the version. `when` is outside them all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from operator import attrgetter
from types import FunctionType

from blake3 import blake3

from foveate._version import __version__
from foveate.core.contracts import Tokenizer
from foveate.core.types import Budget, Candidate, Chunk, Inputs, Recipe, Spelling, Stage, Vector

SCHEMA = 2
BLOCK = 256  # vectors

_OTHERS = ("principals", "messages", "intent", "instant", "language")
_ZONES = tuple(f.name for f in fields(Budget))
_zones = attrgetter(*_ZONES)
_scores = attrgetter("score", "semantic_score", "lexical_score", "rerank_score", "origin")
_plain = attrgetter(
    *("id", "content_hash", "document_id", "source", "title", "sequence", "start", "end"),
    *("byte_offset", "page", "section", "row", "line", "summary", "principals"),
)


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
        recipe_hash=spelling(inputs.recipe).hash,
        query_hash=digest(inputs.query),
        inputs_hash=inputs_hash(inputs),
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
    return digest(repr(list(zip(_ZONES, _zones(budget), strict=True))))


def spelling(recipe: Recipe) -> Spelling:
    """All of a recipe that can change a byte, as text; not its budget, nor its description.

    Kept with the recipe where every part of it is a value, which cannot come to be typed otherwise.
    """
    known = recipe._spelling  # noqa: SLF001 (kept for this function alone)
    if known is not None:
        return known
    stages = tuple(spelled_stage(stage) for stage in recipe.stages)
    form = repr(recipe.format)
    rest = (
        recipe.name,
        recipe.cite,
        recipe.summary_label,
        recipe.include_metadata,
        recipe.spotlight,
    )
    whole = f"{rest!r} {form} ({', '.join(stages)})"
    names = tuple(stage_name(stage) for stage in recipe.stages)
    found = Spelling(names, stages, form, whole, digest(whole))
    if all(map(_is_value, (*recipe.stages, recipe.format))):
        object.__setattr__(recipe, "_spelling", found)
    return found


def spelled(recipe: Recipe) -> str:
    """The recipe as it is typed, stages and format included."""
    return spelling(recipe).recipe


def _is_value(part: object) -> bool:
    """A frozen dataclass or a plain function."""
    parameters = getattr(part, "__dataclass_params__", None)
    return isinstance(part, FunctionType) or bool(parameters and parameters.frozen)


def spelled_stage(stage: Stage) -> str:
    """How the stage is typed; a plain function by its module and name."""
    if is_dataclass(stage):
        return repr(stage)
    if isinstance(stage, partial):
        return f"partial({spelled_stage(stage.func)}, {stage.args!r}, {stage.keywords!r})"
    kind = stage if isinstance(stage, FunctionType) else type(stage)
    return f"{kind.__module__}:{kind.__qualname__}"


def stage_name(stage: Stage) -> str:
    """`DedupNear(...)` is `dedup_near`; a function is itself."""
    name = getattr(stage, "__name__", None) or type(stage).__name__
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def inputs_hash(inputs: Inputs) -> str:
    """One hash over everything that is read; `part_hashes` has them one by one.

    Every line is the spelling of a value, so that no two inputs make the same lines; the vectors
    follow, as many as the lines say.
    """
    candidates = inputs.candidates
    lines = [_spelled(c) for c in candidates]
    lines += [f"neighbour {_chunk(c)}" for c in inputs.neighbours]
    lines += [f"supplement {s!r}" for s in inputs.supplements]
    lines.append(repr([getattr(inputs, name) for name in _OTHERS]))
    vectors = [c.chunk.embedding for c in candidates]
    vectors += [c.embedding for c in inputs.neighbours]
    vectors.append(inputs.query_embedding)
    lines.append(repr([0 if v is None else len(v) for v in vectors]))
    hasher = blake3("\n".join(lines).encode())
    for block in _blocks([v for v in vectors if v is not None]):
        hasher.update(block)
    return hasher.hexdigest(16)


def part_hashes(inputs: Inputs) -> dict[str, str]:
    """A hash for every single input, under a name that a report can show."""
    found: dict[str, str] = {}
    for c in inputs.candidates:
        name = f"candidate {c.id}"
        found[name if name not in found else f"{name} again"] = candidate_hash(c)
    found |= {
        f"neighbour {c.id}": digest(_chunk(c) + _vector_hash(c.embedding))
        for c in inputs.neighbours
    }
    found |= {f"supplement {s.id}": digest(repr(s)) for s in inputs.supplements}
    found["query embedding"] = _vector_hash(inputs.query_embedding)
    for name in _OTHERS:
        found[name] = digest(repr(getattr(inputs, name)))
    return found


def candidate_hash(candidate: Candidate) -> str:
    """Everything of a candidate that a stage or a format may look at."""
    return digest(_spelled(candidate) + _vector_hash(candidate.chunk.embedding))


def _spelled(candidate: Candidate) -> str:
    return f"{_scores(candidate)!r} {_chunk(candidate.chunk)}"


def _chunk(chunk: Chunk) -> str:
    """All but the vector, in one line."""
    line = repr(_plain(chunk))
    if chunk.modified_at is not None:
        line += chunk.modified_at.isoformat()
    if chunk.metadata:
        line += json.dumps(dict(chunk.metadata), sort_keys=True, default=str)
    return line


def _blocks(vectors: list[Vector]) -> Iterator[bytes]:
    """The vectors' numbers, as many at a time as are quickly converted and soon forgotten."""
    if not vectors:
        return
    import numpy as np

    if len({len(v) for v in vectors}) > 1:  # the query's may be of another length
        yield from (np.ascontiguousarray(v, dtype=np.float64).tobytes() for v in vectors)
        return
    for start in range(0, len(vectors), BLOCK):
        yield np.array(vectors[start : start + BLOCK], dtype=np.float64).tobytes()


def _vector_hash(vector: Vector | None) -> str:
    return "" if vector is None else blake3(b"".join(_blocks([vector]))).hexdigest(16)


def changed(old: dict[str, str], new: dict[str, str]) -> Iterable[str]:
    """What differs between two sets of hashes, in words."""
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            yield f"{name} is missing"
        elif name not in old:
            yield f"{name} is new"
        elif old[name] != new[name]:
            yield f"{name} changed"
