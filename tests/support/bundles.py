"""The bundles under tests/promises/bundles: what every built-in recipe makes of one hostile pool.

    python tests/support/bundles.py NAME...    record the bundles of these recipes again

`pool.json` has what they share: the candidates and a question. A bundle is recorded again only if
its recipe is to give another context, which the commit explains.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from foveate.core import formats, stages
from foveate.core.assemble import assemble
from foveate.core.candidates import candidate_from_record
from foveate.core.recipes import builtin_recipes
from foveate.core.replay import build_bundle, inputs_from_bundle
from foveate.core.request import Inputs
from foveate.core.spec import ComponentRegistry
from foveate.core.zones import Budget
from foveate.providers.tokenizers import load_tokenizer

FOLDER = Path(__file__).parents[1] / "promises" / "bundles"
BUDGETS = (220, 900)
"""Tokens: some of the candidates fit into one, most into the other."""
SHARED = ("candidates", "parts")
KNOWN = ComponentRegistry(stages=stages.BUILTIN, formats=formats.BUILTIN)
COUNTS = load_tokenizer("cl100k_base")


def read(name: str) -> dict[str, Any]:
    """A file of the folder."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def bundle_of(recipe: str, budget: int) -> dict[str, Any]:
    """The recorded bundle, put together with what all share."""
    shared = read("pool")
    return {**{part: shared[part] for part in SHARED}, **read(recipe)[str(budget)]}


def replay(bundle: dict[str, Any]) -> dict[str, Any]:
    """The bundle that its inputs make now."""
    inputs = inputs_from_bundle(bundle, KNOWN)
    made = build_bundle(inputs, assemble(inputs, COUNTS), KNOWN)
    return json.loads(json.dumps(made))  # type: ignore[no-any-return]


def make(recipe: str, budget: int) -> dict[str, Any]:
    """The bundle that the recipe of this name makes of the pool now."""
    shared = read("pool")
    inputs = Inputs(
        query=shared["query"],
        candidates=tuple(candidate_from_record(one) for one in shared["candidates"]),
        recipe=builtin_recipes()[recipe],
        budget=Budget(documents=budget, window=None),
    )
    made = build_bundle(inputs, assemble(inputs, COUNTS), KNOWN)
    return json.loads(json.dumps(made))  # type: ignore[no-any-return]


def record(recipe: str) -> None:
    """Write the bundles of a recipe, and what all share."""
    made = {str(budget): make(recipe, budget) for budget in BUDGETS}
    shared = read("pool")
    for bundle in made.values():
        shared |= {part: bundle.pop(part) for part in SHARED}
    _write("pool", shared)
    _write(recipe, made)


def _write(name: str, what: dict[str, Any]) -> None:
    (FOLDER / f"{name}.json").write_text(_spelled(what, 2) + "\n", encoding="utf-8")


def _spelled(value: Any, depth: int) -> str:
    """JSON with a line for each entry down to a depth, and no more lines than that."""
    if depth == 0 or not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    entries = (f"{json.dumps(key)}: {_spelled(one, depth - 1)}" for key, one in value.items())
    return "{\n" + ",\n".join(entries) + "\n}"


if __name__ == "__main__":
    for own in sys.argv[1:]:
        record(own)
