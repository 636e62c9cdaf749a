"""A context that is a list of content blocks, as compact JSON without ASCII escapes.

JSON's escaping keeps a text inside its string; special tokens and markers are neutralised first,
because the model reads the string.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared.guards import LABEL_TAIL
from foveate.core.formats.shared.text_format import TextFormat
from foveate.core.images import MEDIA_TYPES, Image
from foveate.core.types import Block, Context

IMAGE_PARTS = ("image", "image_url", "input_image")
"""Types of parts that are images, of Anthropic and of OpenAI."""
TEXT_OPEN = '{"type":"text","text":"'
TEXT_CLOSE = '"}'
_SUMMARY = re.compile(rf"\[{LABEL_TAIL} [^\n]*\Z")
TEXT_SEPARATOR = TEXT_CLOSE + "," + TEXT_OPEN
"""Between two texts of one part."""


def escape_json(text: str) -> str:
    """The inside of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


class PartsFormat(TextFormat):
    """A format that is a list of content parts; a subclass overrides what it does otherwise.

    A part opens with `opening`, up to its text; `end` closes what holds the text.
    """

    __slots__ = ()
    is_parts: ClassVar[bool] = True
    image_formula: ClassVar[str] = "patches 28 2576 4784 1"
    """What counts images if no model is named: Anthropic's for its newer models."""
    image_types: ClassVar[tuple[str, ...]] = MEDIA_TYPES
    opening: ClassVar[str] = TEXT_OPEN
    end: ClassVar[str] = TEXT_CLOSE

    def separator(self, previous: Block | None, block: Block) -> str:
        """The list's opening bracket, or a comma."""
        return "[" if previous is None else ","

    def preamble(self, label: str, summary: str) -> str:
        """A text part of its own."""
        return TEXT_OPEN + escape_json(self.bracketed(label, summary)) + TEXT_CLOSE + ","

    def body(self, text: str) -> str:
        """Neutralised, and as the inside of a JSON string."""
        return escape_json(self.guards.body(text))

    def footer(self, block: Block, following: Block | None) -> str:
        """The end of the part, the images behind it, and the end of the list."""
        return self.end + self.write_images(block.images) + _list_end(following)

    def write_images(self, images: Iterable[Image]) -> str:
        """A part for each image, behind its block."""
        parts = (json.dumps(self.image_part(image), separators=(",", ":")) for image in images)
        return "".join(f",{part}" for part in parts)

    def image_part(self, image: Image) -> dict[str, Any]:
        """Anthropic's `image` block, whose address may be `blake3:` and the hash of the bytes."""
        return {"type": "image", "source": {"type": "url", "url": image.reference}}

    def aside(self, block: Block, following: Block | None) -> tuple[str, str]:
        """A text part of its own, which cannot be cited."""
        line, _ = super().aside(block, following)
        return TEXT_OPEN + escape_json(line), TEXT_CLOSE + _list_end(following)

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks back, with the fields that are shown."""
        found = []
        summary: dict[str, str] = {}
        for part, start in parse_parts(text, self.opening):
            block = self.parse_part(part, start)
            if block is None:
                line = str(part.get("text", ""))
                summary = {"summary": self.parse_summary(line)} if _SUMMARY.match(line) else {}
                continue
            found.append(replace(block, fields={**block.fields, **summary}))
            summary = {}
        return tuple(found)

    def parse_part(self, part: Mapping[str, Any], start: int) -> ParsedBlock | None:
        """The block of a part, whose text stands at `start`; None for one beside the blocks.

        Those are a page summary, one line, and a supplement, whose text is below its title or in
        parts of its own.
        """
        raise NotImplementedError


def _list_end(following: Block | None) -> str:
    """The list's closing bracket after the last part."""
    return "]" if following is None else ""


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
