"""Maps ranges of the text that a provider was sent to the context and to the document.

A block's text is neutralised when sent, escaped as JSON in the context, and original in the
document. A document range is given only if it is certain to the character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from foveate.core.formats.shared.parts import TEXT_SEPARATOR, escape_json, parse_content_parts
from foveate.core.image_fit import CAPTION_LINES
from foveate.core.text.shapes.gaps import END_MARK
from foveate.core.text.shapes.gaps import PATTERN as GAP_MARK
from foveate.core.types import Block, Context, Span

_LEADING = re.compile(rf"(?:{GAP_MARK.pattern}|{END_MARK})[ \n]")
_BETWEEN = re.compile(rf"[ \n]{GAP_MARK.pattern}[ \n]")
_TRAILING = re.compile(rf"[ \n](?:{GAP_MARK.pattern}|{END_MARK})")


@dataclass(frozen=True, kw_only=True)
class CitableBlock:
    """A block as one content part of a request; `texts`: what of it can be cited, in order."""

    block: Block
    part: Mapping[str, Any]
    texts: tuple[str, ...]

    @cached_property
    def text(self) -> str:
        """All of it that can be cited."""
        return "".join(self.texts)

    def context_span(self, start: int, end: int) -> Span:
        """The range of the text's characters `start` to `end` in the context."""
        first = self.block.span[0]
        return first + self._escaped_offset(start, after=True), first + self._escaped_offset(
            end, after=False
        )

    def _escaped_offset(self, at: int, *, after: bool) -> int:
        """The offset of place `at` in the escaped text; `after`: at a boundary, the later text."""
        before = 0
        for number, text in enumerate(self.texts):
            inside = at < len(text) or (at == len(text) and not after)
            if inside or number == len(self.texts) - 1:
                return before + len(escape_json(text[:at]))
            at -= len(text)
            before += len(escape_json(text)) + len(TEXT_SEPARATOR)
        return before

    @cached_property
    def _offsets(self) -> list[int] | None:
        return map_offsets(self.text, self.block.text)  # long, and asked for by every citation

    def document_spans(self, start: int, end: int) -> tuple[Span, ...]:
        """Their ranges in the document; none unless certain to the character."""
        block = self.block
        places = self._offsets
        if places is None:
            return ()
        start, end = places[start], places[end]
        found = []
        for (first, last), (a, b) in zip(
            document_ranges_in_block(block), block.document_spans, strict=False
        ):
            low, high = max(first, start), min(last, end)
            if low < high:
                found.append((a + low - first, b - (last - high)))
        return tuple(found)


def citable_blocks(context: Context) -> list[CitableBlock]:
    """The blocks that a provider cites by itself, in the order it counts them."""
    parts = parse_content_parts(context) or ()
    own = [part for part in parts if part["type"] in ("document", "search_result")]
    chunks = sorted((b for b in context.blocks if b.kind == "chunk"), key=lambda b: b.span)
    if not own:
        return []
    return [
        CitableBlock(block=block, part=part, texts=tuple(_citable_texts(part)))
        for block, part in zip(chunks, own, strict=True)
    ]


def count_earlier_blocks(context: Context, sent: Iterable[Mapping[str, Any]]) -> int:
    """Blocks of the same kind in a request before the context's, which come last."""
    own = citable_blocks(context)
    kind = own[0].part["type"] if own else ""
    return max(0, sum(_count_blocks(message.get("content"), kind) for message in sent) - len(own))


def _count_blocks(content: Any, kind: str) -> int:
    """Count the blocks of the kind, in tool results too."""
    if isinstance(content, str) or not isinstance(content, Sequence):
        return 0
    return sum(
        1 if part.get("type") == kind else _count_blocks(part.get("content"), kind)
        for part in content
    )


def _citable_texts(part: Mapping[str, Any]) -> Iterator[str]:
    if part["type"] == "document":
        yield part["source"]["data"]
    else:
        for inner in part["content"]:
            yield inner["text"]


def map_offsets(sent: str, text: str) -> list[int] | None:
    r"""For each offset of the sent text, its end included, the offset in the block's text.

    The sent text has additional backslashes; None if it differs otherwise.

    >>> map_offsets(r"see [\2]", "see [2]")
    [0, 1, 2, 3, 4, 5, 5, 6, 7]
    """
    if sent == text:
        return list(range(len(text) + 1))
    found, at, size = [], 0, len(text)
    for one in sent:
        found.append(at)
        if at < size and one == text[at]:
            at += 1
        elif one != "\\":
            return None
    return [*found, at] if at == size else None


def document_ranges_in_block(block: Block) -> list[Span]:
    """The range of each document span in the block's text; empty if it is uncertain.

    Adjacent spans touch, others have a mark between them, and so may the ends; the lengths must
    add up.
    """
    if block.rendition in ("abstract", "reference"):
        return []
    leading = _LEADING.match(block.text)
    tried = {0, leading.end() if leading and block.rendition in ("extract", "piece") else 0}
    found = [ranges for at in tried if (ranges := _ranges_from(block, at))]
    return found[0] if len(found) == 1 else []


def _ranges_from(block: Block, at: int) -> list[Span]:
    """The ranges, if the first begins there and the rest of the text is as it must be."""
    found: list[Span] = []
    before = None
    for start, end in block.document_spans:
        if before is not None and start != before:
            mark = _BETWEEN.match(block.text, at)
            if mark is None:
                return []
            at = mark.end()
        found.append((at, at + end - start))
        at, before = at + end - start, end
    if at > len(block.text):
        return []
    rest = CAPTION_LINES.sub("", block.text[at:])
    return found if not rest or _TRAILING.fullmatch(rest) else []
