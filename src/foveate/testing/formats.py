"""The law suite for formats: `check_format(MyFormat())` in a test of yours.

Needs Hypothesis (`pip install 'foveate[testing]'`). A law that is broken raises `AssertionError`.

The laws:

- *Nothing is forged*: whatever stands in texts, sources, titles, sections, metadata and summaries,
  parsing the rendered context gives exactly the blocks that were put in, and nothing else.
- *Spans are true*: `text[start:end]` is the block's body, and it is what `parse` says it is.
- *The pieces add up*: a context is its blocks' pieces and bodies, and nothing else.
- *No special token survives*: none occurs in the context, and no line speaks in a role.
- *The message is read back*: with any question behind it, the message as sent gives the same blocks
  and the question.
- *Markers are neutralised*: see `foveate.testing.markers`.
- *A label is its block's*: `[2]` occurs where a block carries it, and nowhere else.
- *It reads what it says*: with `reads`, no other field of a block changes what stands around it.
- *Pure and linear*: the same blocks give the same bytes; each method is called once a block; texts
  of one character repeated take no longer than any other.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from foveate.answer.read_back import parse_message
from foveate.core.contracts import Format, ParsedBlock
from foveate.core.render import Renderer
from foveate.core.types import Block
from foveate.core.window import join_message, join_parts
from foveate.ports import Content
from foveate.testing.hostile import ROLES, SPECIAL_TOKENS, block_lists, law_settings, texts
from foveate.testing.markers import check_markers

_CALLS_PER_BLOCK = Counter({"separator": 1, "header": 1, "body": 1, "footer": 1})


def check_format(format: Format, *, examples: int = 50) -> None:
    """Raise `AssertionError` with the law that the format breaks."""
    quiet = law_settings(examples)
    from hypothesis import given

    renderers = (
        Renderer(format=format),
        Renderer(format=format, label="Pagina context"),
        Renderer(format=format, label=""),
    )

    @quiet
    @given(block_lists(), texts())
    def obey(blocks: Sequence[Block], question: str) -> None:
        for renderer in renderers:
            nothing_is_forged(renderer, blocks)
            message_is_read_back(renderer, blocks, question)
            spans_are_true(renderer, blocks)
            pieces_add_up(renderer, blocks)
            no_special_token_survives(renderer, blocks)
            labels_are_their_blocks(renderer, blocks)
            reads_what_it_says(renderer, blocks)

    obey()
    check_markers(format, examples=examples)
    it_is_linear(format)


def nothing_is_forged(renderer: Renderer, blocks: Sequence[Block]) -> None:
    """Parsing gives back exactly what was put in."""
    text = renderer.render(blocks).text
    found = [_comparable(parsed) for parsed in renderer.parse(text)]
    expected = [_comparable(shown) for shown in renderer.shown_blocks(blocks)]
    assert found == expected, f"{renderer!r}: {text!r} reads as {found!r}, not {expected!r}"
    assert text == renderer.render(list(blocks)).text, "the same blocks gave other bytes"


def message_is_read_back(renderer: Renderer, blocks: Sequence[Block], question: str) -> None:
    """The whole message gives the blocks and the question, and nothing else."""
    text = renderer.render(blocks).text
    content: Content = join_message(text, question)
    if text and renderer.format.is_parts:
        content = join_parts(json.loads(text), question)
    found = parse_message(content, format=renderer.format, label=renderer.label)
    expected = [_comparable(shown) for shown in renderer.shown_blocks(blocks)]
    assert found.question == question, f"{renderer!r}: {content!r} asks {found.question!r}"
    assert [_comparable(one) for one in found.blocks] == expected, f"{renderer!r}: {content!r}"


def spans_are_true(renderer: Renderer, blocks: Sequence[Block]) -> None:
    """A span holds the body, and `parse` starts there."""
    rendered = renderer.render(blocks)
    for block, (start, end) in zip(blocks, rendered.spans, strict=True):
        assert rendered.text[start:end] == renderer.body(block.text), (
            f"{renderer!r}: span of {block!r}"
        )
    starts = [parsed.start for parsed in renderer.parse(rendered.text)]
    pairs = zip(blocks, rendered.spans, strict=True)
    spans = iter([span[0] for block, span in pairs if block.kind == "chunk"])
    firsts = [min(next(spans) for _ in run) for run in renderer.runs(blocks)]
    assert starts == firsts, f"{renderer!r}"


def pieces_add_up(renderer: Renderer, blocks: Sequence[Block]) -> None:
    """Bodies and overheads make up the whole text."""
    order = sorted(blocks, key=lambda block: block.kind != "supplement")
    total = 0
    for place, block in enumerate(order):
        previous = order[place - 1] if place else None
        following = order[place + 1] if place + 1 < len(order) else None
        total += len(renderer.body(block.text))
        total += len(renderer.overhead(block, previous, following))
    assert total == len(renderer.render(blocks).text), f"{renderer!r}: the pieces do not add up"


def no_special_token_survives(renderer: Renderer, blocks: Sequence[Block]) -> None:
    """No special token of a known model family stands in the text."""
    text = renderer.render(blocks).text
    found = [token for token in SPECIAL_TOKENS if token in text]
    assert not found, f"{renderer!r}: {found!r} in {text!r}"
    roles = [line for line in text.split("\n") if line.lstrip().startswith(ROLES)]
    assert not roles, f"{renderer!r}: {roles!r} speaks in a role"


def labels_are_their_blocks(renderer: Renderer, blocks: Sequence[Block]) -> None:
    """A bracketed label occurs at most once for each block that carries it."""
    shape = renderer.format.label(Block(marker=7, text="", source="s")).partition("7")
    if not shape[0].startswith("["):
        return
    text = renderer.render(blocks).text
    carried = Counter(block.marker for block in blocks if block.kind == "chunk")
    for marker in range(1, 20):  # zero is no source's: `a[0]` is code
        label = f"{shape[0]}{marker}{shape[2]}"
        assert text.count(label) <= carried[marker], f"{renderer!r}: {label} too often in {text!r}"


def reads_what_it_says(renderer: Renderer, blocks: Sequence[Block]) -> None:
    """What stands around a text depends on the fields that the format names, and on no other."""
    names = renderer.format.reads
    if names is None:
        return
    said = (*names, "marker", "document_id", "metadata", "summary")
    for block in blocks:
        shown: dict[str, Any] = {"source": "", **{name: getattr(block, name) for name in said}}
        for previous in (None, replace(block, document_id="another", source="", title="")):
            around = renderer.overhead(Block(text="", **shown), previous)
            if block.kind == "chunk":
                assert around == renderer.overhead(block, previous), f"{renderer!r}: {block!r}"


def it_is_linear(format: Format, size: int = 30_000) -> None:
    """Each method is called once a block, and no text of `size` characters is a trap."""
    counted = _CountingFormat(format)
    many = [Block(marker=n, text="text", source=f"{n}.md") for n in range(1, 201)]
    Renderer(format=cast("Format", counted)).render(many)
    for method, most in _CALLS_PER_BLOCK.items():
        calls = counted.calls[method]
        assert calls <= most * len(many), f"{format!r}: {calls} calls of {method}"
    renderer = Renderer(format=format)
    traps = ("<", "[", "\\", "-", "\n", " ", "[1", "<\\", "\n---\n", "[DOC: ", "</chunk>", "\n ")
    for unit in traps:
        block = Block(marker=1, text=unit * (size // len(unit)), source="a.md")
        nothing_is_forged(renderer, [block])


class _CountingFormat:
    """A format that counts the calls of its methods."""

    def __init__(self, format: Format) -> None:
        self.format = format
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self.format, name)
        self.calls[name] += 1
        return method


def _comparable(parsed: ParsedBlock) -> tuple[str, Mapping[str, str]]:
    return replace(parsed, start=0).text, dict(parsed.fields)
