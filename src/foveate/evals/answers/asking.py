"""Ask a model about every context of an evaluation, and say beforehand what that takes.

Rules: one call after another; what is known is not asked again; a call that fails is counted and
shown, and its question is left out of the comparison on both sides; `ENOUGH` of them in a row end
the run, for then nobody is there, and what was answered is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from foveate.core.errors import BadOption, MissingExtra, OutsideFailure
from foveate.evals.answers.kept import Said, keep, key_of, known
from foveate.evals.answers.outcome import Outcome, measured
from foveate.evals.answers.pose import Posed, posed
from foveate.evals.cases import Case
from foveate.evals.trials import Setting
from foveate.plugins import tokenizer
from foveate.ports import Model, Scores, text_of

ENOUGH = 5
"""Failures in a row, after which no more is asked."""

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """`tokens`: the most that an answer may have, 0 for none: probabilities alone are asked for.

    `timeout`: seconds of one call.
    """

    prompt: str = "grounded"
    tokens: int = 64
    timeout: float = 120.0

    def __post_init__(self) -> None:
        """Refuse what cannot be asked."""
        if self.tokens < 0 or self.timeout <= 0:
            raise BadOption(f"{self!r}: give 0 tokens or more, and a time above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What is still to be asked: calls of each kind, tokens to read by the evaluation's count."""

    answers: int = 0
    scores: int = 0
    read: int = 0
    known: int = 0


@dataclass(slots=True, kw_only=True)
class Spent:
    """What was asked in this run, in the model's own tokens."""

    calls: int = 0
    failed: int = 0
    read: int = 0
    wrote: int = 0


@dataclass(slots=True)
class Judge:
    """Asks one model; knows what it said before, and how much it was asked now."""

    model: Model
    how: How = field(default_factory=How)
    kept: Path | None = None
    spent: Spent = field(default_factory=Spent)
    _known: dict[str, Said] = field(init=False)
    _scorer: Scores | None = field(init=False)
    _in_a_row: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._known = known(self.kept) if self.kept is not None else {}
        able = getattr(self.model, "scores", False)
        self._scorer = cast("Scores", self.model) if able else None

    def settle(self) -> None:
        """Ask a server that may say how likely a text is whether it does: what is needed follows.

        One that does not answer has its failures counted when it is asked.
        """
        find_out = getattr(self.model, "find_out", None)
        if find_out is not None:
            with suppress(OutsideFailure):
                find_out(timeout=self.how.timeout)

    def need(self, cases: Sequence[Case], setting: Setting) -> Need:
        """What `run` would ask."""
        counter = tokenizer(setting.tokenizer)
        counts = {"answer": 0, "score": 0}
        seen: set[str] = set()
        read = before = 0
        for one in posed(cases, setting, self.how.prompt):
            for kind, key in self._keys(one).items():
                if key in seen:
                    continue
                seen.add(key)
                if key in self._known:
                    before += 1
                    continue
                counts[kind] += 1
                read += sum(counter.count(text_of(message["content"])) for message in one.messages)
        return Need(answers=counts["answer"], scores=counts["score"], read=read, known=before)

    def run(
        self, cases: Sequence[Case], setting: Setting, *, on_progress: Progress | None = None
    ) -> tuple[Outcome, ...]:
        """An outcome for each case, recipe and budget, in that order."""
        total = len(cases) * len(setting.recipes) * len(setting.budgets)
        found = []
        for one in posed(cases, setting, self.how.prompt):
            found.append(self._outcome(one))
            if on_progress is not None:
                on_progress(len(found), total, one.case.dataset)
        return tuple(found)

    def _keys(self, one: Posed) -> dict[str, str]:
        """The calls that a request takes; both send the same messages."""
        name, keys = self.model.name, {}
        if self.how.tokens:
            keys["answer"] = key_of("answer", name, one.messages, self.how.tokens)
        if one.gold and self._able():
            keys["score"] = key_of("score", name, one.messages, one.gold)
        return keys

    def _outcome(self, one: Posed) -> Outcome:
        said: dict[str, Said] = {}
        wrong = []
        for kind, key in self._keys(one).items():
            try:
                said[kind] = self._known.get(key) or self._asked(one, kind, key)
            except MissingExtra:
                raise
            except OutsideFailure as error:
                wrong.append(str(error))
                self._give_up(error)
        return measured(one, said.get("answer"), said.get("score"), "; ".join(wrong))

    def _asked(self, one: Posed, kind: str, key: str) -> Said:
        self.spent.calls += 1
        try:
            said = self._scored(one, key) if kind == "score" else self._answered(one, key)
        except OutsideFailure:
            self.spent.failed += 1
            self._in_a_row += 1
            raise
        self._in_a_row = 0
        self.spent.read += said.read
        self.spent.wrote += said.wrote
        self._known[key] = said
        mute = kind == "score" and said.mean is None and not self._able()
        if self.kept is not None and not mute:
            keep(self.kept, said)
        return said

    def _able(self) -> bool:
        """Whether it still says that it can; a server may show only when asked that it cannot."""
        return self._scorer is not None and self._scorer.scores

    def _give_up(self, error: OutsideFailure) -> None:
        if self._in_a_row >= ENOUGH:
            again = "run it again with the same --out to go on" if self.kept else "see to it first"
            raise OutsideFailure(f"{error}; {ENOUGH} calls in a row failed: {again}") from error

    def _answered(self, one: Posed, key: str) -> Said:
        reply = self.model.complete(
            one.messages, max_tokens=self.how.tokens, temperature=0.0, timeout=self.how.timeout
        )
        used = reply.usage
        return Said(
            key=key,
            kind="answer",
            text=reply.text,
            read=used.prompt or 0,
            wrote=used.completion or 0,
        )

    def _scored(self, one: Posed, key: str) -> Said:
        assert self._scorer is not None
        found = self._scorer.likelihood(one.messages, one.gold, timeout=self.how.timeout)
        if found is None:
            return Said(key=key, kind="score")
        return Said(key=key, kind="score", mean=found.mean, read=found.usage.prompt or 0)
