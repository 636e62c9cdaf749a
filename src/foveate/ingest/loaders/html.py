"""Reads HTML as the visible text of the page, with Markdown's block marks.

Offsets are those of this text. Scripts, styles, navigation, form controls and hidden elements are
left out.
"""

from __future__ import annotations

from pathlib import Path

from foveate.ingest.loaders.decode import declared_encoding, decode
from foveate.ingest.loaders.page import Page
from foveate.ingest.loaders.tags import parse_attributes, parse_tags
from foveate.ingest.loaders.text import first_date, plain_title, sections_from_headings
from foveate.ports import LoadedDocument

_DATES = ("article:modified_time", "last-modified", "dcterms.modified", "date")


def load_html(data: bytes, path: Path) -> tuple[LoadedDocument]:
    r"""The page as one document, titled by its `title`, its first heading or its name.

    >>> loaded = load_html(b"<title>Tea</title><h1>Green</h1><p>Boil <b>water</b>.", Path("t.html"))
    >>> loaded[0].title, loaded[0].text
    ('Tea', '# Green\n\nBoil water.')
    """
    source = decode(data, declared_encoding(data))
    page, title, meta, last = Page(), "", dict[str, str](), ""
    for tag in parse_tags(source):
        page.handle_tag(tag)
        if tag.kind == "text" and last == "title":
            title = title or plain_title(tag.raw)
        elif tag.kind == "open" and tag.name == "meta":
            found = parse_attributes(tag.raw)
            key = found.get("name", found.get("property", "")).lower()
            meta.setdefault(key, found.get("content", ""))
        last = tag.name if tag.kind == "open" else ""
    text = page.finish()
    first = next((name for _, _, name in page.headings), path.stem)
    loaded = LoadedDocument(
        text=text,
        title=title or first,
        sections=sections_from_headings(text, page.headings),
        summary=" ".join(meta.get("description", "").split()),
        modified_at=first_date(meta, _DATES),
        lines=False,
    )
    return (loaded,)
