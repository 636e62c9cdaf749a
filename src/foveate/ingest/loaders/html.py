"""Reads HTML as the visible text of the page, with Markdown's block marks.

Offsets are those of this text. Scripts, styles, navigation, form controls and hidden elements are
left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from foveate.ingest.loaders.decode import declared_encoding, decode
from foveate.ingest.loaders.html_formulas import write_formulas
from foveate.ingest.loaders.html_tables import merge_cells
from foveate.ingest.loaders.page import read_page
from foveate.ingest.loaders.tags import Tag, parse_attributes, parse_tags
from foveate.ingest.loaders.text import first_date, plain_title, sections_from_headings
from foveate.ports import LoadedDocument

_TITLE = "<title>"
_DATES = ("article:modified_time", "last-modified", "dcterms.modified", "date")


def load_html(data: bytes, path: Path) -> tuple[LoadedDocument]:
    r"""The page as one document, titled by its `title`, its first heading or its name.

    >>> loaded = load_html(b"<title>Tea</title><h1>Green</h1><p>Boil <b>water</b>.", Path("t.html"))
    >>> loaded[0].title, loaded[0].text
    ('Tea', '# Green\n\nBoil water.')
    """
    source = decode(data, declared_encoding(data))
    meta: dict[str, str] = {}
    page, text = read_page(lambda: merge_cells(write_formulas(_tags(source, meta))))
    first = next((name for _, _, name in page.headings), path.stem)
    loaded = LoadedDocument(
        text=text,
        title=meta.get(_TITLE) or first,
        sections=sections_from_headings(text, page.headings),
        summary=" ".join(meta.get("description", "").split()),
        modified_at=first_date(meta, _DATES),
        lines=False,
        left_out={"pictures": len(page.pictures)} if page.pictures else {},
    )
    return (loaded,)


def _tags(source: str, meta: dict[str, str]) -> Iterator[Tag]:
    """The tags; what they say of the page goes into `meta`, the first of a name."""
    last = ""
    for tag in parse_tags(source):
        if tag.kind == "text" and last == "title":
            meta[_TITLE] = meta.get(_TITLE) or plain_title(tag.raw)
        elif tag.kind == "open" and tag.name == "meta":
            found = parse_attributes(tag.raw)
            key = found.get("name", found.get("property", "")).lower()
            meta.setdefault(key, found.get("content", ""))
        last = tag.name if tag.kind == "open" else ""
        yield tag
