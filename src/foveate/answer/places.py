"""The blocks of a context that a provider cites by itself, and where their text is in the context.

A block's text is neutralised when sent, and escaped as JSON in the context.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from foveate.core.formats.shared.parts import TEXT_SEPARATOR, escape_json, parse_content_parts
from foveate.core.types import Block, Context, Span


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
