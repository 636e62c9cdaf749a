"""The output formats: one a file, each a small value. `BUILTIN` is name -> class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from foveate.core.contracts import Format
from foveate.core.formats.anthropic_document import AnthropicDocument
from foveate.core.formats.anthropic_search_result import AnthropicSearchResult
from foveate.core.formats.doc import Doc
from foveate.core.formats.grouped import Grouped
from foveate.core.formats.markdown import Markdown
from foveate.core.formats.minimal import Minimal
from foveate.core.formats.numbered import Numbered
from foveate.core.formats.openai_parts import OpenAiParts
from foveate.core.formats.source import SourceLabel
from foveate.core.formats.xml import Xml

BUILTIN: Mapping[str, Callable[..., Format]] = MappingProxyType(
    {
        "minimal": Minimal,
        "numbered": Numbered,
        "xml": Xml,
        "grouped": Grouped,
        "source": SourceLabel,
        "doc": Doc,
        "markdown": Markdown,
        "anthropic-search-result": AnthropicSearchResult,
        "anthropic-document": AnthropicDocument,
        "openai-parts": OpenAiParts,
    }
)
