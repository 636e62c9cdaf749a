"""`foveate plugins`: everything that has a name, and which package brings it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from foveate.cli.options import Json

if TYPE_CHECKING:
    from foveate.plugins import Plugin


def plugins(as_json: Json = False) -> None:
    """List built-ins and installed plugins."""
    from dataclasses import asdict

    from foveate.cli import output
    from foveate.cli.layout import format_columns
    from foveate.ingest.loaders import suffixes
    from foveate.plugins import Plugin, broken, list_plugins

    about = "Read files with this suffix."
    loaders = [Plugin(group="loaders", name=s, origin="foveate", summary=about) for s in suffixes()]
    found, unusable = [*list_plugins(), *loaders], broken()
    if as_json:
        records = [asdict(plugin) for plugin in found], [asdict(one) for one in unusable]
        output.write_json(dict(zip(("plugins", "broken"), records, strict=True)))
        return
    width = output.terminal_width()
    for group in dict.fromkeys(plugin.group for plugin in found):
        for line in _lines(group, [p for p in found if p.group == group], width):
            output.write_line(line)
    if unusable:
        output.write_line("broken")
        pairs = [
            (f"{one.group.removesuffix('s')} {one.name}", f"{one.origin}: {one.reason}")
            for one in unusable
        ]
        for line in format_columns(pairs, width):
            output.write_line(line)


def _lines(group: str, found: Sequence[Plugin], width: int) -> Iterator[str]:
    """A group: what all of ours have in common stands once, above their names."""
    from foveate.cli.layout import format_columns, wrap_words

    ours = [plugin for plugin in found if plugin.origin == "foveate"]
    summaries = {plugin.summary for plugin in ours}
    rest = found
    if len(summaries) == 1:
        yield f"{group}: {ours[0].summary}"
        yield from wrap_words(", ".join(plugin.name for plugin in ours), width, first="  ")
        rest = [plugin for plugin in found if plugin not in ours]
    else:
        yield group
    pairs = [
        (p.name, p.summary if p.origin == "foveate" else f"{p.origin}: {p.summary}".rstrip(": "))
        for p in rest
    ]
    yield from format_columns(pairs, width)
