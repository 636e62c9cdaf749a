"""Decisions in words: the same reason codes as everywhere, with the numbers that decided.

A reason that is not in the table (a plugin's) is shown with its numbers as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from foveate.core.admission import IDENTIFIER_MISSING
from foveate.core.stages.pack.identifiers import IDENTIFIER_LEFT_OUT
from foveate.core.types import Context, Decision, Number

REASON_SENTENCES: Mapping[str, str] = {
    "blank": "no character to show",
    "found_again": "found {copies} times, goes on once",
    "below_floor": "its score {score} is below {floor}",
    "degenerate": "{tokens} tokens, fewer than {min}",
    "quota": "number {rank}, {quota} are let in",
    "document_quota": "number {rank} of its document, {quota} are let in",
    "beyond_reach": "number {rank}: the better ones hold {ahead} already, more than is looked at",
    "recent": "score {old} → {new}, {age_days} days old",
    "exact_duplicate": "the same text as {by}",
    "near_duplicate": "nearly the same words as {by}: {similarity}, limit {threshold}",
    "contained": "its text is part of {by}: {similarity}, limit {threshold}",
    "semantic_duplicate": "says the same as {by}: {similarity}, limit {threshold}",
    "corroborated": "texts that say the same, merged into it: {copies}",
    "divided": "its passage was cut into {pieces} pieces, which differ in worth",
    "neighbour": "{distance} away from {by}, at score {score}",
    "offered": "{tokens} tokens; shorter versions offered: {renditions}",
    "offered_by_model": "{tokens} tokens; an {way} of {shorter} by {model} offered",
    "model_failed": "{tokens} tokens; its own sentences, not the model's version: {why}",
    "irrelevant": "{tokens} tokens; {model} finds nothing in it that was asked for",
    "weighed": "{tokens} tokens; {sentences} sentences of it weighed",
    "retrieval_not_enough": "let in: retrieval was not enough",
    "over_budget": "{tokens} tokens do not fit",
    "unlikely": "{tokens} tokens; far less likely to hold evidence than what is shown",
    "no_match": "{tokens} tokens; it has headings, names of columns and brackets alone",
    "already_said": "all that it says is in the texts that are shown",
    "document_over_budget": "its document does not fit",
    "after_stop": "a better one did not fit before it",
    "shed": "{tokens} tokens taken away: the finished text was {over} over",
    "verbatim": "in full, {tokens} tokens, score {score}",
    "stripped": "without the repeated part, {tokens} tokens, score {score}",
    "extract": "an extract, {tokens} tokens, score {score}",
    "abstract": "rewritten, {tokens} tokens, score {score}",
    "truncated": "cut to fit, {tokens} tokens, score {score}",
    "image_shown": "images shown: {images}, {tokens} tokens",
    "image_caption": "images shown by their captions alone: {images}",
    "image_left_out": "images left out, neither they nor a caption fit: {images}",
    "image_repeated": "images left out that stand elsewhere: {images}",
    "already_sent": "it stands there since an earlier turn, as [{marker}]",
    "turn_summarised": "its {tokens} tokens are part of the summary",
    "message_kept": "as it came, {tokens} tokens",
    "message_pinned": "stays as it came, {tokens} tokens",
    "message_left_out": "older than the newest messages that fit, {tokens} tokens",
    "message_orphaned": "a call without its result or a result without its call is not sent",
    "result_shortened": "its most fitting parts, {shown} of {tokens} tokens",
    "result_repeated": "a later result has the same text",
    "result_superseded": "the same call has a newer result",
    "citation_left_out": "it was cited, and the note of that has no room for it",
    "tool_kept": "all tools fit, {tokens} tokens",
    "tool_called": "it was called, {tokens} tokens",
    "tool_found": "find_tools gave it, {tokens} tokens",
    "tool_likely": "the conversation is likely to need it, {tokens} tokens",
    "tool_listed": "{tokens} tokens; find_tools names it",
    "tool_unlisted": "{tokens} tokens; find_tools gives it and has no room to name it",
    "reference": "its title alone, {tokens} tokens, score {score}",
}
STITCHED_SENTENCES = {
    "changed": "joined from {parts} chunks, {overlap} repeated characters left out",
    "merged": "joined to {by}, {overlap} repeated characters left out",
}
SINGULAR_PATTERN = re.compile(
    r"(?<![\w.,])1 (token|more token|sentence|chunk|piece|day|time|character)s\b"
)
COUNTERFACTUALS: Mapping[str, str] = {
    "carried_by": "chosen for {carried_by}",
    "carries": "holds {carries}",
    "named": "values shown nowhere else: {values}, of which the ledger names {named}",
    "results": "its results, counted on their own: {results}",
    "short_by": "would fit with {short_by} more tokens",
    "likelier": "about {likelier} tokens likelier to answer come first",
    "lost_by": "comes after {by}, whose score is {lost_by} higher",
}


def format_decision(decision: Decision) -> str:
    """Why, and by how much; where it lost, what would have changed that.

    >>> format_decision(
    ...     Decision(
    ...         chunk_id="c9",
    ...         action="dropped",
    ...         reason="over_budget",
    ...         by="c17",
    ...         numbers={"tokens": 412, "short_by": 312, "lost_by": 0.04},
    ...     )
    ... )
    '412 tokens do not fit; would fit with 312 more tokens;
     comes after c17, whose score is 0.04 higher'
    """
    values = {"by": decision.by, **{k: format_number(v) for k, v in decision.numbers.items()}}
    table = STITCHED_SENTENCES.get(decision.action, "") if decision.reason == "stitched" else ""
    sentence = table or REASON_SENTENCES.get(decision.reason, "")
    said = [_fill_sentence(sentence, values) or _format_without_sentence(decision, values)]
    for name, words in COUNTERFACTUALS.items():
        if name in decision.numbers and (filled := _fill_sentence(words, values)):
            said.append(filled)
    return SINGULAR_PATTERN.sub(r"1 \1", "; ".join(said))


def evidence_messages(context: Context) -> list[str]:
    """What of the question the context does not show: identifiers, or most of its words."""
    names = (IDENTIFIER_MISSING, IDENTIFIER_LEFT_OUT)
    notes = [entry.notes.get(name) for entry in context.trace for name in names]
    found = [str(note) for note in notes if note]
    weak = context.weak_evidence
    return found or ([f"weak evidence: {weak}"] if weak else [])


def _fill_sentence(sentence: str, values: Mapping[str, str]) -> str:
    """The sentence; empty where a number is missing that it wants."""
    try:
        return sentence.format_map(values)
    except KeyError:
        return ""


def _format_without_sentence(decision: Decision, values: Mapping[str, str]) -> str:
    by = [f"by {decision.by}"] if decision.by else []
    rest = [f"{name} {values[name]}" for name in decision.numbers if name not in COUNTERFACTUALS]
    return ", ".join([decision.reason, *by, *rest])


def format_number(value: Number) -> str:
    """A number as one reads it.

    >>> format_number(12345), format_number(0.0400), format_number(-1.25), format_number("xml")
    ('12,345', '0.04', '-1.25', 'xml')
    """
    if isinstance(value, float):
        shown = f"{value:,.4f}".rstrip("0").rstrip(".")
        return shown if shown not in ("", "-0") else "0"
    return f"{value:,}" if isinstance(value, int) else str(value)
