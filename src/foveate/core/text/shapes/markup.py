"""Tags: the rows of HTML tables, and XML's elements that come again and again, which are records.

Tags are matched and nothing more: no entity is read, nothing is fetched, missing end tags of a
table are no errors. A table in a cell of another is a table of its own, whose rows are read as
such: the outer one may lay out a page. It ends there, and goes on behind the inner one as the rest
of a table.
"""

from __future__ import annotations

import re

from foveate.core.text.shapes.json import SHORTEST, Node, Writer, has_record_list
from foveate.core.text.shapes.rows import PAIR, Row, add_rows
from foveate.core.text.shapes.shape import ReadResult, ShapeBuilder, line_end, torn_tag_end

XML = (
    r"[ \t]*+<(?:\?xml\b|(?!/?(?i:a|article|aside|b|body|br|button|code|dd|div|dl|dt|em|figure"
    r"|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|label|li|link|main|meta|nav|ol|option|p"
    r"|pre|script|section|select|span|strong|style|sub|sup|svg|table|tbody|td|tfoot|th|thead|title"
    r"|tr|ul)\b)[A-Za-z_][\w:.-]*+[\s/>])"
)
FEWEST_ROWS = 2

_TABLE = re.compile(r"<(?:table|thead|tbody|tr)\b", re.IGNORECASE)
_PART = re.compile(r"<(/?)(table|thead|tbody|tfoot|tr|th|td)\b[^<>]*+>?", re.IGNORECASE)
_CELL = re.compile(r"<t[hd]\b[^<>]*+>?", re.IGNORECASE)
_ROWSPAN = re.compile(r"<t[hd]\b[^<>]*?\browspan\s*+=\s*+[\"']?(\d{1,6})", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*+>?")
_BOLD = re.compile(r"\s*+<(?:b|strong)\b", re.IGNORECASE)
_CELL_STOP = re.compile(r"[<\n]|\Z")
_TAG = re.compile(
    r"""<(?:/(?P<closing>[\w:.-]++)\s*+>
      | (?P<aside>\?|!--|!\[CDATA\[|!)
      | (?P<name>[A-Za-z_][\w:.-]*+)
        (?P<rest>(?:[^<>"'/]++|/(?!>)|"[^"<]*+"|'[^'<]*+')*+)(?P<empty>/?)>)""",
    re.VERBOSE,
)
_LEADING_TAG = re.compile(rf"\s*+{_TAG.pattern}", re.VERBOSE)
_ENDS = {"?": "?>", "!--": "-->", "![CDATA[": "]]>", "!": ">"}


def read_html_line(text: str, start: int) -> ReadResult:
    """The first table that opens in the rest of the line."""
    stop, end = start, line_end(text, start)
    while opens := _TABLE.search(text, stop, end):
        shape, stop = read_html_table(text, opens.start())
        if shape is not None:
            return ReadResult(shape, stop)
    return ReadResult(None, max(stop, start + 1))


def read_html_table(text: str, start: int) -> ReadResult:
    """The table that begins with the tag here, or the rest of one that begins with a row."""
    starts, end, is_cut = _rows(text, start)
    if len(starts) < FEWEST_ROWS:
        return ReadResult(None, max(end, start + 1))
    rows = [text[a:b] for a, b in zip(starts, [*starts[1:], end], strict=True)]
    tags = [[cell[:3].lower() for cell in _CELL.findall(row)] for row in rows]
    cells = [_CELL.split(row)[1:] for row in rows]
    bold = [bool(row) and all(map(_BOLD.match, row)) for row in cells[:2]]
    is_named = [bool(own) and set(own) == {"<th"} for own in tags]
    is_named[0] |= bold == [True, False]
    whole = text[start : start + len("<table")].lower() == "<table"
    bounds = zip([start, *starts[1:]], [*starts[1:], end], cells, strict=True)
    found = [Row(a, b, [_ANY_TAG.sub("", cell).strip() for cell in row]) for a, b, row in bounds]
    builder = ShapeBuilder()
    names, columns = add_rows(
        builder, found, is_named, guesses=whole and max(map(len, cells)) > PAIR
    )
    _lean_on_spans(builder, rows[names + 1 :])
    shape = builder.shape(
        text, "html table", end, head=min(names, 0), columns=columns, broken=whole and is_cut
    )
    return ReadResult(shape, max(end, start + 1))


def _rows(text: str, start: int) -> tuple[list[int], int, bool]:
    """Where rows begin, up to the end of the table, to the next table, or to the end of the text.

    Where the table ends, and whether its end tag is missing.
    """
    rows: list[int] = []
    end, is_open = start, True
    for tag in _PART.finditer(text, start):
        closing, name = bool(tag[1]), tag[2].lower()
        if name == "table" and closing:
            return rows, tag.end(), False
        if name == "table" and tag.start() > start:
            break
        if name == "tr" and not closing:
            rows.append(tag.start())
        end, is_open = tag.end(), not closing
    stop = _CELL_STOP.search(text, end) if is_open else None
    return rows, torn_tag_end(text, stop.start() if stop else end), True


def _lean_on_spans(builder: ShapeBuilder, rows: list[str]) -> None:
    """Let the rows, which are the last units, lean on the nearest one with a cell that covers them.

    What that one leans on is shown with them.
    """
    first = len(builder.leans) - len(rows)
    open_spans: list[tuple[int, int]] = []  # the last row that is covered, and the unit that covers
    for n, row in enumerate(rows):
        while open_spans and open_spans[-1][0] < n:
            open_spans.pop()
        if open_spans:
            builder.leans[first + n] = open_spans[-1][1]
        covered = max(map(int, _ROWSPAN.findall(row)), default=1)
        if covered > 1:
            open_spans.append((n + covered - 1, first + n))


def read_xml(text: str, start: int) -> ReadResult:
    """The elements from here on, up to the end of the outermost."""
    root = Node(start, start, "[")
    stack: list[tuple[str, Node]] = [("", root)]
    at, stop = start, 0
    while True:
        inside = len(stack) > 1  # beside the outermost elements stands nothing but white space
        tag = _TAG.search(text, at) if inside else _LEADING_TAG.match(text, at)
        if tag is None:
            end = len(text) if inside else torn_tag_end(text, at)
            at, root.cut = end, end > at
            break
        at = tag.end()
        if tag["aside"]:
            end = text.find(_ENDS[tag["aside"]], at)
            if end < 0:
                root.cut, stop = True, len(text)  # it was looked for up to there
                break
            at = end + len(_ENDS[tag["aside"]])
        elif tag["closing"]:
            if stack[-1][0] != tag["closing"]:
                root.cut = True
                break
            stack.pop()[1].end = root.end = at
        else:
            _add(stack, tag)
            root.end = at
    for _, node in stack[1:]:
        node.end, node.cut, root.cut = at, True, True
    root.end = max(root.end, at if root.cut else root.end)
    if not has_record_list(root) or root.size < SHORTEST:
        return ReadResult(None, max(at, stop, start + 1))
    return ReadResult(Writer(text).shape(root, "xml"), max(at, stop, start + 1))


def _add(stack: list[tuple[str, Node]], tag: re.Match[str]) -> None:
    """An element in the one that is open; with attributes or elements in it, it is a record."""
    parent = stack[-1][1]
    parent.bracket = "["
    node = Node(
        tag.end() - len(tag[0].lstrip()), tag.end(), "[" if tag["rest"].strip() else "", keyed=True
    )
    parent.inner.append(node)
    if not tag["empty"]:
        stack.append((tag["name"], node))
