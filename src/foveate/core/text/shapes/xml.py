"""XML: elements that come again and again are records, and lean on the tags that they stand in.

Tags are matched and nothing more: no entity is read, nothing is fetched. An element of a list is
read as JSON's records are; HTML is no XML.
"""

from __future__ import annotations

import re

from foveate.core.text.shapes.json import SHORTEST, Node, Writer, has_record_list
from foveate.core.text.shapes.shape import ReadResult, ShapeBuilder, torn_tag_end

OPENS = re.compile(
    r"<(?:\?xml\b|(?!/?(?:a|article|aside|b|body|br|button|code|dd|div|dl|dt|em|figure|footer|form"
    r"|h[1-6]|head|header|hr|html|i|iframe|img|input|label|li|link|main|meta|nav|ol|option|p|pre"
    r"|script|section|select|span|strong|style|sub|sup|svg|table|tbody|td|tfoot|th|thead|title|tr"
    r"|ul)\b)[A-Za-z_][\w:.-]*+[\s/>])",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"""<(?:/(?P<closing>[\w:.-]++)\s*+>
      | (?P<aside>\?|!--|!\[CDATA\[|!)
      | (?P<name>[A-Za-z_][\w:.-]*+)
        (?P<rest>(?:[^<>"'/]++|/(?!>)|"[^"<]*+"|'[^'<]*+')*+)(?P<empty>/?)>)""",
    re.VERBOSE,
)
_LEADING_TAG = re.compile(rf"\s*+{_TAG.pattern}", re.VERBOSE)
_ENDS = {"?": "?>", "!--": "-->", "![CDATA[": "]]>", "!": ">"}


def read_xml(text: str, start: int) -> ReadResult:
    """The elements from here on, up to the end of the outermost."""
    root = Node(start, start, "[")
    stack: list[tuple[str, Node]] = [("", root)]
    at, stop = start, 0
    broken = False
    while True:
        inside = len(stack) > 1  # beside the outermost elements stands nothing but white space
        tag = _TAG.search(text, at) if inside else _LEADING_TAG.match(text, at)
        if tag is None:
            end = len(text) if inside else torn_tag_end(text, at)
            at, broken = end, end > at
            break
        at = tag.end()
        if tag["aside"]:
            end = text.find(_ENDS[tag["aside"]], at)
            if end < 0:
                broken, stop = True, len(text)  # it was looked for up to there
                break
            at = end + len(_ENDS[tag["aside"]])
        elif tag["closing"]:
            if stack[-1][0] != tag["closing"]:
                broken = True
                break
            stack.pop()[1].end = at
            root.end = at
        else:
            _add(stack, tag)
            root.end = at
    for _, node in stack[1:]:
        node.end, node.cut, broken = at, True, True
    root.end = max(root.end, at if broken else root.end)
    if not has_record_list(root) or root.end - start < SHORTEST:
        return ReadResult(None, max(at, stop, start + 1))
    builder = ShapeBuilder()
    writer = Writer(text, builder)
    writer.write(root)
    builder.starts[0] = min(builder.starts[0], start)
    shape = builder.shape(text, "xml", root.end, head=writer.open, broken=broken)
    return ReadResult(shape, max(at, stop, start + 1))


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
