"""The output formats, a file for each kind, each a small value. `BUILTIN` is name -> class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pkgutil import resolve_name

from foveate.core.contracts import Format
from foveate.core.lazy_table import LazyTable

_PLACES = {
    "minimal": "minimal:Minimal",
    "numbered": "numbered:Numbered",
    "xml": "xml:Xml",
    "grouped": "grouped:Grouped",
    "source": "source:SourceLabel",
    "doc": "doc:Doc",
    "markdown": "markdown:Markdown",
    "anthropic-search-result": "anthropic:AnthropicSearchResult",
    "anthropic-document": "anthropic:AnthropicDocument",
    "openai-parts": "openai_parts:OpenAiParts",
}
BUILTIN: Mapping[str, Callable[..., Format]] = LazyTable(
    _PLACES, lambda name: resolve_name(f"{__name__}.{_PLACES[name]}")
)
