"""The last step: a text that fits becomes a context, with its figures and its manifest."""

from __future__ import annotations

from foveate.core.contracts import Tokenizer
from foveate.core.fit import FittedContext
from foveate.core.manifest import build_manifest
from foveate.core.measure import LazyMetrics, compute_metrics
from foveate.core.notebook import NotebookTrace
from foveate.core.request import Inputs
from foveate.core.types import Citation, Context, Trace


def build_context(
    inputs: Inputs,
    tokenizer: Tokenizer,
    fitted: FittedContext,
    citations: tuple[Citation, ...],
    trace: Trace,
) -> Context:
    """The context; its figures are computed when they are first read."""

    def figures() -> dict[str, float]:
        return compute_metrics(
            fitted.blocks, fitted.candidates, trace, fitted.tokens, fitted.budget_use
        )

    return Context(
        text=fitted.text,
        token_count=fitted.tokens,
        blocks=fitted.blocks,
        citations=citations,
        trace=NotebookTrace(trace),
        metrics=LazyMetrics(figures),
        manifest=build_manifest(inputs, tokenizer, fitted.text, fitted.tokens),
        budget=inputs.budget,
        query=inputs.query,
    )
