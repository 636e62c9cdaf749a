"""Source code: statements and blocks are units; what is in a long block leans on its signature.

Blocks are read by indentation, which tells them in all languages that are laid out.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field

from foveate.core.text.shapes.gaps import UNCOUNTED
from foveate.core.text.shapes.shape import (
    ReadResult,
    Shape,
    ShapeBuilder,
    indent_of,
    line_end,
    repair_first,
)
from foveate.core.types import Span

LONGEST_BLOCK = 800
"""Characters; a longer block is opened."""
LONGEST_STATEMENT = 4_000
"""Characters; a statement over several lines is not cut below that."""
LONGEST_STRING = 1_200
"""Characters; a string over several lines is not cut below that, and read by its lines above."""
FEWEST_COUNTED = 30
"""Lines; of a shorter example it does not matter how many are left out, and numbers cost tokens."""
FEWEST_LINES = 4
LOOKED_AT = 40
DEEPEST = 40

OPENS = r"""(?x:[ \t]*+(?:(?:async[ ])?def[ ]\w+\(|class[ ]\w+[(:\s{]|from[ ][\w.]+[ ]import[ ]
    |import[ ][\w.{*]+
    |(?:export[ ]|public[ ]|private[ ]|protected[ ]|static[ ]|final[ ]|pub[ ])+\w+[ ]
    |func[ ][\w(]|function[ ]?\w*\(|fn[ ]\w+|(?:const|let|var)[ ]\w+[ ]*=|\#include[ ]
    |package[ ][\w.]+|use[ ][\w:]+|impl[ <]|struct[ ]\w+|interface[ ]\w+|@\w+|\#!/
    |namespace[ ]\w+|[rR]?(?:"{3}|'{3})(?:\w|(?<=\A"{3}))))"""
_OPENS = re.compile(OPENS)
_MARK = re.compile(
    r"[;{}]\s*\Z|:\s*\Z|\)\s*\Z|^\s*(?:return|if|for|while|else|elif|try|except|raise|with|yield|break"
    r"|case|switch|throw|assert|pass|del|print)\b|^\s*(?:\#|//|/\*|\*|@)|[\w\])]\s*(?:[+*/|&-]|:)?=\s*\S"
    r"|^\s*[)\]}]|\w\(.{0,200}\)|,\s*\Z|^\s*[\"'].*[\"']"
)
_CLOSES = re.compile(
    r"[ \t]*+(?:[)\]]|\}(?![ \t]*(?:else|catch|finally))|(?:end|fi|done|esac)\b(?![ ]*[=.(\[]))"
)
_GOES_ON = re.compile(r"[ \t]*+\}?[ \t]*(?:else|elif|except|finally|catch)\b")
_OPENS_BLOCK = re.compile(
    r"""(?::|(?<![=(,:\[{|&%+][ ])(?<![=(,:\[{])(?<!return[ ])(?<!assert[ ])\{)
    [ \t]*(?:\#.*|//.*)?\r?\Z""",
    re.VERBOSE,
)
"""A brace behind `=`, `(` and the like opens a literal, which is one statement."""
_QUOTES = re.compile(r"\"{3}|'{3}")
_BEFORE_STRING = re.compile(r"(?:.*(?:[=(,\[{:+%]|\breturn|\byield))?\s*[A-Za-z]{0,2}\Z")
_HOLDS_OTHERS = re.compile(
    r"^[ \t]*+(?:[a-z]+(?:\([a-z]+\))?[ ])*?"
    r"(?:class|enum|extension|impl|interface|module|namespace|object|protocol|struct|trait)\b",
    re.MULTILINE,
)
"""A line that opens a block of definitions, which may go on in a later part of the text."""
_IMPORT = re.compile(
    r"""(?:(?:\#(?!include|import)|//|/\*|\*)[^\n]*\n[ \t]*)*+
    (?:import\b|from[ ][\w.]+[ ]import\b|\#[ ]?(?:include|import)\b|use[ ][\w:\\{]|using[ ][\w.]
    |package[ ][\w.]+[ ;]*$|(?:const|let|var)[ ][^=\n]+=[ ]*require\(
    |require(?:_relative|_once)?[ (]+["']|if[ ]TYPE_CHECKING:)""",
    re.VERBOSE | re.MULTILINE,
)
_LEADS = re.compile(r"[ \t]*+(?:@\w|#|//|/\*|\*|\[\w)")


@dataclass(slots=True)
class _Block:
    start: int
    end: int
    indent: int
    opens: bool = False
    leans: bool = False
    body: list[_Block] = field(default_factory=list)


def read_code(text: str, start: int) -> ReadResult:
    """The lines from here on, if most of them look like code; to the end of the text."""
    lines, _ = _lines(text, start, LOOKED_AT)
    lines = _join_strings(text, lines) if lines else []
    marked = sum(bool(_MARK.search(text[a:b])) for a, b in lines)
    openings = sum(bool(_OPENS.match(text, a, b)) for a, b in lines)
    looked = len(lines)
    if looked < FEWEST_LINES or openings < 1 or 10 * (marked + openings) < 7 * looked:
        return ReadResult(None, max(line_end(text, start) + 1, start + 1))
    lines, stop = _lines(text, start)
    return ReadResult(_shape(text, lines, is_torn=False), stop)


def read_rest_of_code(text: str) -> Shape:
    """All lines of a text that begins inside of a block of code."""
    return _shape(text, _lines(text, 0)[0], is_torn=True)


def import_units(text: str, shape: Shape) -> list[int]:
    """The units of code that only bring names in: imports at the beginning of a line."""
    return [
        n
        for n, (a, b) in enumerate(shape.spans)
        if (not a or text[a - 1] == "\n") and _IMPORT.match(text, a, b)
    ]


def _shape(text: str, lines: list[Span], *, is_torn: bool) -> Shape:
    builder = ShapeBuilder()
    blocks = _blocks(text, _join_strings(text, lines), is_torn=is_torn)
    head, inner = _write(text, blocks, builder, -1, 0)
    builder.counted.append(("lines" if len(lines) >= FEWEST_COUNTED else UNCOUNTED, lines))
    return builder.shape(text, "code", lines[-1][1], head=head, columns=inner)


def _lines(text: str, start: int, most: int = sys.maxsize) -> tuple[list[Span], int]:
    """At most so many lines from here on, up to a fence or a long line; where the text goes on."""
    lines: list[Span] = []
    at = start
    while at < len(text) and len(lines) < most:
        end = line_end(text, at)
        if text[at:end].strip():
            if text.startswith(("```", "~~~"), at):
                break
            lines.append((at, end))
        at = end + 1
    return lines, max(at, start + 1)


def _join_strings(text: str, lines: list[Span]) -> list[Span]:
    """The lines; those of a string over several lines are one, if it is not too long."""
    found: list[Span] = []
    since = until = _torn_string_end(text, lines[0][0], lines[-1][1])  # of the string that is open
    for a, b in lines:
        if since < a < until and until - since <= LONGEST_STRING:
            found[-1] = (found[-1][0], b)
        else:
            found.append((a, b))
        while (quotes := _QUOTES.search(text, max(a, until), b)) is not None:
            close = text.find(quotes.group(), quotes.end())
            since, until = quotes.start(), close + 3 if close >= 0 else quotes.end()
    return found


def _torn_string_end(text: str, start: int, end: int) -> int:
    """Where the string ends in whose middle the text begins; its start, if it does not."""
    quotes = _QUOTES.search(text, start, end)
    if quotes is None:
        return start
    before = text[text.rfind("\n", 0, quotes.start()) + 1 : quotes.start()]
    if before.strip():
        return start if _BEFORE_STRING.match(before) else quotes.end()
    is_alone = not text[quotes.end() : line_end(text, quotes.end())].strip()
    is_odd = len(_QUOTES.findall(text, start, end)) % 2
    return quotes.end() if is_alone and is_odd else start


def _blocks(text: str, lines: list[Span], *, is_torn: bool) -> list[_Block]:
    """The statements of the first level, each with the deeper ones that follow it."""
    root = _Block(0, 0, -1)
    stack = [root]
    leading: _Block | None = None  # decorators and comments, which belong to what follows
    indents = [indent_of(text[a:b]) for a, b in lines]
    repair_first(indents)
    if is_torn:
        indents[0] = max(indents[:2])
    for (a, b), indent in zip(lines, indents, strict=True):
        line = text[a:b]
        while stack[-1].indent >= indent:
            stack.pop()
        siblings = stack[-1].body
        if siblings and _CLOSES.match(line):
            last = siblings[-1]
            last.end = b
            if _OPENS_BLOCK.search(line):
                last.opens, last.body = True, []  # a signature over several lines ends here
            stack.append(last)
            leading = None
            continue
        if leading is not None and leading.indent == indent:
            leading.end = b
            leading.opens = bool(_OPENS_BLOCK.search(line))
            stack.append(leading)
        else:
            block = _Block(
                a + len(line) - len(line.lstrip()),
                b,
                indent,
                opens=bool(_OPENS_BLOCK.search(line)),
                leans=bool(siblings and _GOES_ON.match(line)),
            )
            siblings.append(block)
            stack.append(block)
        leading = (
            stack[-1]
            if _LEADS.match(line) and stack[-1].end - stack[-1].start < LONGEST_BLOCK
            else None
        )
        for outer in stack[1:-1]:
            outer.end = max(outer.end, b)
    return root.body


def _write(
    text: str,
    blocks: list[_Block],
    builder: ShapeBuilder,
    head: int,
    depth: int,
    *,
    is_end: bool = True,
) -> tuple[int, int]:
    """The units of the blocks; the last unit that opens some, and their indentation.

    `is_end`: the last of the blocks is the last of the text.
    """
    last = head, blocks[0].indent if head >= 0 else 0
    own = head
    for block in blocks:
        own = builder.add(block.start, own if block.leans else head)
        last = head, last[1]
        if not block.body or depth >= DEEPEST:
            continue
        is_last = is_end and block is blocks[-1]
        limit = LONGEST_BLOCK if block.opens else LONGEST_STATEMENT
        if block.end - block.start > limit or (
            is_last and _HOLDS_OTHERS.search(text, block.start, block.body[0].start)
        ):
            last = _write(text, block.body, builder, own, depth + 1, is_end=is_last)
    return last
