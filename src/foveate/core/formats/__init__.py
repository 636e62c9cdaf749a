"""The output formats, a file for each kind, each a small value. `BUILTIN` is name -> class."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from foveate.core.contracts import Format
from foveate.core.lazy_table import class_table

BUILTIN: Mapping[str, Callable[..., Format]] = class_table(
    __name__,
    {
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
    },
)
