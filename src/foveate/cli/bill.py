"""`foveate bill`: where the tokens of an agent's request go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

from foveate.cli.options import Json, argument, option

if TYPE_CHECKING:
    from foveate.pipeline.bill import Bill, LoggedRequest, Part

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
    yield f"{found.total:,} tokens"
    turns = [(_turn_name(n, turn), turn.tokens) for n, turn in enumerate(found.by_turn)]
    tables: dict[str, Iterable[tuple[str, int]]] = {
        "by zone": found.by_zone.items(),
        "by tool (calls and results)": [*found.by_tool.items()][:MAX_SHOWN],
        "by source (what a call brought)": map(_named, found.by_source[:MAX_SHOWN]),
        "largest turns": sorted(turns, key=lambda turn: -turn[1])[:MAX_SHOWN],
        "repeated": map(_named, found.repeats[:MAX_SHOWN]),
    }
    for title, rows in tables.items():
        shown = [(name, tokens) for name, tokens in rows if tokens]
        yield from [title] * bool(shown)
        for name, tokens in shown:
            yield f"  {tokens:>9,}  {tokens / found.total:>4.0%}  {name}"
    if found.prefix is not None:
        broken = found.prefix
        place = f"at message {broken.message}" if broken.message else "before the messages"
        yield f"prefix broken {place}: {broken.why}"
        yield f"  {broken.reused:,} tokens are cached, {broken.resent:,} are sent again"


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
