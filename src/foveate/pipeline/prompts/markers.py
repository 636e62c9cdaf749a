"""How a context's sources are cited: an example of a marker, from its format or from itself."""

from __future__ import annotations

from foveate.core.contracts import Format
from foveate.core.formats.shared.header import one_line
from foveate.core.formats.shared.parts import parse_content_parts
from foveate.core.types import Block, Context

PROVIDER_CITED_FORMATS = ("anthropic-document", "anthropic-search-result")
"""Formats whose sources the provider cites by itself."""
_SAMPLE_BLOCK = Block(marker=1, text="", source="a source", title="a title")


def marker_from_format(format: Format) -> str | None:
    """`[1]`, `[SOURCE 1]`; "" where sources are cited by name, None where they are not cited.

    >>> from foveate.core import formats
    >>> [marker_from_format(formats.BUILTIN[n]()) for n in ("xml", "source", "doc", "minimal")]
    ['[1]', '[SOURCE 1]', '', None]
    """
    if format.name in PROVIDER_CITED_FORMATS:
        return None
    label = format.label(_SAMPLE_BLOCK)
    if label not in (_SAMPLE_BLOCK.source, _SAMPLE_BLOCK.title):
        return _example_marker(label, 1)
    return "" if label in format.header(_SAMPLE_BLOCK, None) else None


def marker_from_context(context: Context) -> str | None:
    """The same, from what was rendered; None where it shows nothing that could be cited."""
    if not context.citations or is_cited_by_provider(context):
        return None
    first = context.citations[0]
    if first.label not in (one_line(first.source), one_line(first.title)):
        return _example_marker(first.label, first.marker)
    return "" if one_line(first.label) in context.text[: context.blocks[0].span[0]] else None


def is_cited_by_provider(context: Context) -> bool:
    """Whether its blocks are such that the provider says what cites them."""
    parts = parse_content_parts(context) or ()
    return any(part["type"] in ("document", "search_result") for part in parts)


def _example_marker(label: str, marker: int) -> str:
    """The label as it is written, in brackets; always that of the first."""
    first = label.replace(str(marker), "1")
    return first if first.startswith("[") else "[1]"
