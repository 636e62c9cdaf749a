"""What `foveate ask` prints: the answer as it arrives, then its sources, faults and usage."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from foveate.answer.ask import Answer, AskEvent
from foveate.answer.check import AnswerCheck
from foveate.cli import output
from foveate.cli.failures import escape_unprintable
from foveate.cli.layout import wrap_words
from foveate.cli.show import format_location
from foveate.core.types import Context

MAX_FINDINGS = 8  # findings that are shown


def print_answer(events: Iterator[AskEvent], context: Context) -> None:
    """Print the answer as it arrives, its sources and faults, and its usage on stderr."""
    terminal, begun, answer = output.stdout().isatty(), False, None
    try:
        for event in events:
            if isinstance(event, Answer):
                answer = event
                break
            text = event.text if begun else event.text.lstrip()
            begun = begun or bool(text)
            output.write(escape_unprintable(text) if terminal else text)
            output.flush()
    finally:
        if begun:
            output.write_line("")
    assert answer is not None
    width = output.terminal_width()
    lines = [*source_lines(answer, width), *finding_lines(answer.check, width)]
    output.print_lines(lines, output.stdout())
    output.flush()
    warning = wrap_words(answer.warning, width, first="warning: ") if answer.warning else []
    output.print_lines(["", *usage_lines(answer, context, width), *warning], sys.stderr)


def source_lines(answer: Answer, width: int) -> list[str]:
    """The source of each marker in the answer."""
    if not answer.citations:
        return []
    lines = ["", "Sources"]
    for entry in answer.citations:
        lines += wrap_words(format_location(entry), width, first=f"  [{entry.marker}] ")
    return lines


def finding_lines(checked: AnswerCheck, width: int) -> list[str]:
    """The faults of the citations, each once."""
    found = {f"{one.text} names nothing: {one.reason}": None for one in checked.dangling}
    for claim in checked.claims:
        faults = [fault.replace("_", " ") for fault in claim.faults]
        if faults:
            found[f"{', '.join(faults)}: “{claim.text}”"] = None
    lines = [line for one in [*found][:MAX_FINDINGS] for line in wrap_words(one, width, first="  ")]
    if len(found) > MAX_FINDINGS:
        lines.append(f"  ... and {len(found) - MAX_FINDINGS} more; --json has them all")
    return ["", "To be checked", *lines] if lines else []


def usage_lines(answer: Answer, context: Context, width: int) -> list[str]:
    """Tokens as the model counts them, and what they cost at the list price."""
    usage, said = answer.reply.usage, []
    if usage.prompt is not None:
        cached = f" ({usage.cached:,} from its cache)" if usage.cached else ""
        said.append(f"{usage.prompt:,} tokens read{cached}")
    if usage.completion is not None:
        said.append(f"{usage.completion:,} written")
    if answer.cost is not None:
        said.append(f"${answer.cost:.4f}")
    if answer.reply.finish == "length":
        said.append("cut off at --max-tokens")
    usage_text = ", ".join(said) or "it does not say what it used"
    tokens = f"context of {context.token_count:,} tokens"
    return wrap_words(
        f"{_display_model_name(answer.reply.model or 'model')}: {usage_text}; {tokens}", width
    )


def _display_model_name(name: str) -> str:
    """A model's name; of a file the last part, for its folder fills the line.

    >>> (
    ...     _display_model_name("gguf:/models/small.gguf"),
    ...     _display_model_name("gguf:small.gguf"),
    ...     _display_model_name("gpt-4.1"),
    ... )
    ('gguf:small.gguf', 'gguf:small.gguf', 'gpt-4.1')
    """
    kind, _, file = name.partition(":")
    return f"gguf:{Path(file).name}" if kind == "gguf" else name
