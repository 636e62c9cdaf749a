"""Rendering: per block `separator + [preamble] + header + body + footer`, supplements first.

Any text without lone surrogates is rendered so that `parse` gives it back exactly. `body`
neutralises the summary label, then the format's structure.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from foveate.core.contracts import SUPPLEMENT_LABEL, SUPPLEMENTS_END, Format, ParsedBlock
from foveate.core.errors import BadOption
from foveate.core.request import Recipe
from foveate.core.text.escape import Guard, inline_rule
from foveate.core.text.sanitise import sanitise
from foveate.core.types import Block, Span

_TAKEN = (SUPPLEMENT_LABEL.lower(), "doc")
"""What stands before a colon in brackets beside page summaries; see `shared` and `doc.py`."""
_LABEL = re.compile(r"[^\[\]<>\\:,§\s](?:[^\[\]<>\\:,§\n\r\t]{0,78}[^\[\]<>\\:,§\s])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedText:
    """The finished text; `spans[i]` is the place of block i's neutralised body in it.

    `order`: the blocks' places in the order they stand; `glue`: the text around them.
    """

    text: str
    spans: tuple[Span, ...]
    order: Sequence[int] = ()
    glue: tuple[str, ...] = ("",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Renderer:
    r"""A format, and the label before page summaries; an empty one leaves them out.

    >>> from foveate.core.formats.numbered import Numbered
    >>> block = Block(marker=1, text="See [2].", source="a.md", page=3)
    >>> print(Renderer(format=Numbered()).render([block]).text)
    [1] Source: a.md, page 3
    See [\2].
    """

    format: Format
    label: str = "Page context"
    _labels: Guard = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.label and not _LABEL.fullmatch(self.label):
            raise BadOption(
                f"label {self.label!r}: give one line of at most 80 characters without brackets, "
                f"colon, comma, backslash or §, or an empty label to leave page summaries out"
            )
        if self.label.casefold() in _TAKEN:
            raise BadOption(
                f"label {self.label!r} is a word that formats use for something else; "
                "give another, such as 'Page context'"
            )
        rules = (inline_rule("[", _label_pattern(self.label)),) if self.label else ()
        object.__setattr__(self, "_labels", Guard(rules))

    def body(self, text: str) -> str:
        """A block's text as it stands in the context; the same object where nothing changes."""
        return self.format.body(self._labels(text))

    def render_text(self, text: str) -> str:
        """Any text as it stands in the context: without hidden characters, neutralised."""
        return self.body(sanitise(text)[0])

    def pieces(
        self, block: Block, previous: Block | None = None, following: Block | None = None
    ) -> tuple[str, str]:
        """What stands before and after the block's body."""
        form = self.format
        block = self._without_unlabelled_summary(block)
        separator = form.separator(previous, block)
        if block.kind == "supplement":
            before, after = form.aside(block, following)
            return separator + before, after
        preamble = form.preamble(self.label, block.summary) if block.summary else ""
        above = previous if previous is not None and previous.kind == "chunk" else None
        return separator + preamble + form.header(block, above), form.footer(block, following)

    def overhead(
        self, block: Block, previous: Block | None = None, following: Block | None = None
    ) -> str:
        """Everything that the block adds to the context beyond its body, as one text to count."""
        return "".join(self.pieces(block, previous, following))

    def render(self, blocks: Sequence[Block], bodies: Sequence[str] | None = None) -> RenderedText:
        """The finished text and the place of each body; `bodies`: known results of `body`."""
        if bodies is None:
            bodies = [self.body(block.text) for block in blocks]
        order = sorted(range(len(blocks)), key=lambda i: blocks[i].kind != "supplement")
        spans: list[Span] = [(0, 0)] * len(blocks)
        glue, out = [""], [""]
        at = 0
        previous = None
        for index, follows in zip(order, [*order[1:], None], strict=False):
            block, body = blocks[index], bodies[index]
            following = None if follows is None else blocks[follows]
            before, after = self.pieces(block, previous, following)
            start = at + len(before)
            end = start + len(body)
            spans[index] = (start, end)
            at = end + len(after)
            glue[-1] += before
            glue.append(after)
            out += (before, body, after)
            previous = block
        return RenderedText(
            text="".join(out), spans=tuple(spans), order=tuple(order), glue=tuple(glue)
        )

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks of a rendered context, supplements left out, with header fields."""
        at = _end_of_supplements(text)
        return tuple(
            replace(p, text=self._labels.undo(p.text), start=at + p.start)
            for p in self.format.parse(text[at:])
        )

    def shown(self, block: Block) -> ParsedBlock:
        """What `parse` gives back for this block (`start` apart)."""
        return self.format.shown(self._without_unlabelled_summary(block))

    def shown_blocks(self, blocks: Sequence[Block]) -> tuple[ParsedBlock, ...]:
        """What `parse` gives back for these blocks (`start` apart), supplements left out."""
        return tuple(
            replace(self.shown(run[0]), text="\n".join(block.text for block in run))
            for run in self.runs(blocks)
        )

    def runs(self, blocks: Sequence[Block]) -> list[list[Block]]:
        """The blocks that a reader can tell apart: each alone, or as many as share a header."""
        from foveate.core.formats.shared.text_format import is_same_document

        runs: list[list[Block]] = []
        for block in (self._without_unlabelled_summary(b) for b in blocks if b.kind == "chunk"):
            if self.format.joins_runs and runs and is_same_document(block, runs[-1][-1]):
                runs[-1].append(block)
            else:
                runs.append([block])
        return runs

    def _without_unlabelled_summary(self, block: Block) -> Block:
        return replace(block, summary="") if block.summary and not self.label else block


def renderer_for_recipe(recipe: Recipe) -> Renderer:
    """The recipe's renderer: the same for the same choices, as what it wrote is remembered."""
    form, label = recipe.format, recipe.summary_label
    if not isinstance(form, Hashable):
        return Renderer(format=form, label=label)
    return _cached_renderer(form, repr(form), label)


@lru_cache(maxsize=64)
def _cached_renderer(form: Any, _spelled: str, label: str) -> Renderer:
    return Renderer(format=form, label=label)


def _end_of_supplements(text: str) -> int:
    if not text.startswith(f"[{SUPPLEMENT_LABEL}: "):
        return 0
    last = f"\n\n[{SUPPLEMENTS_END}]\n\n"
    end = text.find(last)
    return len(text) if end < 0 else end + len(last)


def _label_pattern(label: str) -> str:
    words = r"[ \t]++".join(re.escape(word) for word in label.split())
    return rf"(?i:[ \t]*+{words}[ \t]*+:)"
