"""Markdown: the source is the text, so that every offset is one in the file.

Headings (outside of code) give the sections; YAML front matter gives title, summary, date and
metadata as far as it is plain `key: value` lines. Front matter says nothing about who may read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from foveate.adapters.loaders.decode import decode
from foveate.adapters.loaders.headings import headings, sections
from foveate.core.text.blocks import front_matter
from foveate.ports import Loaded

__all__ = ["load_markdown"]

_PAIR = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:[ \t]+(\S.*)\Z")
_DATES = ("modified", "modified_at", "last_modified", "lastmod", "updated", "date")
_SUMMARIES = ("summary", "description")


def load_markdown(data: bytes, path: Path) -> tuple[Loaded]:
    r"""The file as one document, titled by its front matter, its first heading 1 or its name.

    >>> loaded = load_markdown(b"# Tea\n## Green\nBoil water.", Path("tea.md"))[0]
    >>> [section.path for section in loaded.sections]
    ['Tea', 'Tea > Green']
    """
    text = decode(data)
    pairs = _pairs(text[: front_matter(text)])
    found = headings(text, markdown=True)
    first = next((title for _, level, title in found if level == 1), path.stem)
    loaded = Loaded(
        text=text,
        title=pairs.pop("title", first),
        sections=sections(text, found),
        summary=next((pairs[key] for key in _SUMMARIES if key in pairs), ""),
        modified_at=_date(pairs),
        metadata=pairs,
    )
    return (loaded,)


def _pairs(front: str) -> dict[str, str]:
    matches = (_PAIR.match(line.rstrip()) for line in front.splitlines())
    return {m.group(1).lower(): _unquoted(m.group(2)) for m in matches if m is not None}


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value


def _date(pairs: Mapping[str, str]) -> datetime | None:
    for key in _DATES:
        try:
            return datetime.fromisoformat(pairs.get(key, ""))
        except ValueError:
            continue
    return None
