"""A context that is a list of content blocks, as compact JSON without ASCII escapes.

JSON's escaping keeps a text inside its string; special tokens and markers are neutralised first,
because the model reads the string.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from foveate.core.formats.shared.text_format import summary_line, supplement_line
from foveate.core.images import MEDIA_TYPES, Image
from foveate.core.text.escape import Guard
from foveate.core.types import Block, Context

IMAGE_PARTS = ("image", "image_url", "input_image")
"""Types of parts that are images, of Anthropic and of OpenAI."""
TEXT_OPEN = '{"type":"text","text":"'
TEXT_CLOSE = '"}'
TEXT_SEPARATOR = TEXT_CLOSE + "," + TEXT_OPEN
"""Between two texts of one part."""


def escape_json(text: str) -> str:
    """The inside of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def list_end(following: Block | None) -> str:
    """The list's closing bracket after the last part."""
    return "]" if following is None else ""


class PartsFormat:
    """A format that is a list of content parts; a subclass overrides what it does otherwise."""

    __slots__ = ()
    image_formula: ClassVar[str] = "patches 28 2576 4784 1"
    """What counts images if no model is named: Anthropic's for its newer models."""
    image_types: ClassVar[tuple[str, ...]] = MEDIA_TYPES
    body_guard: ClassVar[Guard]
    line_guard: ClassVar[Guard]

    def separator(self, previous: Block | None, block: Block) -> str:
        """The list's opening bracket, or a comma."""
        return "[" if previous is None else ","

    def preamble(self, label: str, summary: str) -> str:
        """A text part of its own."""
        line = summary_line(label, summary, self.line_guard)
        return TEXT_OPEN + escape_json(line) + TEXT_CLOSE + ","

    def body(self, text: str) -> str:
        """Neutralised, and as the inside of a JSON string."""
        return escape_json(self.body_guard(text))

    def write_images(self, images: Iterable[Image]) -> str:
        """A part for each image, behind its block."""
        parts = (json.dumps(self.image_part(image), separators=(",", ":")) for image in images)
        return "".join(f",{part}" for part in parts)

    def image_part(self, image: Image) -> dict[str, Any]:
        """Anthropic's `image` block, whose address may be `blake3:` and the hash of the bytes."""
        return {"type": "image", "source": {"type": "url", "url": image.reference}}

    def aside(self, block: Block, following: Block | None) -> tuple[str, str]:
        """A text part of its own, which cannot be cited."""
        line = supplement_line(block, self.line_guard)
        return TEXT_OPEN + escape_json(line + "\n"), TEXT_CLOSE + list_end(following)


def parse_content_parts(context: Context) -> list[dict[str, Any]] | None:
    """The parts of a context that was rendered as some; None if it is a text."""
    if not context.blocks:
        return None
    first, last = context.blocks[0].span[0], context.blocks[-1].span[1]
    if not (context.text[:first].startswith('[{"type":"') and context.text[last:].endswith("}]")):
        return None
    found: list[dict[str, Any]] = json.loads(context.text)
    return found


def bodies_of(context: Context) -> list[str]:
    """The blocks' bodies as the model reads them: without JSON's own escaping, if there is any."""
    bodies = [context.text[slice(*block.span)] for block in context.blocks]
    if parse_content_parts(context) is None:
        return bodies
    return [json.loads(f'"{body.replace(TEXT_SEPARATOR, "")}"') for body in bodies]


def parse_parts(text: str, opening: str) -> Iterator[tuple[dict[str, Any], int]]:
    """Each part but images, and where the string after the literal `opening` starts in it."""
    decoder = json.JSONDecoder()
    at = 1
    while at < len(text):
        part, end = decoder.raw_decode(text, at)
        if part.get("type") not in IMAGE_PARTS:
            yield part, text.find(opening, at) + len(opening)
        at = end + 1
