"""Asks a model about every context of an evaluation, with an estimate before.

Known calls are not repeated. A failed call is counted, and its question is left out of the
comparison on both sides; `MAX_FAILURES_IN_A_ROW` of them end the run, which keeps its answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import cast

from foveate.core.errors import BadOption, ExternalError, MissingExtra
from foveate.evals.answers.outcome import measure_answer
from foveate.evals.answers.requests import (
    AnswerRequest,
    LoggedCall,
    append_call,
    build_requests,
    call_key,
    load_calls,
)
from foveate.evals.cases import Case, Progress
from foveate.evals.rows import Row
from foveate.evals.trials import Setting
from foveate.plugins import tokenizer
from foveate.ports import LikelihoodModel, Model, text_from_content

MAX_FAILURES_IN_A_ROW = 5
"""Failures in a row, after which no more is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEstimate:
    """What is still to be asked: calls of each kind, tokens to read by the evaluation's count."""

    answers: int = 0
    scores: int = 0
    read: int = 0
    known: int = 0


@dataclass(slots=True, kw_only=True)
class CallUsage:
    """What was asked in this run, in the model's own tokens."""

    calls: int = 0
    failed: int = 0
    read: int = 0
    wrote: int = 0


@dataclass(slots=True)
class AnswerRunner:
    """Asks one model; knows what it said before, and how much it was asked now.

    `tokens`: the most that an answer may have, 0 for none: probabilities alone are asked for.
    `timeout`: seconds of one call. `log_path`: where the replies are kept.
    """

    model: Model
    log_path: Path | None = None
    _: KW_ONLY
    tokens: int = 64
    timeout: float = 120.0
    usage: CallUsage = field(default_factory=CallUsage)
    _calls: dict[str, LoggedCall] = field(init=False)
    _failures_in_a_row: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        if self.tokens < 0 or self.timeout <= 0:
            raise BadOption(
                f"{self.tokens} tokens in {self.timeout:g} seconds: give 0 tokens or more, and a "
                "time above 0"
            )
        self._calls = load_calls(self.log_path) if self.log_path is not None else {}

    def detect_scoring(self) -> None:
        """Ask a server that may say how likely a text is whether it does: what is needed follows.

        One that does not answer has its failures counted when it is asked.
        """
        find_out = getattr(self.model, "find_out", None)
        if find_out is not None:
            with suppress(ExternalError):
                find_out(timeout=self.timeout)

    def estimate(self, cases: Sequence[Case], setting: Setting) -> CallEstimate:
        """What `run` would ask."""
        counter = tokenizer(setting.tokenizer)
        asked: dict[str, str] = {}
        known: set[str] = set()
        read = 0
        for one in build_requests(cases, setting):
            for kind, key in self._call_keys(one).items():
                if key in self._calls:
                    known.add(key)
                elif key not in asked:
                    texts = (text_from_content(message["content"]) for message in one.messages)
                    read += sum(map(counter.count, texts))
                    asked[key] = kind
        kinds = Counter(asked.values())
        return CallEstimate(
            answers=kinds["answer"], scores=kinds["score"], read=read, known=len(known)
        )

    def run(
        self, cases: Sequence[Case], setting: Setting, *, on_progress: Progress | None = None
    ) -> tuple[Row, ...]:
        """A row for each case, recipe and budget, in that order."""
        total = len(cases) * len(setting.recipes) * len(setting.budgets)
        found = []
        for one in build_requests(cases, setting):
            found.append(self._measure_request(one))
            if on_progress is not None:
                on_progress(len(found), total, one.case.dataset)
        return tuple(found)

    def _call_keys(self, one: AnswerRequest) -> dict[str, str]:
        """The calls that a request takes; both send the same messages."""
        name, keys = self.model.name, {}
        if self.tokens:
            keys["answer"] = call_key("answer", name, one.messages, self.tokens)
        if one.gold and self._has_scoring():
            keys["score"] = call_key("score", name, one.messages, one.gold)
        return keys

    def _measure_request(self, one: AnswerRequest) -> Row:
        said: dict[str, LoggedCall] = {}
        wrong = []
        for kind, key in self._call_keys(one).items():
            try:
                said[kind] = self._calls.get(key) or self._call_model(one, kind, key)
            except MissingExtra:
                raise
            except ExternalError as error:
                wrong.append(str(error))
                self._stop_after_failures(error)
        return measure_answer(one, said.get("answer"), said.get("score"), "; ".join(wrong))

    def _call_model(self, one: AnswerRequest, kind: str, key: str) -> LoggedCall:
        self.usage.calls += 1
        try:
            said = self._fetch_score(one, key) if kind == "score" else self._fetch_answer(one, key)
        except ExternalError:
            self.usage.failed += 1
            self._failures_in_a_row += 1
            raise
        self._failures_in_a_row = 0
        self.usage.read += said.read
        self.usage.wrote += said.wrote
        self._calls[key] = said
        mute = kind == "score" and said.mean is None and not self._has_scoring()
        if self.log_path is not None and not mute:
            append_call(self.log_path, said)
        return said

    def _has_scoring(self) -> bool:
        """Whether it still says that it can; a server may show only when asked that it cannot."""
        return bool(getattr(self.model, "scores", False))

    def _stop_after_failures(self, error: ExternalError) -> None:
        if self._failures_in_a_row >= MAX_FAILURES_IN_A_ROW:
            again = (
                "run it again with the same --out to go on" if self.log_path else "see to it first"
            )
            raise ExternalError(
                f"{error}; {MAX_FAILURES_IN_A_ROW} calls in a row failed: {again}"
            ) from error

    def _fetch_answer(self, one: AnswerRequest, key: str) -> LoggedCall:
        reply = self.model.complete(
            one.messages, max_tokens=self.tokens, temperature=0.0, timeout=self.timeout
        )
        read, wrote = reply.usage.prompt or 0, reply.usage.completion or 0
        return LoggedCall(key=key, kind="answer", text=reply.text, read=read, wrote=wrote)

    def _fetch_score(self, one: AnswerRequest, key: str) -> LoggedCall:
        scorer = cast("LikelihoodModel", self.model)
        found = scorer.likelihood(one.messages, one.gold, timeout=self.timeout)
        if found is None:
            return LoggedCall(key=key, kind="score")
        return LoggedCall(key=key, kind="score", mean=found.mean, read=found.usage.prompt or 0)
