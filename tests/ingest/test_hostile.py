"""A folder of hostile files: each is named with its reason, none is fatal, memory is bounded."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time

import pytest

from documents import SENT, SMALL, epub, odf, pdf, read, repacked, slides
from foveate.core.errors import BadInput
from foveate.ingest import Limits, Report, ingest
from foveate.providers.tokenizers.simple import Simple
from foveate.stores import open_store
from peak_memory import peak_mib

LIMITS = Limits(
    file_bytes=2_000_000,
    unpacked_bytes=30_000_000,
    members=500,
    depth=100,
    pages=50,
    rows=5_000,
    cell_chars=50_000,
    text_chars=400_000,
    attachments=5,
    seconds=30,
    memory_bytes=1 << 30,
)
MAIN = "word/document.xml"
SHEET = "xl/worksheets/sheet1.xml"
LAUGHS = (
    '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><a>&c;</a>'
)
OUTSIDE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><a>&x;</a>'


def _docx(body: str) -> bytes:
    """A Word file whose main part is replaced."""
    return repacked(SMALL[".docx"](), {MAIN: body.encode()})


def _nested(count: int) -> str:
    return "<a>" * count + "</a>" * count


def _with_members(count: int) -> bytes:
    return repacked(SMALL[".docx"](), {f"x/{i}.xml": b"" for i in range(count)})


def _encrypted_flag() -> bytes:
    data = bytearray(SMALL[".docx"]())
    start = data.find(b"PK\x01\x02")
    data[start + 8] |= 1
    return bytes(data)


def _ole(name: str) -> bytes:
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600 + name.encode("utf-16-le")


def _lying_size() -> bytes:
    """The directory says that the main part is small; what is packed is not."""
    data = bytearray(_docx("<a>" + "x" * 100_000 + "</a>"))
    name = data.rfind(MAIN.encode())
    data[name - 46 + 24 : name - 46 + 28] = (50).to_bytes(4, "little")
    return bytes(data)


def _zip_in_zip() -> bytes:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", b"\0" * 5_000_000)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("inner.zip", inner.getvalue())
    return out.getvalue()


def _many_pages() -> bytes:
    """A tree of pages that holds itself: it never ends."""
    return pdf(["x"]).replace(b"/Kids [5 0 R] /Count 1", b"/Kids [2 0 R] /Count 9")


def _sheet(rows: str) -> bytes:
    """A workbook whose first sheet is replaced."""
    return repacked(SMALL[".xlsx"](), {SHEET: f"<w><sheetData>{rows}</sheetData></w>".encode()})


def _mail(count: int, name: str, data: str) -> bytes:
    parts = "".join(
        f"--b\nContent-Type: application/octet-stream\n"
        f'Content-Disposition: attachment; filename="{name}"\n\n{data}\n'
        for _ in range(count)
    )
    head = f"{SENT}Subject: s\nContent-Type: multipart/mixed; boundary=b\n\n"
    return f"{head}--b\nContent-Type: text/plain\n\nhi\n{parts}--b--\n".encode()


def _cells(row: str, cell: str) -> bytes:
    """A spreadsheet with a row and a cell that are repeated, behind one of the other kind."""
    open_row = f"<table:table-row {row}><table:table-cell {cell}><text:p>1</text:p>"
    ends = "</table:table-cell></table:table-row></table:table>"
    return odf("spreadsheet", f'<table:table table:name="S">{open_row}{ends}')


NOISE = "".join(f"{n * 7919 % 999_983} " for n in range(60_000))
LOCKED = (
    '<encryption><EncryptedData><CipherData><CipherReference URI="OPS/a.xhtml"/></CipherData>'
    "</EncryptedData></encryption>"
)
HOSTILE: Mapping[str, tuple[Callable[[], bytes], str]] = {
    "bomb.docx": (lambda: _docx("<a>" + " " * 20_000_000 + "</a>"), "limit `ratio`"),
    "huge.docx": (lambda: _docx("<a>" + " " * 31_000_000 + "</a>"), "limit `unpacked_bytes`"),
    "members.docx": (lambda: _with_members(600), "limit `members`"),
    "nested.docx": (_zip_in_zip, "not a Word document"),
    "lying.docx": (_lying_size, "damaged"),
    "laughs.docx": (lambda: _docx(LAUGHS), "a document type"),
    "outside.docx": (lambda: _docx(OUTSIDE), "a document type"),
    "deep.docx": (lambda: _docx(_nested(5_000)), "limit `depth`"),
    "cut.docx": (lambda: SMALL[".docx"]()[:-900], "damaged"),
    "flipped.docx": (lambda: _docx("<a><b></a>"), "is no XML"),
    "locked.docx": (lambda: _ole("EncryptedPackage"), "encrypted"),
    "flag.docx": (_encrypted_flag, "encrypted"),
    "old.docx": (lambda: _ole("WordDocument"), "before 2007"),
    "empty.docx": (lambda: b"", "0 bytes"),
    "garbage.docx": (lambda: b"\1\2\3" * 99, "does not begin like one"),
    "really.docx": (SMALL[".pdf"], "it is a PDF"),
    "swapped.docx": (SMALL[".xlsx"], "a workbook, not a Word document"),
    "long.docx": (lambda: _docx(f"<a><p><r><t>{'abc ' * 120_000}</t></r></p></a>"), "text_chars"),
    "rows.xlsx": (lambda: _sheet("<row><c><v>1</v></c></row>" * 6_000), "limit `rows`"),
    "cell.xlsx": (
        lambda: _sheet(f"<row><c><is><t>{'x' * 60_000}</t></is></c></row>"),
        "cell_chars",
    ),
    "far.xlsx": (lambda: _sheet('<row r="1"><c r="ZZZZ1"><v>1</v></c></row>'), "there is no cell"),
    "missing.xlsx": (lambda: _sheet('<row><c t="s"><v>99</v></c></row>'), "no shared text"),
    "deep.pptx": (
        lambda: repacked(SMALL[".pptx"](), {"ppt/slides/slide1.xml": _nested(5_000).encode()}),
        "limit `depth`",
    ),
    "slides.pptx": (lambda: slides([("t", "b", "")] * 51), "limit `pages`"),
    "bomb.epub": (lambda: epub({"a.xhtml": " " * 20_000_000}), "limit `ratio`"),
    "chapters.epub": (lambda: epub({f"{n}.xhtml": "<p>a" for n in range(60)}), "limit `pages`"),
    "long.epub": (lambda: epub({"a.xhtml": f"<p>{NOISE}" * 2}), "limit `text_chars`"),
    "laughs.epub": (lambda: epub({}, more={"OPS/book.opf": LAUGHS}), "a document type"),
    "locked.epub": (
        lambda: epub({"a.xhtml": "<p>a"}, more={"META-INF/encryption.xml": LOCKED}),
        "protected against copying",
    ),
    "none.epub": (SMALL[".docx"], "not an EPUB book"),
    "bomb.odt": (lambda: odf("text", " " * 20_000_000), "limit `ratio`"),
    "laughs.odt": (
        lambda: repacked(SMALL[".odt"](), {"content.xml": LAUGHS.encode()}),
        "a document type",
    ),
    "outside.odt": (
        lambda: repacked(SMALL[".odt"](), {"content.xml": OUTSIDE.encode()}),
        "a document type",
    ),
    "deep.odt": (lambda: odf("text", _nested(5_000)), "limit `depth`"),
    "locked.odt": (lambda: odf("text", "", manifest="<encryption-data/>"), "encrypted"),
    "swapped.odt": (SMALL[".ods"], "not an OpenDocument text"),
    "cut.odt": (lambda: SMALL[".odt"]()[:-60], "damaged"),
    "rows.ods": (lambda: _cells('table:number-rows-repeated="9999999"', ""), "limit `rows`"),
    "wide.ods": (lambda: _cells("", 'table:number-columns-repeated="9999999"'), "16384 cells"),
    "pages.pdf": (lambda: pdf(["x"] * 60), "limit `pages`"),
    "endless.pdf": (_many_pages, "damaged"),
    "cut.pdf": (lambda: SMALL[".pdf"]()[:120], "damaged"),
    "scan.pdf": (lambda: pdf(["", ""]), "a scan"),
    "locked.pdf": (
        lambda: pdf(["x"], trailer="/Encrypt << /Filter /Standard /V 1 /R 2 /O (o) /U (u) /P 0 >>"),
        "encrypted",
    ),
    "empty.pdf": (lambda: b"", "0 bytes"),
    "garbage.pdf": (lambda: b"hello", "does not begin like one"),
    "wide.csv": (lambda: b"," * 20_000, "more than 16384"),
    "cell.csv": (lambda: b"a,b\n" + b"x" * 60_000, "limit `cell_chars`"),
    "field.csv": (lambda: b'a,b\n"' + b"x" * 200_000, "field larger"),
    "rows.csv": (lambda: b"1\n" * 6_000, "limit `rows`"),
    "binary.csv": (lambda: b"a\0b", "a NUL byte"),
    "cyrillic.csv": (lambda: b"\xef\xf0\xe8,1\n", "not UTF-8"),
    "binary": (lambda: b"a\0b" * 9, "a NUL byte"),
    "made": (
        SMALL[".epub"],
        "without a suffix: a zip archive or an Office file; give it the right",
    ),
    "picture": (lambda: b"\x89PNG\r\n\x1a\n", "without a suffix: a PNG picture"),
    "none.eml": (lambda: b"hello there\n", "no mail"),
    "many.eml": (lambda: _mail(6, "a.txt", "x"), "limit `attachments`"),
    "bad.eml": (lambda: _mail(1, "a.docx", "no zip"), "attachment 'a.docx': damaged"),
    "big.txt": (lambda: b"x" * 2_000_001, "limit `file_bytes`"),
    "packed.txt": (lambda: gzip.compress(b"hi"), "a gzip archive"),
    "picture.md": (lambda: b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    "deep.jsonl": (lambda: b'{"text":' + b"[" * 90_000, "line 1"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every hostile file, a good one of each format among them, and links that lead away."""
    root = tmp_path_factory.mktemp("hostile")
    outside = root / "outside.txt"
    outside.write_text("secret", encoding="utf-8")
    folder = root / "mixed"
    folder.mkdir()
    for name, (made, _) in HOSTILE.items():
        (folder / name).write_bytes(made())
    for suffix, made in SMALL.items():
        (folder / f"good{suffix}").write_bytes(made())
    (folder / "good.md").write_text("# Hi\n\nhi\n", encoding="utf-8")
    (folder / "link.txt").symlink_to(outside)
    (folder / "loop.txt").symlink_to(folder / "loop.txt")
    (folder / "around").symlink_to(root)
    return folder


@pytest.fixture(scope="module")
def report(folder: Path) -> Report:
    """What a run over the folder says."""
    with open_store(folder.parent / "s") as store:
        return ingest(folder, store, None, Simple(), limits=LIMITS)


@pytest.mark.parametrize("name", HOSTILE)
def test_each_is_named_with_its_reason(name: str, report: Report) -> None:
    """X2, T2: the report names the file once, and what is wrong with it."""
    reasons = [each.reason for each in report.failed if each.path == f"mixed/{name}"]
    assert len(reasons) == 1
    assert HOSTILE[name][1] in reasons[0]
    assert "Traceback" not in reasons[0]


def test_the_good_ones_are_in(report: Report) -> None:
    """X2: none is fatal: what can be read is in the store, the mail beside its bad part too."""
    assert report.added == len(SMALL) + 2
    assert {each.path for each in report.failed} == {f"mixed/{name}" for name in HOSTILE}


def test_links_out_of_the_folder_are_said(report: Report) -> None:
    """X2: what a link leads to outside is not read."""
    reasons = {each.path: each.reason for each in report.skipped}
    assert reasons["mixed/link.txt"] == "a link out of the folder"
    assert reasons["mixed/loop.txt"].startswith("a broken link")
    assert reasons["mixed/around"] == "a link out of the folder"


MEASURED = """
import sys
from pathlib import Path
from foveate.ingest.loaders.limits import Limits
from foveate.core.errors import BadInput
from foveate.ingest.load import read_file, load_in_process
from foveate.ingest.walk import File
limits = Limits(**eval(sys.argv[2]))
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        file = File(path=path, name=path.name, root='')
        list(load_in_process(read_file(file, limits), path, limits))
    except (BadInput, OSError):
        pass
"""


def test_memory_stays_bounded(folder: Path, figure: Callable[[str], None]) -> None:
    """X2: reading all of them, bombs included, takes less than 80 MiB in one process."""
    limits = {name: getattr(LIMITS, name) for name in LIMITS.__slots__}
    most = peak_mib(MEASURED, folder, repr(limits))
    figure(f"hostile files: {most} MiB at the most")
    assert most < 80


@pytest.mark.parametrize("header", ["Content-Type: text/plain", "Content-Disposition: attachment"])
def test_a_mail_with_endless_parameters_is_refused(header):
    """X2: its parser takes the square of their number, so they are counted first."""
    mail = f"From: a@b\nDate: Fri, 01 Mar 2024 10:00:00 +0100\n{header}"
    mail += "".join(f";\n p{n}=v" for n in range(200_000)) + "\n\nHello\n"

    with pytest.raises(BadInput, match="more than 500 parameters"):
        read("a.eml", mail)


def _last_cells(suffix: str, rows: int) -> bytes:
    """A sheet of rows of which the last cell alone has something in it."""
    if suffix == ".xlsx":
        return _sheet('<row><c r="XFD1"><v>1</v></c></row>' * rows)
    blank = '<table:table-cell table:number-columns-repeated="16383"/>'
    last = "<table:table-cell><text:p>1</text:p></table:table-cell>"
    row = f'<table:table-row table:number-rows-repeated="{rows}">{blank}{last}</table:table-row>'
    return odf("spreadsheet", f'<table:table table:name="S">{row}</table:table>')


@pytest.mark.parametrize("suffix", [".xlsx", ".ods"])
def test_empty_cells_cost_nothing(suffix: str, figure: Callable[[str], None]) -> None:
    """X2: a file of some kilobytes says that it has 30 million cells; it is read in no time.

    openpyxl makes each of them, and takes five times as long.
    """
    data = _last_cells(suffix, 2_000)
    begun = process_time()
    loaded = read(f"wide{suffix}", data)
    spent = process_time() - begun
    figure(f"{len(data)} bytes of {suffix} with 2,000 rows of 16,384 cells: {spent:.2f} s")
    assert loaded.text.count("XFD: 1") == 2_000
    assert spent < 2
