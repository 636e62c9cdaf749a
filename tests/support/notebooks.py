"""Contexts as a notebook shows them, of documents that try to be more than text."""

from __future__ import annotations

from foveate import assemble
from foveate.core.types import Context

MARKUP = (
    "<script>document.title = 'owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "</div></td></table></details><style>*{display:none}</style>",
    "\"><svg onload=alert(1)>' onclick='alert(1)",
    "<a href='javascript:alert(1)'>press</a> &lt;b&gt; <!-- --!> <![CDATA[",
    "<iframe srcdoc='<script>parent.document.title=1</script>'></iframe>",
    "$\\href{javascript:alert(1)}{x}$ \\(\\style{position:fixed}{y}\\)",
    "\u202egnp.exe\u2066 \u200bzero\x1b[31m",
    "<link rel=stylesheet href=//example.org/x.css><base href=//example.org>",
)


def context_of(*said: str, query: str = "Which?", budget: int = 4_000) -> Context:
    """A context whose documents say this in every field."""
    found = [
        {
            "id": f"{n}{one}",
            "text": f"{one} is said here, at place {n}.",
            "source": one or "s",
            "title": one,
            "section": one,
            "document_id": f"{n}{one}",
            "score": 1 / (n + 1),
            "page": n,
        }
        for n, one in enumerate(said)
    ]
    return assemble(query, found, budget=budget, recipe="citations")


def everything(context: Context) -> list[str]:
    """All that a notebook shows of it."""
    shown = [context._repr_html_(), *(stage._repr_html_() for stage in context.trace)]
    return [*shown, context.trace._repr_html_()]
