"""What a message's content holds: a text, or a list of parts with texts, media and others."""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from foveate.core.checks import check_string
from foveate.core.compact.entries import Entry, EntryRole, Json, Result, ToolCall
from foveate.core.errors import BadInput
from foveate.core.images import read_image_header
from foveate.core.json_text import compact_json, join_lines, unknown_fields_json

TEXT_TYPES: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "type"),
    "input_text": ("text", "type"),
    "output_text": ("text", "type", "annotations", "logprobs"),
    "refusal": ("refusal", "type"),
}
"""Parts that are texts: the key of the text, then the others that are not counted."""
THINKING = ("thinking", "redacted_thinking")
"""Signed reasoning: no text to be shortened; it is counted as JSON and goes back as it came."""
LEAST_COPY = 80
"""Characters of a text that is looked for again among the others of its content."""
BRIEF = 512
"""Characters of base64 that are counted as text; longer data is counted as media."""
LARGEST = 1_600
"""Tokens: the most that a provider takes for one image (Anthropic; OpenAI's most is 1,105)."""
LOW_DETAIL = 85
"""Tokens of an image with `detail: low` (OpenAI)."""
LARGEST_PAGE = 4_600
"""Tokens: the most that a page of a PDF takes (Anthropic: 3,000 for its text, and its image)."""
_HEADER = 64_000  # base64 characters in which the size is looked for
_DATA_KEYS = ("data", "file_data", "image_url", "url")
MEDIA = ("image", "image_url", "input_image", "document", "file", "input_file", "audio")
"""Kinds of blocks whose bytes are no text."""
KNOWN = frozenset(
    (
        *(*THINKING, *MEDIA, "input_audio", "video", "reasoning", "reasoning_content"),
        *("container_upload", "inlineData", "inline_data", "fileData", "file_data"),
        *("executableCode", "executable_code", "codeExecutionResult", "code_execution_result"),
        *("thought", "thoughtSignature", "thought_signature"),
    )
)
"""Kinds that say no more than they show. Others may stand for what left, as a compaction does."""


class Content(NamedTuple):
    """The texts joined by lines, JSON of other parts, tokens of media, and kinds of what it is.

    `rest`: JSON of what text parts hold beside their text, and (`twice`) texts said again.
    """

    text: str = ""
    others: tuple[str, ...] = ()
    extra: int = 0
    kinds: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    twice: bool = False


Piece = Content | ToolCall | Result


def read_content(content: Any) -> Content:
    """A message's content, what a part says again beside it; raises `BadInput`."""
    if content is None or isinstance(content, str):
        return text_content(content or "")
    found = [read_part(part) for part in content_parts(content)]
    seen = set[str]()
    for n, part in enumerate(found):
        payload = _payload(part.text) if len(part.text) >= LEAST_COPY else str(n)
        if payload in seen:
            found[n] = part._replace(text="", rest=(*part.rest, part.text), twice=True)
        seen.add(payload)
    return Content(
        join_lines(*(part.text for part in found)),
        tuple(other for part in found for other in part.others),
        sum(part.extra for part in found),
        tuple(kind for part in found for kind in part.kinds),
        tuple(rest for part in found for rest in part.rest),
        any(part.twice for part in found),
    )


def _payload(text: str) -> str:
    """What equal payloads have in common, however they are spelled; MCP sends them twice."""
    try:
        value = json.loads(text)
        while isinstance(value, dict) and len(value) == 1:
            (value,) = value.values()
            value = json.loads(value) if isinstance(value, str) else value
        return json.dumps(value, sort_keys=True)
    except (ValueError, RecursionError):
        return text


def content_parts(content: Any) -> Sequence[Any]:
    """The parts of a content: those of a list, else the content itself."""
    if content is None or isinstance(content, str | Mapping):
        return ["" if content is None else content]
    if not isinstance(content, Sequence) or isinstance(content, bytes):
        raise BadInput("must have a content that is a text or a list of parts")
    return content


def read_part(part: Any) -> Content:
    """One part of a content."""
    if isinstance(part, str):
        return text_content(part)
    if not isinstance(part, Mapping):
        raise BadInput("has a content part that is neither a text nor a mapping")
    kind = str(part.get("type", "part"))
    known = TEXT_TYPES.get(kind)
    if known and isinstance(text := part.get(known[0]), str):
        rest = unknown_fields_json(part, *known)
        return text_content(text)._replace(rest=(rest,) if rest else ())
    if kind not in THINKING and (kind in MEDIA or len(inline_data(part)) > BRIEF):
        return read_media(part, kind)
    return Content("", (compact_json(part),), 0, (kind,))


def read_media(part: Json, kind: str) -> Content:
    """An image, a document or another block of bytes; a document of text is counted as the text."""
    beside = [text for key in ("title", "context") if isinstance(text := part.get(key), str)]
    source = _mapping(part.get("source"))
    if source.get("type") == "content":
        known = read_content(source.get("content"))
        texts = (*beside, known.text, *known.others, *known.rest)
        return Content("", tuple(filter(None, texts)), known.extra, (kind, *known.kinds))
    data = inline_data(part)
    text = source.get("data") if source.get("type") == "text" else None
    types = (part.get("mimeType"), part.get("mime_type"), source.get("media_type"))
    if text is None and "image" not in kind and _may_be_text(next(filter(None, types), "text/")):
        text = _inline_text(data)
    if isinstance(text, str):
        return Content("", tuple(filter(None, (*beside, text_content(text).text))), 0, (kind,))
    most = sum(len(text.encode(errors="replace")) for text in beside)  # no token has less than one
    return Content("", (), media_tokens(part, data) + most, (kind,))


def text_content(text: str) -> Content:
    """A text as content; raises `BadInput` where it holds a lone surrogate."""
    check_string("", text)
    return Content(text)


def build_result(call_id: str, content: Content, *, name: str, rest: str, slot: int = -1) -> Result:
    """A call's result; what it holds as documents or unknown parts is text and is shortened so."""
    return Result(
        call_id=call_id,
        text=join_lines(content.text, *content.others),
        name=name,
        slot=slot,
        extra=content.extra,
        kinds=content.kinds,
        rest=rest,
        beside=join_lines(*content.rest),
        twice=content.twice,
    )


def result_with_text(content: Any, text: str) -> Any:
    """A result's content with this text in the place of what it says; images and the like stay."""
    if content is None or isinstance(content, str):
        return text
    parts = content_parts(content)
    kinds = (str(part.get("type")) for part in parts if isinstance(part, Mapping))
    kind = next((kind for kind in kinds if kind in TEXT_TYPES), "text")
    kept = (one for part in parts for one in _beside_text(part))
    return [{"type": "text" if kind == "refusal" else kind, "text": text}, *kept]


def _beside_text(part: Any) -> Iterator[Any]:
    """The part where it is no text; of a document with texts its images alone."""
    known = read_part(part)
    if known.extra and known.others:
        for inner in content_parts(part["source"]["content"]):
            yield from _beside_text(inner)
    elif known.extra:
        yield part


def build_entry(
    index: int, role: EntryRole | None, given: str, pieces: Iterable[Piece], rest: str = ""
) -> Entry:
    """The entry of these pieces; `role` None: the `given` role is unknown."""
    calls: list[ToolCall] = []
    results: list[Result] = []
    said, kinds, others, extra = list[str](), list[str](), [rest], 0
    for piece in pieces:
        if isinstance(piece, ToolCall):
            calls.append(piece)
        elif isinstance(piece, Result):
            results.append(piece)
        else:
            said.append(piece.text)
            kinds += piece.kinds
            others += (*piece.others, *piece.rest)
            extra += piece.extra
    others += [result.rest for result in results]
    return Entry(
        index=index,
        role="tool" if results else role or "other",
        said=join_lines(*said),
        calls=tuple(calls),
        results=tuple(results),
        others=tuple(filter(None, others)),
        extra=extra,
        kinds=tuple(kinds) if role else (f"role {given}", *kinds),
        carried=role is None or not all(map(_is_known, kinds)),
    )


def _is_known(kind: str) -> bool:
    return kind in KNOWN or kind.endswith(("_use", "_call", "_result"))


def check_role(message: Json) -> str:
    """The role of a message; raises `BadInput` where it has none."""
    role = message.get("role")
    if not isinstance(role, str):
        raise BadInput("must have a role")
    return role


def media_tokens(block: Mapping[str, Any], data: str) -> int:
    """Tokens of an image, a document or another block with this base64 data, rounded up.

    By the providers' published formulas; one without a known size counts as the largest.
    """
    if "low" in (block.get("detail"), _mapping(block.get("image_url")).get("detail")):
        return LOW_DETAIL
    head = _decoded(data[:_HEADER])
    if head.startswith(PDF):
        return count_pages(_decoded(data)) * LARGEST_PAGE
    header = read_image_header(head)
    if header is None:
        return LARGEST
    return min(LARGEST, max(LOW_DETAIL, math.ceil(header.width * header.height / 750)))


def _may_be_text(media_type: Any) -> bool:
    return str(media_type).startswith(("text/", "application/json", "application/xml"))


def _inline_text(data: str) -> str | None:
    """The text that base64 data is; None where it is something else."""
    head = _decoded(data[:_HEADER])
    if not head or b"\0" in head or head.startswith(PDF) or read_image_header(head):
        return None
    try:
        return _decoded(data).decode()
    except UnicodeDecodeError:
        return None


def _decoded(data: str) -> bytes:
    """The bytes, as far as there are whole ones; none where it is no base64."""
    data = "".join(data.split())
    try:
        return base64.b64decode(data[: len(data) // 4 * 4])
    except ValueError:
        return b""


def inline_data(block: Any) -> str:
    """The base64 data somewhere in a block; empty where it refers to a file elsewhere."""
    if not isinstance(block, Mapping):
        return ""
    for key, value in block.items():
        if key in _DATA_KEYS and isinstance(value, str):
            head, comma, data = value.partition(";base64,")
            if comma:
                return data
            if not head.startswith(("http://", "https://")) and key in ("data", "file_data"):
                return value
        elif isinstance(value, Mapping) and (found := inline_data(value)):
            return found
    return ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


PDF = b"%PDF-"
"""How such a file begins."""
_PAGE = re.compile(rb"/Type\s*+/Page\b")
_OBJECTS = re.compile(rb"/ObjStm\b")
_STREAM = re.compile(rb"\bstream\r?\n")
LONGEST_HEAD = 400
"""Bytes between the type of an object stream and its data."""
MOST_STREAMS, MOST_BYTES = 500, 200_000
"""Object streams that are looked into, and bytes of each, for they may be made to grow."""


def count_pages(data: bytes) -> int:
    """Pages of a PDF, at least one.

    >>> count_pages(b"%PDF-1.4 1 0 obj << /Type /Pages >> 2 0 obj << /Type /Page >>")
    1
    """
    pages = len(_PAGE.findall(data))
    for head in islice(_OBJECTS.finditer(data), MOST_STREAMS):
        stream = _STREAM.search(data, head.end(), head.end() + LONGEST_HEAD)
        if stream is None:
            continue
        try:
            packed = data[stream.end() : stream.end() + MOST_BYTES]
            inner = zlib.decompressobj().decompress(packed, MOST_BYTES)
        except zlib.error:
            continue
        pages += len(_PAGE.findall(inner))
    return max(pages, 1)
