"""An answer and its check as plain JSON: what the command line prints and a service sends."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from foveate.answer.ask import Answer
from foveate.answer.check import AnswerCheck
from foveate.answer.stream import CitationEvent, StreamEvent
from foveate.core.context_json import context_to_json, value_to_json
from foveate.core.types import Context


def answer_to_json(answer: Answer, context: Context) -> dict[str, Any]:
    """Answer, citations, check, usage, manifest; the same shape everywhere."""
    whole = context_to_json(context)
    cited = {entry.marker for entry in answer.citations}
    return {
        "query": context.query,
        "answer": answer.text,
        "reasoning": answer.reasoning,
        "warning": answer.warning,
        "model": answer.reply.model,
        "finish": answer.reply.finish,
        "citations": [entry for entry in whole["citations"] if entry["marker"] in cited],
        "check": check_to_json(answer.check),
        "usage": {**asdict(answer.reply.usage), "cost": answer.cost},
        "context_tokens": context.token_count,
        "manifest": whole["manifest"],
    }


def event_to_json(event: StreamEvent) -> dict[str, Any]:
    """A part of an arriving answer: text, or a marker with its citations."""
    if isinstance(event, CitationEvent):
        return value_to_json(event)  # type: ignore[no-any-return]
    return {"text": event.text}


def check_to_json(checked: AnswerCheck) -> dict[str, Any]:
    """The same shape everywhere; spans are character ranges of the answer."""
    return {
        "clean": checked.no_fault_found,
        "support": checked.support,
        "cited": list(checked.cited),
        "unused": list(checked.unused),
        "dangling": value_to_json(checked.dangling),
        "claims": [
            {**value_to_json(claim), "faults": list(claim.faults)} for claim in checked.claims
        ],
    }
