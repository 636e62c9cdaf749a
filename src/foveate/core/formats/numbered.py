"""`[i] Source: S, page P`, the text, and a ruler between blocks; or a short form of the same.

What comes from a row of a sheet or file has `S § section, row N`.

The short form is `[i] NAME`, with the last part of the source's path, and an empty line between
blocks: some 7 tokens a block instead of 14. Where two candidates have the same last part, names
have as many parts as tell them apart. A UUID and the like says nothing to a reader and is left out,
and so is the name that the block before has: then the header is `[i]` alone. The citation has the
full source and the page. The bare form is `[i] text`, without a source.

`[i]` occurs in the context as a marker only: digits in brackets are neutralised in the text. Lines
of dashes that do not underline a heading are neutralised too, so `parse` tells the long and the
short form apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self, get_args

from foveate.core.contracts import ParsedBlock
from foveate.core.errors import BadOption
from foveate.core.formats.shared.guards import LONE_RULER, Guards, guards
from foveate.core.formats.shared.text_format import TextFormat, is_same_document, one_line
from foveate.core.text.markers import WRITTEN
from foveate.core.types import Block

Header = Literal["long", "short", "bare", "auto"]
SHORT_BELOW = 4_000
"""Document tokens under which `auto` headers are short."""

MOST_PARTS = 4
"""Parts of a path with which short headers try to tell two sources apart; more are no name."""
_GAP, _SHORT_GAP = "\n\n---\n\n", "\n\n"
_LEAD = "Source: "
_HEAD = re.compile(rf"^\[({WRITTEN})\](?: (?:{_LEAD})?([^\n]*))?\n", re.MULTILINE)
_BARE = re.compile(rf"^\[({WRITTEN})\] ", re.MULTILINE)
_IDENTIFIER = re.compile(
    r"(?=[a-f]*\d)(?=\d*[a-f])(?:[\da-f]{16,}|[\da-f]{8}(?:-[\da-f]{3,})+)", re.IGNORECASE
)
"""Hexadecimal letters and digits, as of a UUID: tokens that say nothing to a reader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered(TextFormat):
    """Numbered sources; `page` shows page numbers in long headers.

    `header_form`: `long`, `short`, `bare` (the marker alone), or `auto`: short if the budget for
    documents is under `SHORT_BELOW` tokens, else long.
    `name_parts`: the parts of a path in short headers; up to four where that many do not tell the
    candidates' sources apart, and more do.
    """

    name = "numbered"
    guards: ClassVar[Guards] = guards(rules=(LONE_RULER,), rows=True)
    reads: ClassVar[tuple[str, ...]] = ("source", "section", "page", "row")
    drops_repeats: ClassVar[bool] = True
    page: bool = True
    header_form: Header = "long"
    name_parts: int = 1

    def __post_init__(self) -> None:
        """Refuse an unknown form, and names of no parts."""
        if self.header_form not in get_args(Header):
            raise BadOption(
                f"numbered: header_form must be one of {get_args(Header)}, not {self.header_form!r}"
            )
        if type(self.name_parts) is not int or self.name_parts < 1:
            raise BadOption(f"numbered: name_parts must be 1 or more, not {self.name_parts!r}")

    @property
    def is_short(self) -> bool:
        """Whether headers are short, or bare."""
        return self.header_form in ("short", "bare")

    def for_budget(self, tokens: int) -> Self:
        """`auto` headers, short or long."""
        if self.header_form != "auto":
            return self
        return replace(self, header_form="short" if tokens < SHORT_BELOW else "long")

    def for_sources(self, sources: Iterable[str]) -> Self:
        """The format whose short headers tell these sources apart, as far as a few parts do."""
        if self.header_form != "short":
            return self
        paths = [source for source in dict.fromkeys(sources) if short_name(source)]
        parts, most = self.name_parts, 0
        for more in range(self.name_parts, max(self.name_parts, MOST_PARTS) + 1):
            names = len({short_name(path, more) for path in paths})
            if names > most:
                parts, most = more, names
            if names == len(paths):
                break
        return replace(self, name_parts=parts)

    def with_name(self, block: Block, parts: int) -> Block:
        """The block with the name that a short header has for it, of so many parts."""
        return replace(block, source=short_name(block.source, parts)) if self.is_short else block

    def with_name_parts(self, parts: int) -> Self:
        """The format with names of so many parts."""
        return replace(self, name_parts=parts)

    def separator(self, previous: Block | None, block: Block) -> str:
        """A ruler between empty lines; one empty line in the short form."""
        return self.separate(previous, block, _SHORT_GAP if self.is_short else _GAP)

    def header(self, block: Block, previous: Block | None) -> str:
        """`[i] Source: S, page P, key: value`; `[i] NAME, key: value`; or `[i]` alone."""
        if self.header_form == "bare":
            return f"[{block.marker}] "
        if not self.is_short:
            line = self.write_line(block, block.source, page=self.page)
            return f"[{block.marker}] {_LEAD}{line}\n"
        if previous is not None and _repeats_header(block, previous):
            return f"[{block.marker}]\n"
        named = self.with_name(block, self.name_parts)
        name = self.write_line(named, named.source, page=False)
        lead = _LEAD if name.startswith(_LEAD) else ""
        return f"[{block.marker}] {lead}{name}\n"

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks back, with marker, source, page and metadata as far as they are shown."""
        bare = self.header_form == "bare"
        head, gaps = (_BARE, (_SHORT_GAP,)) if bare else (_HEAD, (_GAP, _SHORT_GAP))
        found: list[ParsedBlock] = []
        for block in self.parse_blocks(text, head, *gaps, parse_header=self._parse_header):
            repeated = found and not bare and "source" not in block.fields
            known = {**found[-1].fields, **block.fields} if repeated else block.fields
            found.append(replace(block, fields=known))
        return tuple(found)

    def shown(self, block: Block) -> ParsedBlock:
        """The text, marker, source, page and metadata, as far as they are shown."""
        if self.header_form == "bare":
            return self.shown_fields(replace(block, metadata=()), "marker")
        if self.is_short:
            block = self.with_name(block, self.name_parts)
        shows_page = self.page and not self.is_short
        names = [name for name in self.reads if shows_page or name != "page"]
        return self.shown_fields(block, "marker", *names)

    def _parse_header(self, head: re.Match[str]) -> dict[str, str]:
        known = {"marker": head[1]}
        if head.re is _BARE or head[2] is None:
            return known
        return {**known, **self.parse_line(head[2])}


def _repeats_header(block: Block, previous: Block) -> bool:
    """Whether the short header of the block before says all that the block's own would say."""
    rows = block.row is not None or previous.row is not None
    return not rows and not previous.summary and is_same_document(block, previous)


def short_name(source: str, parts: int = 1) -> str:
    """The last parts of a path or address; other names as they are; nothing of a random identifier.

    >>> short_name("manual/boiler.md"), short_name("https://a.example/docs/"), short_name("A / B")
    ('boiler.md', 'docs', 'A / B')
    >>> short_name("/srv/manual/boiler.md", 2)
    'manual/boiler.md'
    >>> short_name("05b0f8ce-bea1-4c1d-9d3e-0a8f1c2b7e55")
    ''
    """
    line = one_line(source)
    path = line.rstrip("/")
    if " / " in line or not path:
        return line
    names = path.rsplit("/", parts)[-parts:]
    return "" if _IDENTIFIER.fullmatch(names[-1]) else "/".join(names)
