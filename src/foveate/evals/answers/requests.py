"""What the model is asked: the request of each case and trial, made of what users get.

A case to which nothing fits is asked without a context, as a user without one would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foveate.answer.messages import messages
from foveate.core.types import Context
from foveate.evals.cases import Case
from foveate.evals.trials import Setting
from foveate.evals.work import Worker
from foveate.pipeline.prompts.text import system_prompt
from foveate.ports import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRequest:
    """One request. `context` is None where nothing fitted. `gold`: the answer that is scored."""

    case: Case
    recipe: str
    budget: int
    context: Context | None
    messages: tuple[Message, ...]

    @property
    def gold(self) -> str:
        """The first that the case gives, the same for every recipe, white space as single spaces.

        Empty where there is none.
        """
        return next((text for one in self.case.answers if (text := " ".join(one.split()))), "")


def build_requests(
    cases: Sequence[Case], setting: Setting, prompt: str = "grounded"
) -> Iterator[AnswerRequest]:
    """Case by case, recipe by recipe, budget by budget; the whole pool is not asked about."""
    worker = Worker(setting)
    for case in cases:
        for trial, context, _ in worker.contexts(case):
            yield AnswerRequest(
                case=case,
                recipe=trial.label,
                budget=trial.budget,
                context=context,
                messages=_build_messages(case.question, context, prompt, worker),
            )


def _build_messages(
    question: str, context: Context | None, prompt: str, worker: Worker
) -> tuple[Message, ...]:
    if context is not None:
        return tuple(messages(context, prompt=prompt, tokenizer=worker.counter))
    system = system_prompt(prompt, marker=None)
    return ({"role": "system", "content": system}, {"role": "user", "content": question})
