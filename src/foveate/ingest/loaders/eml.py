"""Reads saved mail (RFC 5322): headers, text and attachments.

Plain text is preferred to HTML. The metadata names all attachments; those of a known format become
documents whose sections begin with their name. A mail inside a mail is only named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import EmailPolicy
from pathlib import Path, PurePosixPath
from typing import Any

from foveate.core.errors import BadInput, InvalidRequest, MissingExtra
from foveate.ingest.loaders.decode import decode_part
from foveate.ingest.loaders.html import load_html
from foveate.ingest.loaders.limits import DEFAULT_LIMITS, Limits
from foveate.ports import LoadedDocument, Loader, Section

_HEADERS = ("from", "to", "cc", "date")
_MAX_HEADER_LENGTH = 1_000
_MAX_PARAMETERS = 500
_CONTENT_HEADER = re.compile(
    rb"^content-(?:type|disposition):([^\n]*+(?:\n[ \t][^\n]*+)*+)", re.IGNORECASE | re.MULTILINE
)


def load_eml(
    data: bytes, path: Path, *, limits: Limits = DEFAULT_LIMITS, loader_for: LoaderFor | None = None
) -> Sequence[LoadedDocument | BadInput]:
    """The mail as one document, and each readable attachment as another.

    An unreadable attachment is a `BadInput` in its place.
    """
    try:
        return _load_parts(data, path, limits, loader_for)
    except RecursionError:  # the parser follows parts, and comments in headers, by recursion
        raise BadInput("parts or headers nested too deeply") from None


def _load_parts(
    data: bytes, path: Path, limits: Limits, loader_for: LoaderFor | None
) -> Sequence[LoadedDocument | BadInput]:
    message = _parse_message(data)
    attached = list(message.iter_attachments())
    limits.check_bound("attachments", len(attached), "attachments")
    names = _attachment_names(attached)
    parts: list[LoadedDocument | BadInput] = []
    for name, part in zip(names, attached, strict=True):
        loader = loader_for(Path(name)) if loader_for is not None else None
        if loader is not None and part.get_content_maintype() != "message":
            parts += _load_attachment(name, part, loader)
    mail = _build_mail(message, names, path)
    return [replace(mail, id="#mail", own_id=False), *parts] if parts else [mail]


LoaderFor = Callable[[Path], Loader | None]
"""The loader for an attachment of that name; None if it is not to be read."""


class _LenientPolicy(EmailPolicy):
    """Headers on which the standard library's parser fails are read as empty."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        try:
            return super().header_fetch_parse(name, value)
        except (ValueError, LookupError, AttributeError, TypeError):
            return super().header_fetch_parse(name, "")


_LENIENT = _LenientPolicy()


def _parse_message(data: bytes) -> EmailMessage:
    for header in _CONTENT_HEADER.finditer(data):  # the parser takes the square of their number
        if header[1].count(b";") > _MAX_PARAMETERS:
            raise BadInput(f"a header with more than {_MAX_PARAMETERS} parameters")
    message = message_from_bytes(data, policy=_LENIENT)
    if not isinstance(message, EmailMessage) or not any(message.get(k) for k in ("from", "date")):
        raise BadInput("no mail: it says neither whom it is from nor when it was sent")
    return message


def _build_mail(message: EmailMessage, names: Sequence[str], path: Path) -> LoadedDocument:
    metadata = {key: said for key in _HEADERS if (said := _read_header(message, key))}
    if names:
        metadata["attachments"] = ", ".join(names)
    body = message.get_body(("plain", "html"))
    text = _body_text(body) if isinstance(body, EmailMessage) else ""
    title = _read_header(message, "subject") or path.stem
    sections: Sequence[Section] = ()
    if body is not None and body.get_content_subtype() == "html":
        (page,) = load_html(text.encode(), path)
        text, sections = page.text, page.sections
    return LoadedDocument(
        text=text.strip() if not sections else text,
        title=title,
        sections=sections,
        metadata=metadata,
        modified_at=_parse_date(message),
        lines=False,
    )


def _body_text(part: EmailMessage) -> str:
    raw = part.get_payload(decode=True)
    data = raw if isinstance(raw, bytes) else b""
    return decode_part(data, part.get_content_charset("")).replace("\r\n", "\n")


def _read_header(message: EmailMessage, name: str) -> str:
    said = str(message.get(name, ""))
    return " ".join(said.encode("utf-8", "replace").decode().split())[:_MAX_HEADER_LENGTH]


def _parse_date(message: EmailMessage) -> datetime | None:
    found = getattr(message.get("date"), "datetime", None)
    return found if isinstance(found, datetime) else None


def _attachment_names(attached: Sequence[EmailMessage]) -> list[str]:
    """Unique names of the attachments: a second `plan.pdf` is `2 plan.pdf`."""
    names: list[str] = []
    for number, part in enumerate(attached, 1):
        name = _file_name(part, number)
        names.append(f"{number} {name}" if name in names else name)
    return names


def _file_name(part: EmailMessage, number: int) -> str:
    """The attachment's name without folders."""
    name = part.get_filename() or f"attachment {number}"
    clean = name.encode("utf-8", "replace").decode().replace("\\", "/")
    return " ".join(PurePosixPath(clean).name.split())[:200] or f"attachment {number}"


def _load_attachment(
    name: str, part: EmailMessage, loader: Loader
) -> list[LoadedDocument | BadInput]:
    raw = part.get_payload(decode=True)
    try:
        found = loader(raw if isinstance(raw, bytes) else b"", Path(name))
    except (InvalidRequest, MissingExtra) as error:
        return [BadInput(f"attachment {name!r}: {error}")]
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  # a parser may raise anything; the mail is fine
        said = f"could not be read: {type(error).__name__}: {error}"
        return [BadInput(f"attachment {name!r}: {said}")]
    return [_rename_attachment(each, name) for each in found]


def _rename_attachment(loaded: LoadedDocument | BadInput, name: str) -> LoadedDocument | BadInput:
    if isinstance(loaded, BadInput):
        return BadInput(f"attachment {name!r}: {loaded}")
    whole = (Section(start=0, end=len(loaded.text), path=""),)
    sections = tuple(
        replace(each, path=f"{name} > {each.path}" if each.path else name)
        for each in loaded.sections or whole
    )
    own = f"#{loaded.id}" if loaded.id and loaded.own_id else loaded.id
    return replace(
        loaded, id=f"#{name}{own}", own_id=False, sections=sections, source="", principals=()
    )
