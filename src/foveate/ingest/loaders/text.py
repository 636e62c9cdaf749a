"""Plain text, reStructuredText and Markdown, with sections from their headings.

The text stays as it is in the file, so every offset is an offset in the file. Front matter of
Markdown gives title, summary, date, readers and metadata, and is in no chunk.
Levels: the number of `#`; in Markdown underlines of `=` and `-` are 1 and 2; elsewhere an
underline's level is the order in which its character first appears.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from foveate.core.errors import BadInput
from foveate.core.text.blocks import each_block, front_matter, line_spans
from foveate.core.types import Span
from foveate.ingest.loaders.decode import decode
from foveate.ingest.loaders.front_matter import Value, parse_front_matter
from foveate.ports import LoadedDocument, Section

Heading = tuple[int, int, str]
"""(start, level, title): where it stands, 1 for the highest, and what it says."""

_ATX = re.compile(r"(#{1,6})(?:[ \t]+|\Z)")
_CLOSING = re.compile(r"(?:\A|[ \t])#+[ \t]*\Z|[ \t]*\{:?[ \t]*[#.][^{}]*\}[ \t]*\Z")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKUP = re.compile(r"(`+|\*\*|__|\*)(?=\S)([^`*]+?)(?<=\S)\1")
_MAX_TITLE_LENGTH = 200


def find_headings(text: str, *, markdown: bool) -> list[Heading]:
    """The headings of the text in order; in plain text the underlined ones alone."""
    found: list[Heading] = []
    order = ["=", "-"] if markdown else []
    for span, kind in each_block(text):
        heading = (
            _parse_heading(text, span, order, markdown=markdown) if kind == "heading" else None
        )
        if heading is not None:
            found.append(heading)
    return found


def sections_from_headings(text: str, found: list[Heading]) -> tuple[Section, ...]:
    """What each heading reaches over, up to the next one, with its path `A > B > C`."""
    path: list[tuple[int, str]] = []
    reach: list[Section] = []
    for i, (start, level, title) in enumerate(found):
        end = found[i + 1][0] if i + 1 < len(found) else len(text)
        path = [*(step for step in path if step[0] < level), (level, title)]
        reach.append(Section(start=start, end=end, path=" > ".join(name for _, name in path)))
    return tuple(reach)


def plain_title(title: str) -> str:
    """A title without links and emphasis, on one line, of at most 200 characters."""
    short = " ".join(title[: 4 * _MAX_TITLE_LENGTH].split())
    return _MARKUP.sub(r"\2", _LINK.sub(r"\1", short))[:_MAX_TITLE_LENGTH].strip()


def _parse_heading(text: str, span: Span, order: list[str], *, markdown: bool) -> Heading | None:
    start, end = span
    body = text[start:end]
    atx = _ATX.match(body)
    if atx is not None:
        title = plain_title(_CLOSING.sub("", body[atx.end() : atx.end() + 4 * _MAX_TITLE_LENGTH]))
        return (start, len(atx.group(1)), title) if markdown and title else None
    rule = body[-1]
    if rule not in order:
        order.append(rule)
    title = plain_title(body[: list(line_spans(body))[-1][0]])
    return (start, order.index(rule) + 1, title) if title else None


def load_text(data: bytes, path: Path) -> tuple[LoadedDocument]:
    r"""The file as one document, titled by its first title or its name.

    >>> load_text(b"Tea\n===\nBoil water.", Path("tea.txt"))[0].sections[0].path
    'Tea'
    """
    text = decode(data)
    found = find_headings(text, markdown=False)
    opening = found[0] if found and not text[: found[0][0]].strip() else None
    title = opening[2] if opening else path.stem
    return (LoadedDocument(text=text, title=title, sections=sections_from_headings(text, found)),)


_PRINCIPALS = re.compile(r"^[\"']?principals[\"']?\s*:", re.MULTILINE | re.IGNORECASE)
_DATES = ("modified", "modified_at", "last_modified", "lastmod", "updated", "date")
_SUMMARIES = ("summary", "description")


def load_markdown(data: bytes, path: Path) -> tuple[LoadedDocument]:
    r"""The file as one document, titled by its front matter, its first heading 1 or its name.

    >>> loaded = load_markdown(b"# Tea\n## Green\nBoil water.", Path("tea.md"))[0]
    >>> [section.path for section in loaded.sections]
    ['Tea', 'Tea > Green']
    """
    text = decode(data)
    front = parse_front_matter(text)
    said = dict(front.values)
    principals = _readers(text, said, front.end)
    found = find_headings(text, markdown=True)
    first = next((title for _, level, title in found if level == 1), path.stem)
    title = said.pop("title") if isinstance(said.get("title"), str) else first
    loaded = LoadedDocument(
        text=text,
        title=str(title),
        sections=sections_from_headings(text, found),
        summary=next((t for key in _SUMMARIES if isinstance(t := said.get(key), str)), ""),
        modified_at=first_date(said, _DATES),
        principals=principals,
        metadata=said,
        front=front.end,
    )
    return (loaded,)


def _readers(text: str, said: dict[str, Value], end: int) -> tuple[str, ...]:
    """Who may read the file, taken out of what its front matter says; empty if it does not say.

    Raises `BadInput` where that cannot be read, for everybody could read the document then.
    """
    found = said.pop("principals", None)
    unread = not end and _PRINCIPALS.search(text, 0, front_matter(text))
    if unread or isinstance(found, str):
        raise BadInput("write the front matter's principals as a list: [staff, boss]")
    return tuple(found or ())


def first_date(values: Mapping[str, Value], names: Sequence[str]) -> datetime | None:
    """The value of the first of these names that is a date in ISO format."""
    for name in names:
        try:
            return datetime.fromisoformat(str(values.get(name, "")).strip())
        except ValueError:
            continue
    return None
