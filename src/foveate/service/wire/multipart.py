"""Reads `multipart/form-data` (RFC 7578): the parts of a form, each with its name and its bytes.

Strict and linear. The framework's reader writes parts to temporary files; here the body is in
memory already, within the bound of `limits/body.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import HTTP
from pathlib import PurePosixPath

from foveate.core.errors import BadInput
from foveate.service.wire.errors import ProblemError

MAX_PARTS = 100
_MAX_HEADER_BYTES = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class FormPart:
    """A field's name and bytes; `file`: the name of the file that it is, without folders."""

    name: str
    data: bytes
    file: str | None = None


def parse_form(content_type: str, body: bytes) -> list[FormPart]:
    r"""The parts in order; raises a 415 problem for another type, else `BadInput`.

    >>> body = b'--x\r\nContent-Disposition: form-data; name="id"\r\n\r\nmill\r\n--x--\r\n'
    >>> parse_form("multipart/form-data; boundary=x", body)
    [FormPart(name='id', data=b'mill', file=None)]
    """
    header = Message()
    header["content-type"] = content_type
    boundary = header.get_boundary()
    if header.get_content_type() != "multipart/form-data" or not boundary:
        raise ProblemError(415, "media-type", "send multipart/form-data with a boundary")
    mark = b"--" + boundary.encode("latin-1", "replace")
    # A line that goes on behind the boundary is content.
    first, *rest = re.split(rb"\r\n%b(?=--|[ \t]*\r\n)" % re.escape(mark), b"\r\n" + body)
    if not rest or first.strip() or not rest[-1].startswith(b"--"):
        raise BadInput("the form does not begin or end with its boundary")
    if len(rest) - 1 > MAX_PARTS:
        raise BadInput(f"the form has more than {MAX_PARTS} parts")
    return [_parse_part(part) for part in rest[:-1]]


def _parse_part(part: bytes) -> FormPart:
    head, gap, data = part.partition(b"\r\n\r\n")
    if not gap or len(head) > _MAX_HEADER_BYTES:
        raise BadInput("a part of the form has no headers, or too many")
    headers = BytesHeaderParser(policy=HTTP).parsebytes(head.lstrip() + b"\r\n\r\n")
    disposition = headers["content-disposition"]
    found = dict(disposition.params) if disposition is not None else {}
    if disposition is None or disposition.content_disposition != "form-data" or "name" not in found:
        raise BadInput("a part of the form has no name")
    file = found.get("filename")
    if file is not None:
        file = PurePosixPath(file.replace("\\", "/")).name
    return FormPart(name=found["name"], data=data, file=file)
