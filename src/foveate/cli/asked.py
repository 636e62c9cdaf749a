"""What `foveate ask` does, once its flags are read: settle, search, assemble, ask, print."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from foveate.adapters.models import bare
from foveate.answer.ask import Answer, Asking, Happening, ask, ask_events
from foveate.answer.check import Checked
from foveate.answer.room import known_as
from foveate.answer.wire import answer_to_json
from foveate.cli import output
from foveate.cli.assembled import from_store, write_bundle
from foveate.cli.failures import printable
from foveate.cli.layout import wrapped
from foveate.cli.models import model_named
from foveate.cli.show import place
from foveate.core.errors import OutsideFailure
from foveate.core.types import Context
from foveate.plan import Plan, plan
from foveate.ports import Model

MOST = 8  # findings that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Whom to ask, how, and what the context may be."""

    model: Model
    how: Asking
    plan: Plan


def settled_for(
    question: str, name: str, how: Asking, *, recipe: str, budget: int | None
) -> Settled:
    """The system prompt follows the recipe's format, and is counted before documents are packed."""
    return settled_by(model_named(name), question, name, how, recipe=recipe, budget=budget)


def settled_by(
    model: Model, question: str, name: str, how: Asking, *, recipe: str, budget: int | None
) -> Settled:
    """The same for a model that is there already."""
    settled = plan(
        recipe=recipe,
        budget=budget,
        model=known_as(name, how.window) or bare(name),
        query=question,
        channel=how.channel,
        prompt=how.prompt,
        language=how.language,
        max_output=how.max_tokens or 1024,
    )
    return Settled(model=model, how=replace(how, system=settled.system), plan=settled)


def answered(
    question: str,
    settled: Settled,
    *,
    store: str,
    principals: tuple[str, ...],
    as_json: bool,
    bundle: str | None,
) -> None:
    """The bundle is written before the model is asked: whatever it does, the context is kept."""
    prepared = from_store(store, question, settled.plan, principals)
    if bundle is not None:
        write_bundle(prepared, bundle)
    context = prepared.context
    try:
        if as_json:
            output.write_json(answer_to_json(ask(context, settled.model, settled.how), context))
        else:
            printed(ask_events(context, settled.model, settled.how), context)
    except OutsideFailure as error:
        kept = f"the context is kept in {bundle}" if bundle else "--bundle FILE keeps the context"
        raise OutsideFailure(f"{error}; {kept}") from None


def printed(events: Iterator[Happening], context: Context, more: str = "") -> Answer:
    """The answer as it comes; then sources and findings, and on stderr what it took, and `more`."""
    terminal, begun, answer = output.stdout().isatty(), False, None
    try:
        for event in events:
            if isinstance(event, Answer):
                answer = event
                break
            text = event.text if begun else event.text.lstrip()
            begun = begun or bool(text)
            output.write(printable(text) if terminal else text)
            output.flush()
    finally:
        if begun:
            output.write_line("")
    assert answer is not None
    width = output.terminal_width()
    lines = [*sources(answer, width), *findings(answer.checked, width)]
    output.print_lines(lines, output.stdout())
    output.flush()
    output.print_lines(["", *spent(answer, context, width, more)], sys.stderr)
    return answer


def sources(answer: Answer, width: int) -> list[str]:
    """What each marker in the answer stands for."""
    if not answer.citations:
        return []
    lines = ["", "Sources"]
    for entry in answer.citations:
        lines += wrapped(place(entry), width, first=f"  [{entry.marker}] ")
    return lines


def findings(checked: Checked, width: int) -> list[str]:
    """What is wrong with the citations, each once; nothing where nothing is."""
    found = {f"{one.text} names nothing: {one.reason}": None for one in checked.dangling}
    for claim in checked.claims:
        faults = [fault.replace("_", " ") for fault in claim.faults]
        if faults:
            found[f"{', '.join(faults)}: “{claim.text}”"] = None
    lines = [line for one in [*found][:MOST] for line in wrapped(one, width, first="  ")]
    if len(found) > MOST:
        lines.append(f"  ... and {len(found) - MOST} more; --json has them all")
    return ["", "To be checked", *lines] if lines else []


def spent(answer: Answer, context: Context, width: int, more: str = "") -> list[str]:
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
    told = ", ".join(said) or "it does not say what it used"
    tokens = f"context of {context.token_count:,} tokens"
    return wrapped(f"{_called(answer.reply.model or 'model')}: {told}; {tokens}{more}", width)


def _called(name: str) -> str:
    """A model's name; of a file the last part, for its folder fills the line.

    >>> _called("gguf:/models/small.gguf"), _called("gguf:small.gguf"), _called("gpt-4.1")
    ('gguf:small.gguf', 'gguf:small.gguf', 'gpt-4.1')
    """
    kind, _, file = name.partition(":")
    return f"gguf:{Path(file).name}" if kind == "gguf" else name
