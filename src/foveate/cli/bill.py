"""`foveate bill`: where the tokens of an agent's request go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

from foveate.cli.options import Json, argument, option

if TYPE_CHECKING:
    from foveate.pipeline.bill import Bill, Part

MAX_SHOWN = 8
"""Tools, sources, turns and repeats that are named where a person reads."""


def bill(
    file: Annotated[
        str,
        argument(
            "FILE",
            "A message list, or a request with messages and tools, as JSON; - is stdin.",
        ),
    ],
    before: Annotated[str | None, option("FILE", "The request before it, for its prefix.")] = None,
    tokenizer: Annotated[str, option("T", "Tokenizer that counts.")] = "cl100k_base",
    as_json: Json = False,
) -> None:
    """Show where the tokens of an agent's request go.

    By zone, tool, source (a call with its arguments) and turn; which texts repeat; and
    with --before, which message broke the prefix that a provider's cache has.
    """
    from dataclasses import asdict

    from foveate.cli import output
    from foveate.cli.files import display_name, read_json
    from foveate.core.errors import name_in_errors
    from foveate.pipeline import bill as bills

    request, earlier = read_json(file), None
    if before is not None:
        earlier = read_json(before)
        with name_in_errors(display_name(before)):
            bills.parse_request(earlier)
    with name_in_errors(display_name(file)):
        found = bills.bill(request, before=earlier, tokenizer=tokenizer)
    output.write_result(asdict(found), _lines(found), as_json=as_json)


def _lines(found: Bill) -> Iterator[str]:
    yield f"{found.total:,} tokens"
    start, *turns = found.by_turn
    named = [(f"turn {n}, {_name(turn)}", turn.tokens) for n, turn in enumerate(turns, 1)]
    named.append(("before the first turn", start.tokens))
    tables: dict[str, Iterable[tuple[str, int]]] = {
        "by zone": found.by_zone.items(),
        "by tool (calls and results)": found.by_tool.items(),
        "by source (what a call brought)": ((_name(p), p.tokens) for p in found.by_source),
        "largest turns": sorted(named, key=lambda turn: -turn[1]),
        "repeated": ((_name(part), part.tokens) for part in found.repeats),
    }
    for title, rows in tables.items():
        shown = [(name, tokens) for name, tokens in rows if tokens][:MAX_SHOWN]
        yield from [title] * bool(shown)
        for name, tokens in shown:
            yield f"  {tokens:>9,}  {tokens / found.total:>4.0%}  {name}"
    if found.prefix is not None:
        broken = found.prefix
        place = f"at message {broken.message}" if broken.message else "before the messages"
        yield f"prefix broken {place}: {broken.why}"
        yield f"  {broken.reused:,} tokens are cached, {broken.resent:,} are sent again"


def _name(part: Part) -> str:
    """Which messages a part is, and how it begins."""
    first, *more = part.places
    if not more:
        return f"message {first}: {part.begins}"
    in_a_row = more[-1] - first == len(more)
    places = f"{first}-{more[-1]}" if in_a_row else ", ".join(map(str, part.places))
    return f"messages {places}: {part.begins}"
