"""What watches one process of a service: its metrics, its traces, and the watcher of its steps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from foveate import plugins
from foveate.answer.ask import Answer
from foveate.answer.check import Checked
from foveate.around import Guarded, guarded
from foveate.service.held import Held
from foveate.service.observe.metrics import Metrics
from foveate.service.observe.names import names
from foveate.service.observe.seen import SEEN, note
from foveate.service.observe.steps import Steps
from foveate.service.observe.tracing import Traces, check_installed, wanted
from foveate.service.settings import Settings
from foveate.service.work import Work


class Observed:
    """Made before a service takes its first request, closed after its last.

    `around` goes to everything that searches or assembles. `content`: whether logs and spans may
    hold questions and texts.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        listed = plugins.known()
        self.content = settings.log_content
        self.metrics = Metrics(names(plugins.recipe_table(), listed.stages, settings.models))
        self.traces: Traces | None = None
        self.around: Guarded | None = guarded(Steps(self.metrics))
        if wanted(settings):
            check_installed()

    @asynccontextmanager
    async def watching(self, held: Held) -> AsyncIterator[None]:
        """Watch what the service holds, as long as it serves."""
        if wanted(self._settings):
            self.traces = Traces(self._settings, self.metrics.names.recipe)
            self.around = guarded(self.around, self.traces.around)
        held.around = self.around
        for pool in vars(held).values():
            if isinstance(pool, Work):
                pool.told = partial(self.metrics.work, pool.name)
        try:
            yield
        finally:
            if self.traces is not None:
                await asyncio.to_thread(self.traces.close)

    def answered(self, model: str, answer: Answer, seconds: float) -> None:
        """A model's answer, checked."""
        usage = answer.reply.usage
        self.metrics.model(model, seconds, usage, answer.cost)
        counts = {"prompt_tokens": usage.prompt, "completion_tokens": usage.completion}
        note(
            model=self.metrics.names.model(model),
            **{name: count for name, count in counts.items() if count is not None},
        )
        self.checked(answer.checked, of="ask")

    def checked(self, made: Checked, *, of: str = "check-answer") -> None:
        """An answer held against its context."""
        self.metrics.checked(made, of=of)
        note(claims=len(made.claims), uncited=len(made.uncited), dangling=len(made.dangling))
        seen = SEEN.get()
        if seen is not None:
            seen.content["answer"] = made.answer

    def unanswered(self, model: str) -> None:
        """A model that gave no answer."""
        self.metrics.model_failures.labels(self.metrics.names.model(model)).inc()
