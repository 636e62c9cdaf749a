"""Text in lines and columns for a terminal: nothing is wider than asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len, chop_cells

from foveate.cli.failures import escape_unprintable


def wrap_words(text: str, width: int, *, first: str = "", rest: str | None = None) -> list[str]:
    """The words in lines of at most `width` columns, the first after `first`, others after `rest`.

    >>> wrap_words("one two three", 9, first="- ")
    ['- one two', '  three']
    """
    indent = " " * cell_len(first) if rest is None else rest
    lines, line, fresh = [], first, True
    for word in _split_words(text, width - cell_len(indent)):
        added = word if fresh else f" {word}"
        if not fresh and cell_len(line) + cell_len(added) > width:
            lines.append(line)
            line, added = indent, word
        line, fresh = line + added, False
    return [*lines, line.rstrip()]


def _split_words(text: str, room: int) -> Iterator[str]:
    """The words; one that is longer than a line is split."""
    for word in escape_unprintable(text).split():
        if cell_len(word) <= room:
            yield word
        else:
            yield from chop_cells(word, max(room, 2))


def format_columns(
    pairs: Sequence[tuple[str, str]], width: int, *, indent: str = "  ", most: int = 24
) -> list[str]:
    """Names and texts in two columns; a name over `most` columns has a line of its own.

    >>> format_columns([("a", "one two"), ("bcd", "three")], 40)
    ['  a    one two', '  bcd  three']
    """
    sizes = [cell_len(escape_unprintable(name)) for name, _ in pairs]
    column = max((size for size in sizes if size <= most), default=2)
    lines = []
    for (name, text), size in zip(pairs, sizes, strict=True):
        shown = escape_unprintable(name)
        if size > column:
            lines += wrap_words(shown, width, first=indent)
            shown, size = "", 0  # noqa: PLW2901
        lines += wrap_words(text, width, first=f"{indent}{shown}{' ' * (column - size)}  ")
    return lines


def clip(text: str, width: int, *, left: bool = False) -> str:
    """The text in one line; what is over `width` columns is cut at its end, or `left`.

    >>> clip("one two three", 9), clip("one two three", 9, left=True)
    ('one two …', '…wo three')
    """
    flat = " ".join(escape_unprintable(text).split())
    if cell_len(flat) <= width:
        return flat
    room = max(width - 1, 2)
    return f"…{chop_cells(flat[::-1], room)[0][::-1]}" if left else f"{chop_cells(flat, room)[0]}…"
