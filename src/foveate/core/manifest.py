"""The hashes that make a context replayable (SPEC D2).

They cover everything that could change a byte of the context.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from operator import attrgetter
from struct import pack
from types import FunctionType

from blake3 import blake3

from foveate.core.checks import canonical_metadata
from foveate.core.contracts import Tokenizer
from foveate.core.fields import canonical_chunk
from foveate.core.request import CanonicalRecipe, Inputs, Recipe, Stage
from foveate.core.seal import Manifest
from foveate.core.types import Candidate, Chunk, Vector
from foveate.core.zones import Budget

VECTORS_PER_BLOCK = 256  # vectors

_OTHER_INPUTS = ("principals", "messages", "intent", "instant", "language")
_get_scores = attrgetter("semantic_score", "lexical_score", "rerank_score", "origin")
_NO_SCORES = (None, None, None, "retrieved")


def build_manifest(inputs: Inputs, tokenizer: Tokenizer, text: str, token_count: int) -> Manifest:
    """Seal a context."""
    return Manifest(
        recipe=inputs.recipe.name,
        recipe_hash=canonical_recipe(inputs.recipe).hash,
        query_hash=digest(inputs.query),
        inputs_hash=inputs_hash(inputs),
        budget_hash=budget_hash(inputs.budget),
        state_root=inputs.state_root,
        tokenizer=tokenizer.name,
        tokenizer_fingerprint=tokenizer.fingerprint,
        output_hash=digest(text),
        budget_tokens=inputs.budget.documents,
        token_count=token_count,
        exact=inputs.exact,
        index=inputs.index,
    )


def digest(text: str) -> str:
    """BLAKE3 of the text's UTF-8 bytes, 32 hex digits."""
    return blake3(text.encode()).hexdigest(16)


def budget_hash(budget: Budget) -> str:
    """The zones, by name: a subclass with the same zones has the same hash."""
    named = [(f.name, getattr(budget, f.name)) for f in fields(Budget)]
    return digest(repr([zone for zone in named if zone != ("images", 0)]))  # as before there were


def canonical_recipe(recipe: Recipe) -> CanonicalRecipe:
    """All of a recipe that can change a byte, as text; without its budget and description."""
    stages = tuple(canonical_stage(stage) for stage in recipe.stages)
    form = repr(recipe.format)
    rest: tuple[object, ...] = (
        recipe.name,
        recipe.cite,
        recipe.summary_label,
        recipe.include_metadata,
        False,  # where an option was that went, so that hashes stay
    )
    whole = f"{rest!r} {form} ({', '.join(stages)})"
    names = tuple(stage_name(stage) for stage in recipe.stages)
    return CanonicalRecipe(names, stages, form, whole, digest(whole))


def canonical_stage(stage: Stage) -> str:
    """How the stage is typed; a plain function by its module and name."""
    if is_dataclass(stage):
        return repr(stage)
    if isinstance(stage, partial):
        return f"partial({canonical_stage(stage.func)}, {stage.args!r}, {stage.keywords!r})"
    kind = stage if isinstance(stage, FunctionType) else type(stage)
    return f"{kind.__module__}:{kind.__qualname__}"


def stage_name(stage: Stage) -> str:
    """`DedupNear(...)` is `dedup_near`; a function is itself."""
    name = getattr(stage, "__name__", None) or type(stage).__name__
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def inputs_hash(inputs: Inputs) -> str:
    """One hash over everything that is read; `part_hashes` has them one by one."""
    hashes = [
        candidates_hash(inputs.candidates),
        chunks_hash(inputs.neighbours),
        digest(repr(inputs.supplements)),
        vectors_hash((inputs.query_embedding,)),
    ]
    others = [getattr(inputs, name) for name in _OTHER_INPUTS]
    later = (inputs.notes, inputs.offers, inputs.image_formula)
    others += filter(None, later)  # where there are none: as before there could be any
    return digest("".join(hashes) + repr(others))


def part_hashes(inputs: Inputs) -> dict[str, str]:
    """A hash for every single input, under a name that a report can show."""
    found: dict[str, str] = {}
    for c in inputs.candidates:
        name = f"candidate {c.id}"
        found[name if name not in found else f"{name} again"] = candidates_hash((c,))
    found |= {f"neighbour {c.id}": chunks_hash((c,)) for c in inputs.neighbours}
    found |= {f"supplement {s.id}": digest(repr(s)) for s in inputs.supplements}
    found["query embedding"] = vectors_hash((inputs.query_embedding,))
    for name in _OTHER_INPUTS:
        found[name] = digest(repr(getattr(inputs, name)))
    if inputs.notes:
        found["notes"] = digest(repr(inputs.notes))
    if inputs.image_formula:
        found["image formula"] = digest(inputs.image_formula)
    found |= {f"{o.way} of {o.key}": digest(repr(o)) for o in inputs.offers}
    return found


def candidates_hash(candidates: Sequence[Candidate]) -> str:
    """Everything of candidates, in order, that a stage or a format may look at."""
    hasher = blake3(pack(f"<{len(candidates)}d", *[c.score for c in candidates]))
    more: list[tuple[object, ...]] = [
        (n, *_get_scores(c)) for n, c in enumerate(candidates) if _get_scores(c) != _NO_SCORES
    ]
    more += [(n, "unscored") for n, c in enumerate(candidates) if not c.scored]
    hasher.update((chunks_hash([c.chunk for c in candidates]) + repr(more)).encode())
    return hasher.hexdigest(16)


def chunks_hash(chunks: Sequence[Chunk]) -> str:
    """The same of chunks: a line for each, what few of them have, and the vectors."""
    lines = [canonical_chunk(chunk) for chunk in chunks]
    lines += [
        repr((n, c.modified_at and c.modified_at.isoformat(), canonical_metadata(c.metadata)))
        for n, c in enumerate(chunks)
        if c.metadata or c.modified_at is not None
    ]
    lines.append(vectors_hash([c.embedding for c in chunks]))
    return digest("\n".join(lines))


def vectors_hash(vectors: Sequence[Vector | None]) -> str:
    """Which vectors there are, how long they are, and their numbers."""
    lengths = [-1 if v is None else len(v) for v in vectors]
    hasher = blake3(pack(f"<{len(lengths)}q", *lengths))
    known = [v for v in vectors if v is not None]
    for start in range(0, len(known), VECTORS_PER_BLOCK):
        hasher.update(_vector_bytes(known[start : start + VECTORS_PER_BLOCK]))
    return hasher.hexdigest(16)


def _vector_bytes(vectors: list[Vector]) -> bytes:
    """The numbers in four bytes each where that loses nothing, else in eight."""
    import numpy as np

    if len(set(map(len, vectors))) > 1:
        return b"".join(_vector_bytes([v]) for v in vectors)
    found = np.array(vectors)
    if found.dtype != np.float32:
        found = found.astype(np.float64)
        with np.errstate(over="ignore"):
            short = found.astype(np.float32)
        found = short if np.array_equal(short, found) else found
    return found.tobytes()


def describe_hash_differences(old: dict[str, str], new: dict[str, str]) -> Iterable[str]:
    """What differs between two sets of hashes, in words."""
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            yield f"{name} is missing"
        elif name not in old:
            yield f"{name} is new"
        elif old[name] != new[name]:
            yield f"{name} changed"
