"""OpenAI message parts, one a block: `[i] Source: S, page P`, a line break, the text.

`json.loads(text)` is a user message's `content`. Page summaries and supplements are text parts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared.guards import Guards, guards
from foveate.core.formats.shared.parts import TEXT_OPEN, PartsFormat, escape_json
from foveate.core.images import Image
from foveate.core.text.markers import WRITTEN
from foveate.core.types import Block

_HEAD = re.compile(rf"\[({WRITTEN})\] Source: ([^\n]*)\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAiParts(PartsFormat):
    """Numbered sources as text parts."""

    name = "openai-parts"
    image_formula: ClassVar[str] = "tiles 512 2048 768 85 170"
    image_types: ClassVar[tuple[str, ...]] = ("image/png", "image/jpeg", "image/webp")
    guards: ClassVar[Guards] = guards(rows=True)
    reads: ClassVar[tuple[str, ...]] = ("source", "section", "page", "row")

    def header(self, block: Block, previous: Block | None) -> str:
        """The part up to its text, `[i] Source: S, page P` included."""
        line = f"[{block.marker}] Source: {self.write_line(block, block.source)}\n"
        return TEXT_OPEN + escape_json(line)

    def image_part(self, image: Image) -> dict[str, Any]:
        """An `image_url` part, whose address may be `blake3:` and the hash of the bytes."""
        return {"type": "image_url", "image_url": {"url": image.reference}}

    def parse_part(self, part: Mapping[str, Any], start: int) -> ParsedBlock | None:
        """The block, with marker, source, page and metadata."""
        head = _HEAD.match(part["text"])
        if head is None:
            return None
        return ParsedBlock(
            text=self.guards.body.undo(part["text"][head.end() :]),
            fields={"marker": head[1], **self.parse_line(head[2])},
            start=start + len(escape_json(head[0])),
        )
