"""Docstrings as Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")


def markdown(thing: Any) -> str:
    """What a thing says of itself: examples fenced, and nothing outside of code a tag."""
    return "\n".join(_lines(inspect.getdoc(thing) or ""))


def _lines(text: str) -> Iterator[str]:
    """A run of lines that begins with `>>>` is an example, up to the next empty one."""
    example = False
    for line in text.splitlines():
        if not example and line.lstrip().startswith(">>> "):
            example = True
            yield from ("", "```pycon")
        elif example and not line.strip():
            example = False
            yield "```"
        yield line if example or line.startswith("    ") else escaped(line)
    if example:
        yield "```"


def escaped(line: str) -> str:
    """No `<` outside of code begins a tag."""
    last, parts = 0, []
    for code in CODE.finditer(line):
        parts += [line[last : code.start()].replace("<", "\\<"), code[0]]
        last = code.end()
    return "".join((*parts, line[last:].replace("<", "\\<")))
