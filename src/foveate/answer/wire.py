"""A checked answer as plain JSON: what the command line prints and a service sends."""

from __future__ import annotations

from typing import Any

from foveate.answer.check import Checked, Claim
from foveate.answer.support import Support


def checked_to_json(checked: Checked) -> dict[str, Any]:
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
        "claims": [_claim(claim) for claim in checked.claims],
    }


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "text": claim.text,
        "span": list(claim.span),
        "markers": list(claim.markers),
        "faults": list(claim.faults),
        "support": _support(claim.support),
        "elsewhere": _support(claim.elsewhere),
        "figures": list(claim.figures),
        "quotations": [
            {"text": one.text, "span": list(one.span), "verdict": one.verdict}
            for one in claim.quotations
        ],
    }


def _support(support: Support | None) -> dict[str, Any] | None:
    """`context_span`: where the passage stands in the context's text."""
    if support is None:
        return None
    return {
        "marker": support.marker,
        "score": support.score,
        "context_span": list(support.span),
        "text": support.text,
    }
