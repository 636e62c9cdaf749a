"""One small pool, and what each stage and each recipe makes of it: run, not written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from foveate import Chunk, Context, Recipe, Supplement, assemble
from foveate.cli.show import decision_lines
from foveate.core import stages
from foveate.core.formats.numbered import Numbered
from foveate.core.stages.compress import Compress
from foveate.core.stages.pack import Pack
from foveate.core.stages.stitch import Stitch

QUESTION = "How deep is the well?"
BUDGET = 90
WIDTH = 88
NEIGHBOUR = Chunk(id="well-2", document_id="well", source="well.md", sequence=2,
                  text="In dry years a second bucket hangs on the beam.")  # fmt: skip
SIDE = Supplement(id="depths", text="Wells of this district: 6 to 14 metres.", similarity=0.8)
POOL: Sequence[Mapping[str, Any]] = (
    {"id": "well-0", "document_id": "well", "source": "well.md", "sequence": 0, "page": 1,
     "score": 0.9, "modified_at": datetime(2026, 3, 1, tzinfo=UTC),
     "text": "The well is nine metres deep. It was dug in 1904 by two brothers, who lived by "
             "digging. Its wall is of granite."},
    {"id": "well-1", "document_id": "well", "source": "well.md", "sequence": 1, "page": 2,
     "score": 0.6, "modified_at": datetime(2026, 3, 1, tzinfo=UTC),
     "text": "Its wall is of granite. The beam above it was renewed, and carries a bucket of "
             "twelve litres."},
    {"id": "copy", "source": "copies/well.md", "score": 0.85,
     "text": "The well is nine metres deep.  It was dug in 1904 by two brothers, who lived by "
             "digging. Its wall is of granite."},
    {"id": "short", "source": "notes.md", "score": 0.5,
     "text": "The well is nine metres deep. It was dug in 1904 by two brothers."},
    {"id": "old", "source": "old/well.md", "score": 0.7,
     "modified_at": datetime(2019, 3, 1, tzinfo=UTC),
     "text": "The well is seven metres deep. It was dug in 1904 by two brothers, who lived by "
             "digging. Its wall is of granite."},
    {"id": "mill", "source": "mill.md", "score": 0.45,
     "text": "The mill has a wheel of oak, four metres across. It was mended twice, and stands "
             "still since the river was moved."},
    {"id": "scrap", "source": "notes.md", "score": 0.2, "text": "See page 3."},
)  # fmt: skip
BEFORE: Mapping[str, tuple[Any, ...]] = {
    "divide": (Stitch(), Compress(offer="sentences", when="always", min_tokens=5)),
}
"""What must stand before a stage for it to have something to do."""
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "floor": {"min_score": 0.3, "max_per_document": 1},
    "dedup_near": {"method": "containment"},
    "shortlist": {"times": 1, "least": 60},
    "prefer_recent": {"half_life_days": 365.0},
    "compress": {"when": "always", "min_tokens": 5},
    "divide": {"contrast": 2.0},
    "supplement_gate": {"intents": ("measure",)},
    "order": {"by": "edges"},
}
"""Options with which a stage has something to do in this pool."""


def pool() -> str:
    """The pool as a table."""
    rows = (f"| `{one['id']}` | {one['score']} | {one['text']} |" for one in POOL)
    return "\n".join(("| candidate | score | text |", "|---|---|---|", *rows))


def of_stage(name: str) -> tuple[str, str]:
    """(the stage as one types it, what it decided here and what the reader then saw)."""
    stage = stages.BUILTIN[name](**OPTIONS.get(name, {}))
    packs = () if name == "pack" else (Pack(policy="greedy", min_tokens=0),)
    around = (stage, *packs) if name != "order" else (*packs, stage)
    recipe = Recipe(name="example", stages=(*BEFORE.get(name, ()), *around), format=Numbered())
    budget = BUDGET if name in {"pack", "shortlist"} else 400
    context = _assembled(recipe, budget)
    entry = next(one for one in context.trace if one.stage == name)
    said = decision_lines(replace(context, trace=(entry,)), WIDTH)[1:]
    return repr(stage), "\n".join(
        (f"{name}: {entry.before} → {entry.after} candidates", *said, f"shown: {_shown(context)}")
    )


def of_recipe(recipe: Recipe) -> tuple[str, str]:
    """(how much of the budget it took and what it shows, the text)."""
    context = _assembled(recipe, BUDGET)
    return f"{context.token_count} of {BUDGET} tokens; {_shown(context)}", context.text


def _assembled(recipe: Recipe, budget: int) -> Context:
    return assemble(
        QUESTION,
        [{**one, "semantic_score": one["score"] / 2} for one in POOL],
        budget=budget,
        recipe=recipe,
        neighbours=(NEIGHBOUR,),
        supplements=(SIDE,),
        intent="measure",
    )


def _shown(context: Context) -> str:
    """The chunks of each block, in the order of the blocks."""
    return ", ".join(f"{'+'.join(one.chunk_ids)} ({one.rendition})" for one in context.blocks)
