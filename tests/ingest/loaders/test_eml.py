"""Mail: headers, text or page, attachments as documents of their own."""

from __future__ import annotations

from base64 import b64encode
from datetime import datetime, timedelta, timezone
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from documents import SENT, pdf
from foveate.core.errors import BadInput, MissingExtra
from foveate.ingest.loaders import loader_for
from foveate.ingest.loaders.eml import load_eml
from foveate.ingest.loaders.limits import Limits
from foveate.ports import LoadedDocument, Loader

PATH = Path("mail.eml")


def _parts(data: bytes) -> list[LoadedDocument | BadInput]:
    loader = loader_for(PATH, Limits())
    assert loader is not None
    return list(loader(data, PATH))


def _mail(subject: str = "The sweep") -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Änna <anna@example.org>"
    message["To"] = "Ben <ben@example.org>"
    message["Date"] = "Fri, 01 Mar 2024 10:00:00 +0100"
    message["Subject"] = subject
    return message


def test_headers_and_text() -> None:
    """T2: the subject is the title; sender, recipient and date are metadata."""
    message = _mail("Der Kaminfeger kommt – bald")
    message.set_content("Er kommt am Dienstag.\n", charset="iso-8859-1")
    message.add_alternative("<p>Er kommt am <b>Dienstag</b>.</p>", subtype="html")
    (mail,) = _parts(message.as_bytes())
    assert isinstance(mail, LoadedDocument)
    assert (mail.title, mail.text) == ("Der Kaminfeger kommt – bald", "Er kommt am Dienstag.")
    assert mail.metadata["from"] == "Änna <anna@example.org>"
    zone = timezone(timedelta(hours=1))
    assert mail.modified_at == datetime(2024, 3, 1, 10, tzinfo=zone)


@pytest.mark.parametrize(
    ("charset", "encoding", "text"),
    [
        ("utf-16", "utf-16", "Das Ventil öffnet bei drei bar."),
        ("utf-16be", "utf-16-be", "Das Ventil öffnet bei drei bar."),
        ("utf-16le", "utf-16-le", "压力阀"),
        ("utf-16be", "utf-16-be", "慢慢来"),
        ("utf-16", "utf-8", "\ufeffDas Ventil öffnet."),
    ],
)
def test_a_charset_of_wide_characters_is_the_parts(charset: str, encoding: str, text: str) -> None:
    """T2: the header's charset holds for bytes that could be UTF-8, too; a byte order mark wins."""
    body = b64encode(text.encode(encoding)).decode()
    head = f'Content-Type: text/plain; charset="{charset}"\nContent-Transfer-Encoding: base64\n'
    (mail,) = _parts(f"From: a@example.org\n{head}\n{body}\n".encode())
    assert isinstance(mail, LoadedDocument)
    assert mail.text == text.removeprefix("\ufeff")


def test_a_part_that_is_not_in_its_charset_is_refused() -> None:
    """X2: an odd number of bytes is no UTF-16, and the error says so."""
    head = 'Content-Type: text/plain; charset="utf-16le"\nContent-Transfer-Encoding: base64\n'
    with pytest.raises(BadInput, match="not utf-16"):
        _parts(f"From: a@example.org\n{head}\n{b64encode(b'abc').decode()}\n".encode())
    with pytest.raises(BadInput, match="utf-16 without a byte order mark"):
        _parts(f"From: a@example.org\n{head.replace('16le', '16')}\nYWI=\n".encode())


def test_attachments_are_documents() -> None:
    """T2: each that has a loader is read under its name, all are named; mails in it are not."""
    message = _mail()
    message.set_content("See below.")
    message.add_attachment(
        pdf(["one", "two"]), maintype="application", subtype="pdf", filename="../../plan.pdf"
    )
    message.add_attachment(b"\0", maintype="image", subtype="png", filename="roof.png")
    message.add_attachment(_mail("Inner"))
    parts = _parts(message.as_bytes())
    mail, plan = parts
    assert isinstance(mail, LoadedDocument)
    assert isinstance(plan, LoadedDocument)
    assert mail.metadata["attachments"] == "plan.pdf, roof.png, attachment 3"
    assert (mail.id, plan.id, plan.own_id) == ("#mail", "#plan.pdf", False)
    assert [(s.path, s.page) for s in plan.sections] == [("plan.pdf", 1), ("plan.pdf", 2)]


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (MissingExtra("pypdfium2", "documents"), "run: pip install 'foveate[documents]'"),
        (ZeroDivisionError("page 3"), "could not be read: ZeroDivisionError: page 3"),
    ],
)
def test_an_attachment_that_nobody_here_can_read(failure: Exception, said: str) -> None:
    """T2, X2: its package is missing or its parser breaks; the mail and the others are read."""

    def broken(data: bytes, path: Path) -> list[LoadedDocument]:
        raise failure

    def chosen(path: Path) -> Loader | None:
        return broken if path.suffix == ".pdf" else loader_for(path)

    message = _mail()
    message.set_content("See below.")
    message.add_attachment(b"x", maintype="application", subtype="pdf", filename="plan.pdf")
    message.add_attachment(b"On foot.", maintype="text", subtype="plain", filename="way.txt")
    mail, refused, way = load_eml(message.as_bytes(), PATH, loader_for=chosen)
    assert isinstance(mail, LoadedDocument)
    assert isinstance(way, LoadedDocument)
    assert (mail.text, way.text) == ("See below.", "On foot.")
    assert str(refused).startswith("attachment 'plan.pdf': ")
    assert str(refused).endswith(said)


def test_attachments_of_one_name_stay_apart() -> None:
    """T2: no two documents of a mail have one id, whatever their files are called or hold."""
    message = _mail()
    message.set_content("See below.")
    lines = b'{"text": "one", "id": "a"}\n{"text": "two", "id": "b"}\n{"text": "three"}\n'
    for data, name in ((b"one", "a.txt"), (b"two", "a.txt"), (lines, "list.jsonl")):
        message.add_attachment(data, maintype="text", subtype="octet", filename=name)
    ids = [part.id for part in _parts(message.as_bytes()) if isinstance(part, LoadedDocument)]
    assert ids == [
        *("#mail", "#a.txt", "#2 a.txt"),
        *("#list.jsonl#a", "#list.jsonl#b", "#list.jsonl#3"),
    ]


@pytest.mark.parametrize("name", ["From", "To", "Date", "Subject", "Content-Type"])
@example(value=b";*")
@example(value=b"(" * 3_000)
@given(value=st.binary(max_size=40))
def test_broken_headers_are_not_fatal(name: str, value: bytes) -> None:
    """X2: whatever a header holds, the mail is read or refused in words."""
    clean = value.replace(b"\n", b"").replace(b"\r", b"")
    try:
        parts = _parts(f"{SENT}{name}: ".encode() + clean + b"\n\nhi\n")
    except BadInput:
        return
    for part in parts:
        assert isinstance(part, BadInput) or part.text.encode() is not None


def test_deep_parts_are_refused() -> None:
    """X2: parts in parts in parts end with a reason."""
    head = "".join(
        f'Content-Type: multipart/mixed; boundary="{i}"\n\n--{i}\n' for i in range(3_000)
    )
    with pytest.raises(BadInput) as caught:
        _parts(f"{SENT}{head}".encode())
    assert "nested too deeply" in str(caught.value)
