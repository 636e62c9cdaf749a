"""`foveate bill`: where the tokens of an agent's request go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

from foveate.cli.options import Json, argument, option

if TYPE_CHECKING:
    from foveate.pipeline.bill import Bill, LoggedRequest, Part

MAX_SHOWN = 8
"""Tools, repeats and messages that are named where a person reads."""


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

    By zone, tool, source (a call with its arguments), turn and message; which texts repeat; and
    with --before, which message broke the prefix that a provider's cache has.
    """
    from dataclasses import asdict

    from foveate.cli import output
    from foveate.core.errors import name_in_errors
    from foveate.pipeline import bill as bills

    request = read_request(file)
    earlier = read_request(before) if before is not None else None
    with name_in_errors(file):
        found = bills.bill(request, before=earlier, tokenizer=tokenizer)
    output.write_result(asdict(found), _lines(found), as_json=as_json)


def read_request(name: str) -> LoggedRequest:
    """A logged request from a file, in the spelling of any provider."""
    from foveate.cli.files import display_name, read_json
    from foveate.core.errors import name_in_errors
    from foveate.pipeline.bill import parse_request

    value = read_json(name)
    with name_in_errors(display_name(name)):
        return parse_request(value)


def _lines(found: Bill) -> Iterator[str]:
    total = found.total
    yield f"{total:,} tokens in {len(found.by_message)} messages"
    yield "by zone"
    yield from _shares(((z, n) for z, n in found.by_zone.items() if n), total)
    if found.by_tool:
        yield "by tool (calls and results)"
        yield from _shares(list(found.by_tool.items())[:MAX_SHOWN], total)
    if found.by_source:
        yield "by source (what a call brought)"
        yield from _shares(map(_named, found.by_source[:MAX_SHOWN]), total)
    yield "largest turns"
    turns = [(_turn_name(n, turn), turn.tokens) for n, turn in enumerate(found.by_turn)]
    yield from _shares(_largest(t for t in turns if t[1]), total)
    yield "largest messages"
    messages = ((f"message {place}", n) for place, n in enumerate(found.by_message, 1))
    yield from _shares(_largest(messages), total)
    if found.repeats:
        yield "repeated"
        yield from _shares(map(_named, found.repeats[:MAX_SHOWN]), total)
    if found.prefix is not None:
        broken = found.prefix
        place = f"at message {broken.message}" if broken.message else "before the messages"
        yield f"prefix broken {place}: {broken.why}"
        yield f"  {broken.reused:,} tokens are cached, {broken.resent:,} are sent again"


def _largest(items: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    return sorted(items, key=lambda item: -item[1])[:MAX_SHOWN]


def _turn_name(number: int, turn: Part) -> str:
    return f"turn {number}, {_named(turn)[0]}" if number else "before the first turn"


def _named(part: Part) -> tuple[str, int]:
    """Which messages a part is, and how it begins."""
    ranges: list[list[int]] = []
    for place in part.places:
        if ranges and place == ranges[-1][-1] + 1:
            ranges[-1] = [ranges[-1][0], place]
        else:
            ranges.append([place])
    places = ", ".join("-".join(map(str, ends)) for ends in ranges)
    return f"message{'s' * (len(part.places) > 1)} {places}: {part.begins}", part.tokens


def _shares(items: Iterable[tuple[str, int]], total: int) -> Iterator[str]:
    for name, number in items:
        yield f"  {number:>9,}  {number / max(total, 1):>4.0%}  {name}"
