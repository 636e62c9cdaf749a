"""The request of each case and trial, and the log of a model's replies.

A case without a context is asked without one. A logged call is found under a hash of its request,
so recipes with equal contexts share an answer; failed calls are not logged.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from foveate.answer.messages import messages
from foveate.core.errors import BadInput
from foveate.core.manifest import digest
from foveate.core.types import Context
from foveate.evals.cases import Case
from foveate.evals.run import Worker
from foveate.evals.trials import Setting
from foveate.pipeline.prompts import system_prompt
from foveate.ports import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRequest:
    """One request. `context` is None if nothing fitted. `gold`: the answer that is scored."""

    case: Case
    recipe: str
    budget: int
    context: Context | None
    messages: tuple[Message, ...]

    @property
    def gold(self) -> str:
        """The case's first answer that is not blank, on one line; empty if there is none."""
        return next((text for one in self.case.answers if (text := " ".join(one.split()))), "")


PROMPT = "grounded"
"""The prompt with which every question is asked."""


def build_requests(cases: Sequence[Case], setting: Setting) -> Iterator[AnswerRequest]:
    """Case by case, recipe by recipe, budget by budget; the whole pool is not asked about."""
    worker = Worker(setting)
    for case in cases:
        for trial, context, _ in worker.contexts(case):
            yield AnswerRequest(
                case=case,
                recipe=trial.label,
                budget=trial.budget,
                context=context,
                messages=_build_messages(case.question, context, worker),
            )


def _build_messages(question: str, context: Context | None, worker: Worker) -> tuple[Message, ...]:
    if context is not None:
        return tuple(messages(context, prompt=PROMPT, tokenizer=worker.counter))
    system = system_prompt(PROMPT, marker=None)
    return ({"role": "system", "content": system}, {"role": "user", "content": question})


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCall:
    """One call. `text` of an answer, `mean` of a gold answer's probability (None: cannot be had).

    `read`, `wrote`: tokens as the model counts them, 0 if it does not say.
    """

    key: str
    kind: str
    text: str = ""
    mean: float | None = None
    read: int = 0
    wrote: int = 0


def call_key(kind: str, model: str, sent: Sequence[Message], detail: int | str) -> str:
    """`detail`: the limit of an answer, the gold answer of a probability."""
    return digest(json.dumps([kind, model, list(sent), detail], ensure_ascii=False))


_FIRST_BYTES = b'{"key": '
"""Of a logged call, also of one that was torn."""


def load_calls(path: Path) -> dict[str, LoggedCall]:
    """The file's calls by their keys; a torn line is passed over.

    Raises `BadInput` for a file of something else, which would be mixed with.
    """
    if not path.exists():
        return {}
    found, data = {}, path.read_bytes()
    for line in data.split(b"\n"):
        try:
            said = LoggedCall(**json.loads(line))
        except (ValueError, TypeError):
            continue
        found[said.key] = said
    if data.strip() and not found and not data.startswith(_FIRST_BYTES):
        raise BadInput(f"{path}: holds no answers of a model; name another folder")
    return found


def append_call(path: Path, said: LoggedCall) -> None:
    """Append it, at once, on a fresh line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read() != b"\n":
                file.write(b"\n")
        file.write(json.dumps(asdict(said), ensure_ascii=False).encode() + b"\n")
