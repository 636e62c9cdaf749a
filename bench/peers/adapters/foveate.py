"""foveate, by its public core: candidates in memory to the finished, cited, traced context.

Two recipes: `default`, and `whole`: the same stages without the one that offers sentences.
Warm: token counts and what is known of a text by its content hash are there, as the store keeps
them. Another question under another budget has brought them, and the counts that a run adds are
forgotten before the next, so no run finds its own answer. Unread: the counts are there, all else
that was known of the texts is forgotten before each run. Cold: the counts are forgotten, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from bench.forget import forget
from bench.peers.adapters.job import Job, Made
from bench.peers.workload import Row

if TYPE_CHECKING:
    from bench.peers.vectors import Floats
    from foveate.core.request import Recipe
    from foveate.core.types import Candidate, Context

OTHER_QUESTION = "What may a function return, and which names does its body see?"


def candidates(rows: Sequence[Row], vectors: Floats) -> tuple[Candidate, ...]:
    """The rows of a workload as foveate's own values."""
    from foveate.core.types import Candidate, Chunk

    return tuple(
        Candidate(
            chunk=Chunk(
                text=row.text,
                id=row.id,
                document_id=row.document,
                source=row.document,
                title=row.title,
                sequence=row.sequence,
                start=row.start,
                end=row.end,
                embedding=vector,
            ),
            score=row.score,
        )
        for row, vector in zip(rows, vectors, strict=True)
    )


def default_recipe() -> Recipe:
    """What foveate does when it is not told otherwise."""
    from foveate.core.recipes import builtin_recipes

    return builtin_recipes()["default"]


def whole_recipe() -> Recipe:
    """The default without the stage that offers parts of a chunk."""
    from dataclasses import replace

    from foveate.core.stages.compress import Compress

    recipe = default_recipe()
    kept = tuple(stage for stage in recipe.stages if not isinstance(stage, Compress))
    return replace(recipe, name="whole", stages=kept)


class Foveate:
    """The default recipe, with everything remembered that is kept by content hash."""

    whole: ClassVar[bool] = False
    counted: ClassVar[bool] = True
    read: ClassVar[bool] = True

    def start(self, job: Job) -> None:
        """Import, choose the recipe; where it is to be warm, ask something else."""
        from foveate.providers.tokenizers import load_tokenizer

        self.job = job
        self.tokenizer = load_tokenizer("cl100k_base")
        self.recipe = whole_recipe() if self.whole else default_recipe()
        self.kept: dict[str, int] = {}
        self.tokenizer.count("a")
        if self.counted:
            self.prepare(job.rows, job.vectors)
            self.assemble(OTHER_QUESTION, job.budget * 5 // 4)
            self.kept = {**self.known, **self.counts(job.rows)}

    def prepare(self, rows: Sequence[Row], vectors: Floats) -> None:
        """New candidates, the counts that are kept, and what is known of the texts, or not."""
        self.candidates = candidates(rows, vectors)
        self.known = dict(self.kept)
        if not self.read:
            forget()

    def counts(self, rows: Sequence[Row]) -> dict[str, int]:
        """Every chunk's count by its content hash, as a store keeps it."""
        pairs = zip(self.candidates, rows, strict=True)
        return {candidate.chunk.content_hash: row.tokens for candidate, row in pairs}

    def run(self) -> Made:
        """Assemble: text, citations, trace and manifest."""
        context = self.assemble(self.job.query, self.job.budget)
        return Made(text=context.text, claimed=context.token_count)

    def assemble(self, query: str, budget: int) -> Context:
        """The candidates to a context."""
        from foveate.core.assemble import assemble
        from foveate.core.request import Inputs
        from foveate.core.zones import Budget

        inputs = Inputs(
            query=query,
            candidates=self.candidates,
            recipe=self.recipe,
            budget=Budget(documents=budget, window=None),
            query_embedding=self.job.query_vector,
        )
        return assemble(inputs, self.tokenizer, self.known)


class FoveateCold(Foveate):
    """The default recipe, nothing remembered."""

    counted = False
    read = False


class FoveateWholeUnread(Foveate):
    """Whole chunks, of which only the counts are remembered."""

    whole = True
    read = False
