"""One case → its rows: the candidates are made once, every trial assembles and is measured."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from foveate import plugins
from foveate.assembler import prepare_candidates
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BudgetTooSmall
from foveate.core.manifest import digest
from foveate.core.types import Candidate
from foveate.evals.cases import Case
from foveate.evals.measures import measure
from foveate.evals.rows import Row
from foveate.evals.trials import Setting, Trial, trials
from foveate.ports import Embedder

Task = tuple[Case, tuple[int, ...]]
"""A case and the trials, by their numbers, that it lacks."""


def key_of(case: Case, trial: Trial) -> str:
    """What a row is found under: a hash of everything that it depends on."""
    return digest(f"{case.hash or digest(repr(case))} {trial.hash}")


@dataclass(slots=True)
class Worker:
    """Makes the rows of a case; keeps the trials, and the vectors of texts it has seen."""

    setting: Setting
    trials: tuple[Trial, ...] = field(init=False)
    _counter: Tokenizer = field(init=False)
    _embedder: Embedder | None = field(init=False)
    _vectors: dict[str, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.trials = trials(self.setting)
        self._counter = plugins.tokenizer(self.setting.tokenizer)
        name = self.setting.embedder
        self._embedder = plugins.embedder(name) if name else None

    def __call__(self, task: Task) -> list[Row]:
        """The rows that the case lacks, in the order of the trials."""
        case, missing = task
        candidates = case.candidates()
        vector = None
        if self._embedder is not None:
            candidates = self._embedded(self._embedder, candidates)
            vector = self._embedder.embed([case.question])[0]
        return [self._row(case, self.trials[i], candidates, vector) for i in missing]

    def _row(self, case: Case, trial: Trial, candidates: tuple[Candidate, ...], vector: Any) -> Row:
        text, failed = self._text(case, trial, candidates, vector)
        return Row(
            key=key_of(case, trial),
            dataset=case.dataset,
            id=case.id,
            recipe=trial.label,
            budget=trial.budget,
            failed=failed,
            measures=measure(
                text,
                [unit.text for unit in case.evidence],
                case.answers,
                tokens=self._counter.count(text),
                budget=trial.budget or None,
                dataset=case.dataset,
            ),
        )

    def _text(
        self, case: Case, trial: Trial, candidates: tuple[Candidate, ...], vector: Any
    ) -> tuple[str, str]:
        """The context's text, and why there is none."""
        if trial.settled is None:
            best = sorted(candidates, key=lambda c: -c.score)
            return "\n\n".join(candidate.text for candidate in best), ""
        try:
            made = prepare_candidates(
                case.question, candidates, trial.settled, query_embedding=vector
            )
        except BudgetTooSmall as error:
            return "", str(error)
        return made.context.text, ""

    def _embedded(
        self, embedder: Embedder, candidates: tuple[Candidate, ...]
    ) -> tuple[Candidate, ...]:
        """With vectors; the same text is embedded once."""
        new = {
            c.chunk.content_hash: c.text
            for c in candidates
            if c.chunk.content_hash not in self._vectors
        }
        if new:
            made = embedder.embed(list(new.values()))
            self._vectors.update(zip(new, made, strict=True))
        return tuple(
            replace(c, chunk=replace(c.chunk, embedding=self._vectors[c.chunk.content_hash]))
            for c in candidates
        )
