"""Reads saved mail (RFC 5322): headers, text and attachments.

The text is what a mail program shows, in its order: of alternatives the richest, or the plain one
if that says the same. The metadata names all attachments; those of a known format become documents
whose sections begin with their name. A mail inside a mail is only named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
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
_MAY_MISS = 0.4  # of the words of a page, in a plain text that says the same
_WORD = re.compile(r"\w+")
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
    body = _read_body(message, limits)
    attached = body.attached
    limits.check_bound("attachments", len(attached), "attachments")
    names = _attachment_names(attached)
    parts: list[LoadedDocument | BadInput] = []
    for name, part in zip(names, attached, strict=True):
        loader = loader_for(Path(name)) if loader_for is not None else None
        if loader is not None and part.get_content_maintype() != "message":
            parts += _load_attachment(name, part, loader)
    mail = _build_mail(message, body, names, path)
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


@dataclass(slots=True)
class _Body:
    """What a part of a mail shows, and what is attached to it."""

    pages: list[LoadedDocument] = field(default_factory=list)
    attached: list[EmailMessage] = field(default_factory=list)

    def count_words(self) -> Counter[str]:
        """The words that it shows."""
        return Counter(word.lower() for page in self.pages for word in _WORD.findall(page.text))

    def add(self, other: _Body) -> None:
        """Show another part after this one."""
        self.pages += other.pages
        self.attached += other.attached


def _read_body(part: EmailMessage, limits: Limits, *, is_whole: bool = True) -> _Body:
    """The texts of a part in their order; what has a file's name or is no text is attached."""
    if part.get_content_maintype() == "multipart":
        return _read_parts(part, limits)
    kind = part.get_content_type()
    is_file = part.get_content_disposition() == "attachment" or part.get_filename()
    is_text = kind in ("text/plain", "text/html") and not is_file
    if not is_text and not (is_whole and kind.startswith("text/")):
        return _Body(attached=[part])
    text = _body_text(part)
    limits.check_bound("text_chars", len(text), "characters of text")
    page = LoadedDocument(text=text.strip())
    if kind == "text/html":
        (page,) = load_html(text.encode(), Path())
    return _Body(pages=[page] if page.text.strip() else [])


def _read_parts(part: EmailMessage, limits: Limits) -> _Body:
    inner = part.get_payload()
    parts = [each for each in inner if isinstance(each, EmailMessage)] if inner else []
    bodies = [_read_body(each, limits, is_whole=False) for each in parts]
    kind, found = part.get_content_subtype(), _Body()
    if kind == "alternative":
        shown = _choose(bodies)
        for each in bodies:
            found.pages += each.pages if each is shown else []
            found.attached += each.attached
        return found
    if kind == "related":
        root = next((n for n, each in enumerate(bodies) if each.pages), 0)
        for number, (inside, body) in enumerate(zip(parts, bodies, strict=True)):
            found.add(body if number == root else _Body(attached=list(_leaves(inside))))
        return found
    for each in bodies:
        found.add(each)
    return found


def _leaves(part: EmailMessage) -> Iterator[EmailMessage]:
    """The parts without parts, or a mail."""
    if part.get_content_maintype() != "multipart":
        yield part
        return
    for each in part.get_payload():
        if isinstance(each, EmailMessage):
            yield from _leaves(each)


def _choose(bodies: Sequence[_Body]) -> _Body | None:
    """The last of the alternatives that shows something, or the first if it says the same.

    The richest is the last (RFC 2046). A plain one may be a stub: it says the same if it has all
    figures of the richest and most of its words.
    """
    shown = [each for each in bodies if each.pages]
    if len(shown) < 2:
        return shown[0] if shown else None
    plain, rich = shown[0].count_words(), shown[-1].count_words()
    missing = [word for word in rich if word not in plain]
    has_figures = not any(any(map(str.isdigit, word)) for word in missing)
    return shown[0] if has_figures and len(missing) <= _MAY_MISS * len(rich) else shown[-1]


def _build_mail(
    message: EmailMessage, body: _Body, names: Sequence[str], path: Path
) -> LoadedDocument:
    metadata = {key: said for key in _HEADERS if (said := _read_header(message, key))}
    if names:
        metadata["attachments"] = ", ".join(names)
    parts, sections, size = list[str](), list[Section](), 0
    for page in body.pages:
        size += 2 * bool(parts)
        parts.append(page.text)
        sections += [replace(s, start=s.start + size, end=s.end + size) for s in page.sections]
        size += len(page.text)
    return LoadedDocument(
        text="\n\n".join(parts),
        title=_read_header(message, "subject") or path.stem,
        sections=tuple(sections),
        metadata=metadata,
        modified_at=_parse_date(message),
        lines=False,
        left_out=sum((Counter(page.left_out) for page in body.pages), Counter[str]()),
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
