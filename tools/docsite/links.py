"""Links of a page, led to where their targets stand on the site.

The pages are written for a code host: their links are relative to the file in the repository, and
may lead out of `docs/`, to a program or to a folder. On the site each of these has a page too, made
by other means than the rest (`sources.py`), and a scheme of its own that says so.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable
from pathlib import PurePosixPath

FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>`{3,}|~{3,})[^\n]*\n.*?^(?P=indent)(?P=ticks)[ \t]*$\n?",
    re.MULTILINE | re.DOTALL,
)
# A span of code is passed over; else the target of a link or of an image.
TARGET = re.compile(r"(?P<code>(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`))|\]\((?P<target>[^)\s]+)\)")
SCHEME = "source"
"""Of links to files that are no pages of the documentation, and the folder they stand in."""
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#")


class Broken(Exception):
    """A link that leads nowhere; the message names the page and the target."""


def led(text: str, page: str, site: str, place: Callable[[str], str | None]) -> str:
    """The page's text with each relative link led to its place on the site.

    `page`: its path in the repository; `site`: its path on the site; `place`: from a path in the
    repository to one on the site, or None where there is no such file. Raises `Broken`.
    """
    folder = PurePosixPath(site).parent

    def one(found: re.Match[str]) -> str:
        target = found["target"]
        if target is None or ELSEWHERE.match(target):
            return found[0]
        name, _, anchor = target.partition("#")
        path = os.path.normpath(PurePosixPath(page).parent / name)
        to = None if path.startswith(("..", "/")) else place(path)
        if to is None:
            raise Broken(f"{page}: a link to {target}, and there is no {path}")
        scheme = f"{SCHEME}:" if to.startswith(f"{SCHEME}/") else ""
        return f"]({scheme}{os.path.relpath(to, folder)}{'#' * bool(anchor)}{anchor})"

    return outside_fences(text, lambda part: TARGET.sub(one, part))


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """The text with everything changed but its fenced blocks."""
    parts, last = [], 0
    for fence in FENCE.finditer(text):
        parts += [change(text[last : fence.start()]), fence[0]]
        last = fence.end()
    return "".join((*parts, change(text[last:])))
