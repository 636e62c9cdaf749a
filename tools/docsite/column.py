"""The column beside the text, written at once: the theme's way copies all pages for each of them.

A third of the build's time was spent on that. What stands there: the order of `order.py`, each
page's title, the page one is on and what it stands under marked as such, and what stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any

from tools.docsite.order import folder_of, placed


def setup(app: Any) -> dict[str, Any]:
    """Stand in before the theme reads the tree."""
    app.connect("html-page-context", _stand_in, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _stand_in(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    titles = {name: title.astext() for name, title in app.env.titles.items()}
    uri = context["pathto"]
    context["toctree"] = lambda **_: "\n".join(column(page, titles, uri))


def column(page: str, titles: dict[str, str], uri: Callable[[str], str]) -> Iterator[str]:
    """The lists, as the theme takes them; `uri`: from a page's name to its address."""
    for section, names in placed(titles):
        said = f'<span class="caption-text">{section}</span>'
        yield f'<p class="caption" role="heading" aria-level="2">{said}</p>'
        yield from _list(names, 1, page, titles, uri)


def _list(
    names: Sequence[str], level: int, page: str, titles: dict[str, str], uri: Callable[[str], str]
) -> Iterator[str]:
    yield "<ul>"
    for name in names:
        here = " current" if name in {page, folder_of(page)} else ""
        address = "#" if name == page else escape(uri(name))
        yield f'<li class="toctree-l{level}{here}">'
        title = escape(titles[name])
        yield f'<a class="{here.lstrip()} reference internal" href="{address}">{title}</a>'
        if here and (below := [one for one in sorted(titles) if folder_of(one) == name]):
            yield from _list(below, level + 1, page, titles, uri)
        yield "</li>"
    yield "</ul>"
