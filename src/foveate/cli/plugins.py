"""`foveate plugins`: everything that has a name, and which package brings it."""

from __future__ import annotations

from foveate.cli.options import Json


def plugins(as_json: Json = False) -> None:
    """List everything that has a name. With the package that brings each."""
    from dataclasses import asdict

    from foveate.cli import output
    from foveate.cli.layout import rows
    from foveate.plugins import GROUPS, listed

    found = listed()
    if as_json:
        output.write_json({"plugins": [asdict(plugin) for plugin in found]})
        return
    width = output.terminal_width()
    for group in GROUPS:
        pairs = [
            (p.name, f"{p.origin}: {p.summary}" if p.summary else p.origin)
            for p in found
            if p.group == group
        ]
        if pairs:
            output.write_line(group)
            for line in rows(pairs, width):
                output.write_line(line)
