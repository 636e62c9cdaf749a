"""How a face is told to assemble, and the assembling: the same for every framework."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

from foveate.adapters.frameworks import records
from foveate.around import Around, guarded
from foveate.assembler import Assembler, prepare_candidates
from foveate.core.candidates import candidates_from, readable
from foveate.core.contracts import Format, Tokenizer
from foveate.core.errors import BadInput, BadOption
from foveate.core.types import Recipe
from foveate.core.zones import Budget
from foveate.frameworks.shown import GAP, fitted
from foveate.given import question, reader
from foveate.models import Model
from foveate.plan import Channel, Plan, plan
from foveate.prepare import Prepared
from foveate.prompts.markers import PARTS, marker_of_format
from foveate.prompts.text import system_prompt
from foveate.rerank import kept

Principals: TypeAlias = Iterable[str] | Callable[[], Iterable[str]]
"""Who asks: names, or what gives them whenever it is asked (from a context variable, say)."""
OWN = ("budget", "recipe", "tokenizer", "model", "format", "order")
"""What of a wish an assembler has settled for itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What `foveate.assemble` takes, one question after the other.

    `system`: the text of a system prompt, in place of `prompt`, its name. `before`: what was said
    before, as (role, content). `max_output`: what of a `model`'s window is kept for the answer.
    `k`: only the best so many of what was found are looked at.
    """

    budget: int | Budget | None = None
    recipe: str | Recipe = "default"
    tokenizer: str | Tokenizer | None = None
    model: str | Model | None = None
    format: str | Format | None = None
    order: str | None = None
    language: str = "en"
    channel: Channel = "text"
    prompt: str | None = None
    system: str | None = None
    before: tuple[tuple[str, str], ...] = ()
    max_output: int = 1024
    k: int | None = None
    around: Around | None = None

    def plan(self, query: str = "") -> Plan:
        """Recipe, budget and tokenizer; raises `BadOption` or `UnknownName`."""
        made = plan(
            recipe=self.recipe,
            budget=self.budget,
            tokenizer=self.tokenizer,
            model=self.model,
            format=self.format,
            order=self.order,
            query=query,
            language=self.language,
            prompt=self.prompt if self.system is None else None,
            channel=self.channel,
            max_output=self.max_output,
        )
        return self.put_into(made)

    def put_into(self, settled: Plan) -> Plan:
        """A plan with what is said of one call: its messages, and how many candidates count."""
        form = settled.recipe.format
        if form.name in (*PARTS, "openai-parts"):
            raise BadOption(
                f"format {form.name!r} is for a provider's own client; take a text format, say xml"
            )
        system = self.system
        if system is None and self.prompt is not None:
            marker = marker_of_format(form)
            system = system_prompt(
                self.prompt, marker=marker, channel=self.channel, language=self.language
            )
        recipe = settled.recipe if self.k is None else kept(settled.recipe, self.k)
        system = settled.system if system is None else system
        return replace(settled, recipe=recipe, system=system, before=self.before)


def wish_of(face: Any, **said: Any) -> Wish:
    """The wish in those attributes of a face that are named as its fields, and what is said now."""
    found = {f.name: getattr(face, f.name) for f in fields(Wish) if hasattr(face, f.name)}
    return Wish(**{**found, **said})


def who(principals: Principals) -> tuple[str, ...]:
    """The names, now."""
    return reader(principals() if callable(principals) else principals)


def assembled(
    query: str,
    documents: Any,
    wish: Wish,
    *,
    principals: Sequence[str] = (),
    gap: str | None = GAP,
) -> Prepared | None:
    """The context of a framework's documents; None where there are none that may be read.

    To a framework a search that finds nothing is no error. Whether nothing was found or nothing
    may be read cannot be told from that. `gap`: what its pieces are joined by, which keeps the
    budget too; None: the context is sent as it is. Raises what `foveate.assemble` raises.
    """
    question(query)
    found = candidates_from(records(documents))
    allowed = frozenset(principals)
    if not any(readable(candidate.chunk.principals, allowed) for candidate in found):
        return None
    settled = wish.plan(query)
    made = prepare_candidates(
        query,
        found,
        settled,
        principals=principals,
        language=wish.language,
        around=wish.around,
    )
    return made if gap is None else fitted(made, settled.tokenizer, gap)


def stored(
    assembler: Assembler,
    query: str,
    wish: Wish,
    *,
    principals: Sequence[str] = (),
    gap: str | None = GAP,
) -> Prepared | None:
    """The same from a store, by the assembler's own recipe and budget."""
    asked = _told(assembler, wish)
    try:
        made = asked.prepare(query, principals=principals)
    except BadInput as error:
        _refuse_unless_nothing(error)
        return None
    return made if gap is None else fitted(made, asked.plan.tokenizer, gap)


async def astored(
    assembler: Assembler,
    query: str,
    wish: Wish,
    *,
    principals: Sequence[str] = (),
    gap: str | None = GAP,
) -> Prepared | None:
    """`stored` without blocking the event loop; a store may be asynchronous."""
    asked = _told(assembler, wish)
    try:
        made = await asked.aprepare(query, principals=principals)
    except BadInput as error:
        _refuse_unless_nothing(error)
        return None
    if gap is None:
        return made
    return await asyncio.to_thread(fitted, made, asked.plan.tokenizer, gap)


def _told(assembler: Assembler, wish: Wish) -> Assembler:
    """The assembler with what the wish says of one call."""
    refuse_unused(wish)
    around = guarded(assembler.around, wish.around)
    return replace(assembler, plan=wish.put_into(assembler.plan), around=around)


def refuse_unused(wish: Wish) -> None:
    """Refuse what an assembler has of its own: given twice, one of the two would not be kept."""
    given = [f.name for f in fields(Wish) if f.name in OWN and getattr(wish, f.name) != f.default]
    if given:
        raise BadOption(
            f"{', '.join(given)}: the assembler has its own; give Assembler(plan=plan(…)) what is "
            "wanted, or a retriever instead"
        )


def _refuse_unless_nothing(error: BadInput) -> None:
    """A search that found nothing that may be read is no error here; any other goes on."""
    if error.field != "candidates":
        raise error
