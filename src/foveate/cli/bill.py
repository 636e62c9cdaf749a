"""`foveate bill`: where the tokens of an agent's request go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from foveate.cli.options import Json

if TYPE_CHECKING:
    from foveate.pipeline.bill import Bill

MAX_SHOWN = 8
"""Tools, repeats and messages that are named where a person reads."""


def bill(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A message list, or a request with messages and tools, as JSON; - is stdin.",
        ),
    ],
    before: Annotated[
        str | None, typer.Option(metavar="FILE", help="The request before it, for its prefix.")
    ] = None,
    tokenizer: Annotated[
        str, typer.Option(metavar="T", help="Tokenizer that counts.")
    ] = "cl100k_base",
    as_json: Json = False,
) -> None:
    """Show where the tokens of an agent's request go.

    By zone, tool and message; which texts repeat; and with --before, which message broke the
    prefix that a provider's cache has.
    """
    from dataclasses import asdict

    from foveate.cli import output
    from foveate.cli.compact_run import read_request
    from foveate.cli.failures import name_file_in_errors
    from foveate.pipeline import bill as bills

    messages, tools, system = read_request(file)
    earlier = read_request(before) if before is not None else (None, None, None)
    with name_file_in_errors(file):
        found = bills.bill(
            messages,
            tools=tools or (),
            system=system or "",
            before=earlier[0],
            tools_before=earlier[1],
            system_before=earlier[2],
            tokenizer=tokenizer,
        )
    output.write_result(asdict(found), _lines(found), as_json=as_json)


def _lines(found: Bill) -> Iterator[str]:
    yield f"{found.total:,} tokens in {len(found.by_message)} messages"
    yield "by zone"
    yield from _shares({z: n for z, n in found.by_zone.items() if n}, found.total)
    if found.by_tool:
        yield "by tool (calls and results)"
        yield from _shares(dict(list(found.by_tool.items())[:MAX_SHOWN]), found.total)
    yield "largest messages"
    order = sorted(range(len(found.by_message)), key=lambda n: (-found.by_message[n], n))
    largest = {f"message {n + 1}": found.by_message[n] for n in order[:MAX_SHOWN]}
    yield from _shares(largest, found.total)
    if found.repeats:
        yield "repeated"
        for repeat in found.repeats[:MAX_SHOWN]:
            places = ", ".join(map(str, repeat.places))
            yield f"  {repeat.tokens:>9,}  messages {places}: {repeat.begins}"
    if found.prefix is not None:
        broken = found.prefix
        place = f"at message {broken.message}" if broken.message else "before the messages"
        yield f"prefix broken {place}: {broken.why}"
        yield f"  {broken.reused:,} tokens are cached, {broken.resent:,} are sent again"


def _shares(tokens: dict[str, int], total: int) -> Iterator[str]:
    for name, number in tokens.items():
        yield f"  {number:>9,}  {number / max(total, 1):>4.0%}  {name}"
