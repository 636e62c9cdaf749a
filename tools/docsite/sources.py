"""The files that pages name, each as a plain page of its own: no column beside it, no search."""

from __future__ import annotations

import os
from collections.abc import Iterable
from fnmatch import fnmatch
from html import escape
from pathlib import Path, PurePosixPath

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound

MOST = 200_000  # characters of a file that is shown; a longer one is only named
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - foveate</title>
<link rel="stylesheet" href="{root}_static/pygments.css">
<link rel="stylesheet" href="{root}_static/source.css">
</head>
<body>
<header><a href="{root}index.html">foveate</a></header>
<main>
<h1>{title}</h1>
{body}</main>
</body>
</html>
"""


def source_place(path: str) -> str:
    """Where the page of a file or a folder stands on the site."""
    return f"source/{path}.html"


def write_sources(root: Path, paths: Iterable[str], out: Path) -> int:
    """A page for each of these files, and for what is in those that are folders; how many."""
    left, done, ignored = sorted(paths), set(), _ignored(root)
    while left:
        path = left.pop()
        if path in done:
            continue
        done.add(path)
        full, page = root / path, out / source_place(path)
        if full.is_dir():
            below = (f"{path}/{one.name}" for one in sorted(full.iterdir()))
            inner = [one for one in below if not _left_out(one, ignored)]
            left += inner
            body = _listed(path, inner)
        else:
            body = _shown(full)
        page.parent.mkdir(parents=True, exist_ok=True)
        up = "../" * (len(PurePosixPath(source_place(path)).parts) - 1)
        page.write_text(PAGE.format(title=escape(path), root=up, body=body), encoding="utf-8")
    return len(done)


def _listed(path: str, inner: list[str]) -> str:
    """A folder."""
    here = PurePosixPath(source_place(path)).parent
    rows = (
        f'<li><a href="{escape(os.path.relpath(source_place(one), here))}">'
        f"{escape(PurePosixPath(one).name)}</a></li>\n"
        for one in inner
    )
    return f"<ul>\n{''.join(rows)}</ul>\n"


def _shown(path: Path) -> str:
    """A file, in colours where its kind is known."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if len(text) > MOST:
        return f"<p>{len(text):,} characters.</p>\n"
    try:
        lexer = get_lexer_for_filename(path.name)
    except ClassNotFound:
        lexer = TextLexer()
    shown = highlight(text, lexer, HtmlFormatter(wrapcode=True))
    # wide ones are scrolled by keyboard, too
    return shown.replace('<div class="highlight">', '<div class="highlight" tabindex="0">', 1)


def _ignored(root: Path) -> list[str]:
    """What git does not keep: programs' leftovers, and what is nobody else's business."""
    rules = root / ".gitignore"
    lines = rules.read_text(encoding="utf-8").split() if rules.is_file() else []
    return [line.strip("/") for line in (*lines, ".*", "*.pyc")]


def _left_out(path: str, ignored: list[str]) -> bool:
    name = PurePosixPath(path).name
    return any(fnmatch(path, rule) or fnmatch(name, rule) for rule in ignored)
