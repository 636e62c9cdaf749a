"""An answer and its check as plain JSON: what the command line prints and a service sends."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from foveate.answer.ask import Answer
from foveate.answer.check import AnswerCheck, Claim
from foveate.answer.provider_citations import ConfirmedCitation, RefusedCitation
from foveate.answer.stream import CitationEvent, StreamEvent
from foveate.answer.support import Support
from foveate.core.context_json import context_to_json, value_to_json
from foveate.core.types import Context


def answer_to_json(answer: Answer, context: Context) -> dict[str, Any]:
    """Answer, citations, check, usage, manifest; the same shape everywhere.

    `given` and `refused`: what a provider cites by itself and quotes; most cite nothing.
    """
    whole = context_to_json(context)
    cited = {entry.marker for entry in answer.citations}
    return {
        "query": context.query,
        "answer": answer.text,
        "model": answer.reply.model,
        "finish": answer.reply.finish,
        "citations": [entry for entry in whole["citations"] if entry["marker"] in cited],
        "given": [_confirmed_to_json(one) for one in answer.confirmed_citations],
        "refused": [_refused_to_json(one) for one in answer.refused_citations],
        "check": check_to_json(answer.check),
        "usage": {**asdict(answer.reply.usage), "cost": answer.cost},
        "context_tokens": context.token_count,
        "manifest": whole["manifest"],
    }


def _confirmed_to_json(one: ConfirmedCitation) -> dict[str, Any]:
    """What the provider cites by itself, and holds."""
    return {
        "kind": one.kind,
        "span": list(one.span),
        "markers": list(one.markers),
        "cited_text": one.cited_text,
        "context_spans": [list(span) for span in one.context_spans],
        "document_spans": [list(span) for span in one.document_spans],
    }


def _refused_to_json(one: RefusedCitation) -> dict[str, Any]:
    """What it cites and does not hold, and why."""
    return {
        "kind": one.kind,
        "span": list(one.span),
        "reason": one.reason,
        "markers": list(one.markers),
        "cited_text": one.cited_text,
    }


def event_to_json(event: StreamEvent) -> dict[str, Any]:
    """What arrives while an answer is written: text, or a marker with what it stands for."""
    if isinstance(event, CitationEvent):
        return {
            "text": event.text,
            "start": event.start,
            "citations": [value_to_json(one) for one in event.citations],
            "dangling": list(event.dangling),
        }
    return {"text": event.text}


def check_to_json(checked: AnswerCheck) -> dict[str, Any]:
    """The same shape everywhere; spans are character ranges of the answer."""
    return {
        "clean": checked.clean,
        "support": checked.support,
        "cited": list(checked.cited),
        "unused": list(checked.unused),
        "dangling": [
            {"text": one.text, "span": list(one.span), "name": one.name, "reason": one.reason}
            for one in checked.dangling
        ],
        "claims": [_claim_to_json(claim) for claim in checked.claims],
    }


def _claim_to_json(claim: Claim) -> dict[str, Any]:
    return {
        "text": claim.text,
        "span": list(claim.span),
        "markers": list(claim.markers),
        "faults": list(claim.faults),
        "support": _support_to_json(claim.support),
        "elsewhere": _support_to_json(claim.other_support),
        "over_cited": list(claim.over_cited),
        "figures": list(claim.figures),
        "quotations": [
            {"text": one.text, "span": list(one.span), "verdict": one.verdict}
            for one in claim.quotations
        ],
    }


def _support_to_json(support: Support | None) -> dict[str, Any] | None:
    """`context_span`: where the passage stands in the context's text."""
    if support is None:
        return None
    return {
        "marker": support.marker,
        "score": support.score,
        "context_span": list(support.span),
        "text": support.text,
    }
