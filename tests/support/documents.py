"""Documents of each format, made on the spot by the formats' own writers: texts of our own."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime
from functools import partial
from hashlib import md5
from operator import methodcaller
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx

from foveate.ingest.loaders import loader_for
from foveate.ports import LoadedDocument

SENT = (
    "From: Anna <anna@example.org>\nTo: Ben <ben@example.org>\n"
    "Date: Fri, 01 Mar 2024 10:00:00 +0100\n"
)


def read(name: str, data: bytes | str) -> LoadedDocument:
    """The one document that the loader for this name makes of a file."""
    path = Path(name)
    load = loader_for(path)
    assert load is not None
    (loaded,) = load(data.encode() if isinstance(data, str) else data, path)
    assert isinstance(loaded, LoadedDocument)
    return loaded


def pdf(
    pages: Sequence[str],
    *,
    title: str = "",
    bookmarks: Sequence[tuple[str, int]] = (),
    trailer: str = "",
) -> bytes:
    """A PDF with one line of ASCII text a page; `bookmarks`: (title, page counted from 0)."""
    first = 5
    kids = " ".join(f"{first + 2 * i} 0 R" for i in range(len(pages)))
    marks = first + 2 * len(pages)
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R /Outlines {marks} 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Title ({title}) /ModDate (D:20240301120000+01'00') >>",
    ]
    for i, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 50 700 Td ({text}) Tj ET"
        objects += [
            (
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
                f"/Resources << /Font << /F1 3 0 R >> >> /Contents {first + 2 * i + 1} 0 R >>"
            ),
            f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        ]
    last = marks + len(bookmarks)
    ends = f"/First {marks + 1} 0 R /Last {last} 0 R" if bookmarks else ""
    objects.append(f"<< /Type /Outlines {ends} /Count {len(bookmarks)} >>")
    for i, (name, page) in enumerate(bookmarks):
        following = f"/Next {marks + 2 + i} 0 R" if i + 1 < len(bookmarks) else ""
        objects.append(
            f"<< /Title ({name}) /Parent {marks} 0 R {following} "
            f"/Dest [{first + 2 * page} 0 R /Fit] >>"
        )
    return _pdf_file(objects, trailer)


Placed = tuple[float, float, float, str]
"""A text of a page: where it begins, its size, and its letters."""


def placed_pdf(
    pages: Sequence[Sequence[Placed]],
    *,
    turn: int = 0,
    fields: Sequence[str] = (),
    bold: Collection[str] = (),
    bookmark: str = "",
) -> bytes:
    """A PDF with each text at its place; `turn`: how its pages are shown, and its texts drawn.

    `fields`: dictionaries of form fields of the first page. `bold`: which texts are. `bookmark`: of
    the first page.
    """
    first, kinds = 4, len(pages) * 2
    kids = " ".join(f"{first + 2 * i} 0 R" for i in range(len(pages)))
    marks = " ".join(f"{first + kinds + i} 0 R" for i in range(len(fields)))
    mark = f"/First << /Title ({bookmark}) /Dest [{first} 0 R /Fit] >>"
    outlines = f"/Outlines << {mark} >>" if bookmark else ""
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [{marks}] >> {outlines} >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    strong = "/F2 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>"
    matrix = {0: "1 0 0 1 0 0", 90: "0 1 -1 0 842 0", 180: "-1 0 0 -1 595 842"}
    matrix[270] = "0 -1 1 0 0 595"
    for number, page in enumerate(pages):
        texts = "".join(
            f"BT /F{1 + (text in bold)} {size} Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET\n"
            for x, y, size, text in page
        )
        drawn = f"{matrix[turn]} cm\n{texts}"
        objects += [
            (
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 842 842] /Rotate {turn} "
                f"/Annots [{marks if number == 0 else ''}] "
                f"/Resources << /Font << /F1 3 0 R {strong} >> >> "
                f"/Contents {first + 2 * number + 1} 0 R >>"
            ),
            f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        ]
    shared = "/Type /Annot /Subtype /Widget /F 4 /DA (/F1 11 Tf)"
    objects += [f"<< {shared} {field} >>" for field in fields]
    return _pdf_file(objects, "")


_PAD = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")


def locked_pdf(pages: Sequence[str], password: str) -> bytes:
    """A PDF that opens with the password alone: RC4 of 128 bits, which keeps every length."""
    owner, permissions, identity = b"o" * 32, -4, b"i" * 16
    secret = (
        (password.encode() + _PAD)[:32] + owner + permissions.to_bytes(4, "little", signed=True)
    )
    key = md5(secret + identity, usedforsecurity=False).digest()
    for _ in range(50):
        key = md5(key, usedforsecurity=False).digest()
    user = md5(_PAD + identity, usedforsecurity=False).digest()
    for turn in range(20):
        user = _rc4(bytes(byte ^ turn for byte in key), user)
    data = pdf(
        pages,
        trailer=f"/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P {permissions}"
        f" /O <{owner.hex()}> /U <{user.hex()}{'00' * 16}> >>"
        f" /ID [<{identity.hex()}> <{identity.hex()}>]",
    )

    def encrypt(found: re.Match[bytes]) -> bytes:
        number = int(found[2]).to_bytes(3, "little") + bytes(2)
        own = md5(key + number, usedforsecurity=False).digest()
        return found[1] + _rc4(own, found[3]) + found[4]

    return re.sub(
        rb"((\d+) 0 obj\n[^\n]*\nstream\n)(.*?)(\nendstream)", encrypt, data, flags=re.DOTALL
    )


def _rc4(key: bytes, data: bytes) -> bytes:
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def _pdf_file(objects: Sequence[str], trailer: str) -> bytes:
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, text in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{text}\nendobj\n".encode()
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010d} 00000 n \n".encode() for place in places)
    size = len(objects) + 1
    out += f"trailer\n<< /Size {size} /Root 1 0 R /Info 4 0 R {trailer} >>\n".encode()
    return bytes(out + f"startxref\n{start}\n%%EOF\n".encode())


def word(write: Callable[[Any], None]) -> bytes:
    """A Word file; `write` gets the empty document."""
    document = docx.Document()
    document.core_properties.author = ""
    write(document)
    return saved(document)


def workbook(sheets: Mapping[str, Sequence[Sequence[Any]]]) -> bytes:
    """A workbook with these sheets."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    return saved(book)


def slides(shown: Sequence[tuple[str, str, str]]) -> bytes:
    """A presentation: title, body and notes of each slide."""
    show = pptx.Presentation()
    for title, body, notes in shown:
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = body
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    return saved(show)


def saved(document: Any) -> bytes:
    """What the writer's `save` writes."""
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def repacked(data: bytes, changes: Mapping[str, bytes]) -> bytes:
    """An Office file with parts replaced or added."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            if name not in changes:
                new.writestr(name, old.read(name))
        for name, part in changes.items():
            new.writestr(name, part)
    return out.getvalue()


def part_of(data: bytes, name: str) -> str:
    """A part of an Office file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read(name).decode()


PRICES = (
    ("Part", "Price", "Checked", "Note"),
    *((f"Part {i}", i / 4, date(2024, 3, i), None) for i in range(2, 17)),
    ("Copper valve", 1234.5, datetime(2024, 3, 17, 8, 30), "opens above three bar"),  # noqa: DTZ001
)
"""Row 17 is the copper valve."""

_ODF = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    ' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
    ' xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"'
    ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
    ' xmlns:xlink="http://www.w3.org/1999/xlink"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
)


def zipped(mimetype: str, parts: Mapping[str, str | bytes]) -> bytes:
    """An archive that begins with its media type, as EPUB and OpenDocument files do."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", mimetype)
        for name, part in parts.items():
            archive.writestr(name, part, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def odf(kind: str, body: str, *, meta: str = "", manifest: str = "", styles: str = "") -> bytes:
    """An OpenDocument file; `kind`: `text` or `spreadsheet`, `body`: what is inside of it."""
    content = (
        f"<office:document-content {_ODF}>{styles}<office:body><office:{kind}>{body}"
        f"</office:{kind}></office:body></office:document-content>"
    )
    parts = {
        "content.xml": content,
        "meta.xml": f"<office:document-meta {_ODF}><office:meta>{meta}</office:meta>"
        "</office:document-meta>",
        "META-INF/manifest.xml": f"<manifest>{manifest}</manifest>",
    }
    return zipped(f"application/vnd.oasis.opendocument.{kind}", parts)


def epub(
    chapters: Mapping[str, str], *, meta: str = "", more: Mapping[str, str] | None = None
) -> bytes:
    """A book of these chapters, by the references of its package; `more`: other parts."""
    items = "".join(
        f'<item id="c{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    package = (
        f'<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>{meta}</metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    parts = {
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OPS/book.opf"/>'
        "</rootfiles></container>",
        "OPS/book.opf": package,
        **{f"OPS/{name}": text for name, text in chapters.items()},
        **(more or {}),
    }
    return zipped("application/epub+zip", parts)


SMALL: Mapping[str, Callable[[], bytes]] = {
    ".csv": lambda: b"greeting,to\nhi,Anna\n",
    ".docx": partial(word, methodcaller("add_paragraph", "hi")),
    ".eml": f"{SENT}Subject: Greeting\n\nhi\n".encode,
    ".epub": partial(epub, {"a.xhtml": "<html><body><p>hi</p></body></html>"}),
    ".ipynb": lambda: b'{"cells": [{"cell_type": "markdown", "source": ["hi"]}]}',
    ".ods": lambda: odf(
        "spreadsheet",
        '<table:table table:name="Sheet"><table:table-row><table:table-cell><text:p>hi</text:p>'
        "</table:table-cell></table:table-row></table:table>",
    ),
    ".odt": lambda: odf("text", "<text:p>hi</text:p>"),
    ".pdf": partial(pdf, ["hi"]),
    ".pptx": lambda: slides([("Greeting", "hi", "")]),
    ".tsv": lambda: b"greeting\tto\nhi\tAnna\n",
    ".xlsx": lambda: workbook({"Sheet": [["hi"]]}),
}


def write_mixed_folder(root: Path, *, pages: int, rows: int) -> None:
    """Files of most formats, one of many documents, some that cannot be read, an id taken twice."""
    (root / "sub").mkdir(parents=True)
    for number in range(pages):
        text = f"# Tea {number}\n\n" + f"Boil the water for pot {number}. " * number * 9
        (root / "sub" / f"{number:02}.md").write_text(text)
    lines = [f'{{"id": "r{i}", "text": "Row {i} of the table."}}\n' for i in range(rows)]
    (root / "rows.jsonl").write_text("".join([*lines[:30], "nonsense\n", *lines[30:]]))
    (root / "taken.jsonl").write_text('{"id": "r7", "text": "again"}\n')
    (root / "binary.md").write_bytes(b"\0\1")
    (root / "broken.pdf").write_bytes(b"%PDF-1.4 no more")
    for suffix, made in SMALL.items():
        (root / f"small{suffix}").write_bytes(made())
