"""`foveate index` before it writes: what cannot be indexed leaves neither a store nor a loss."""

from __future__ import annotations

import json
import os
from io import BytesIO
from pathlib import Path

import docx
import pytest
from PIL import Image as Picture

from documents import locked_pdf, saved

HASHING = ("--embedder", "hashing")


@pytest.fixture
def docs(tmp_path) -> Path:
    """A folder of one document."""
    (tmp_path / "a" / "docs").mkdir(parents=True)
    (tmp_path / "a" / "docs" / "tea.md").write_text("# Tea\n\nBoil the water.\n")
    return tmp_path / "a" / "docs"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["/dev/null"], 3, "no file to read in 'null' (null: not a regular file); name files"),
        (["empty"], 3, "no file to read in 'empty/'; name files, or a folder that holds some, of"),
        (
            ["pictures"],
            3,
            "no file to read in 'pictures/' (pictures/p.png: no loader for .png); name",
        ),
        (["a/docs", "--store", "broken"], 3, "holds other files and no store"),
        (["a/docs", "--store", "a/docs/tea.md"], 3, "is a file"),
        (["a/docs", "--store", "redis://x"], 2, "unknown store"),
        (["a/docs", "--size", "3"], 2, "size is 3 tokens"),
        (["a/docs", "--size", "big"], 2, "--size"),
        (["a/docs", "--overlap", "300"], 2, "overlap is 300 tokens"),
        (["a/docs", "--embedder", "hashin"], 2, "did you mean 'hashing'?"),
        (["a/docs", "a/docs"], 2, "two of the paths are called 'docs'"),
        (["a/docs", "nowhere"], 3, "no such file or folder: 'nowhere'"),
        (["https://example.org/page"], 3, "save pages of the web as files first"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_no_store_is_left_where_there_is_nothing_to_do(run, docs, words, code, said):
    """F2, X1, X2: names, sizes and paths are checked before a store is made."""
    Path("empty").mkdir()
    Path("broken").mkdir()
    Path("broken/b.md").write_bytes(b"\xff\xfe\x00")
    Path("pictures").mkdir()
    Path("pictures/p.png").write_bytes(b"\x89PNG")

    ran = run("index", *HASHING, *words)

    assert ran.code == code
    assert said in ran.complaint
    assert not Path(".foveate").exists()


def test_a_run_that_fails_makes_no_store(run, monkeypatch):
    """F2, X2, T5: what cannot be read is reported, and no empty store is left to be searched."""
    Path("broken").mkdir()
    Path("broken/b.md").write_bytes(b"\xff\xfe\x00")

    ran = run("index", "broken", *HASHING)
    record = run("index", "broken", *HASHING, "--json").json

    assert ran.code == 3
    assert "1 failed:\n  broken/b.md: " in ran.out
    assert "no store was made in .foveate" in " ".join(ran.out.split())
    assert (record["state_root"], len(record["failed"])) == ("", 1)
    assert sorted(Path().iterdir()) == [Path("broken")]
    refused = run("search", "--query", "tea").err
    assert "no store in '.foveate'; index documents into it first: foveate index FOLDER" in refused


def test_what_cannot_be_found_is_named(run):
    """V1, F2: files without text, and what is shown and not read; what was read whole is not."""
    Path("notes").mkdir()
    Path("notes/blank.md").write_text(" \n\n", encoding="utf-8")
    Path("notes/dose.html").write_text("<p>5 \uf06dg &#xFFFD; 3 \uf0a3", encoding="utf-8")
    Path("notes/one.txt").write_text("a \ufffd sign\n", encoding="utf-8")
    Path("notes/tea.md").write_text("Green tea.\n", encoding="utf-8")

    ran = run("index", "notes", *HASHING)
    again = run("index", "notes", *HASHING, "--json").json

    assert "1 without text:\n  notes/blank.md: nothing to search; " in ran.out
    assert (again["unchanged"], again["without_text"]) == (4, [])
    assert "2 read in part:\n  notes/dose.html: 3 signs not read" in ran.out
    assert "notes/one.txt: 1 sign not read" in ran.out
    assert "tea.md" not in ran.out


def test_a_strict_run_fails_with_any_file(run):
    """V1, F2: with --strict one file that cannot be read is enough for exit code 3."""
    Path("notes").mkdir()
    Path("notes/broken.md").write_bytes(b"\xff\xfe\x00")
    Path("notes/tea.md").write_text("Green tea.\n", encoding="utf-8")

    assert run("index", "notes", *HASHING).code == 0
    assert run("index", "notes", *HASHING, "--strict").code == 3
    Path("notes/broken.md").unlink()
    assert run("index", "notes", *HASHING, "--strict").code == 0


def test_texts_that_match_alike_are_found_in_the_order_of_their_sources(run):
    """D1, F2: as the help says, whichever was indexed first."""
    Path("notes").mkdir()
    for name in ("c", "a", "b"):
        Path(f"notes/{name}.md").write_text("Boil the water for the tea.\n")
        run("index", "notes", *HASHING)
    found = run("search", "boil water", "--json").json["candidates"]

    assert [one["source"] for one in found] == ["notes/a.md", "notes/b.md", "notes/c.md"]
    help_text = " ".join(run("search", "--help").out.split())
    assert "alike are in the order of their sources, then of their places" in help_text


def test_an_emptied_folder_empties_its_store(run, docs):
    """T2: a store that is there follows the files even where none is left."""
    run("index", docs, *HASHING)
    (docs / "tea.md").unlink()

    ran = run("index", docs, *HASHING, "--json")

    assert ran.code == 0
    assert ran.json["deleted"] == 1


def test_names_that_are_not_utf_8_are_reported(run, docs):
    """X2, F2: the report can be printed, and read as JSON."""
    (docs / os.fsdecode(b"d\xff")).mkdir()

    ran = run("index", docs, *HASHING)
    record = run("index", docs, *HASHING, "--json")

    assert "docs/d\\xff/: the name is not UTF-8" in ran.out
    assert json.loads(record.out)["skipped"] == [
        {"path": "docs/d\\xff/", "reason": "the name is not UTF-8"}
    ]


def test_a_reader_whose_name_is_not_utf_8_reads_what_everybody_may(run, docs):
    """X1, X5: half of a surrogate pair, as a terminal hands it on, is a name like any other."""
    assert run("index", docs, "--store", "store").code == 0
    words = ("search", "--query", "cold", "--store", "store", "--json")
    everybody = run(*words)
    strange = run(*words, "--principal", "\udcff")
    assert (strange.code, strange.out) == (everybody.code, everybody.out)
    assert run(*words, "--where", "lang=\udcff").err.count("fault in foveate") == 0


def test_passwords_are_read_from_a_file_and_stay_out_of_everything(run, docs, tmp_path):
    """T2, X5: the store, the report and the messages never hold a password."""
    (docs / "plan.pdf").write_bytes(locked_pdf(["Drain the boiler."], "s3cret-w0rd"))
    secrets = tmp_path / "secrets"
    secrets.write_text("other\ns3cret-w0rd\n")

    refused = run("index", docs, *HASHING)
    ran = run("index", docs, *HASHING, "--password-file", secrets, "--json")

    assert "plan.pdf: encrypted: give its password (--password-file)" in refused.out
    assert ran.json["added"] == 1
    assert "Drain the boiler" in run("search", "--query", "boiler").out
    assert "s3cret" not in ran.out + ran.err
    stored = [path for path in Path(".foveate").rglob("*") if path.is_file()]
    assert stored
    assert all(b"s3cret" not in path.read_bytes() for path in stored)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a/docs/keys", b"secret", "would be indexed; keep it elsewhere"),
        ("missing", None, "No such file"),
        ("empty", b"\n\n", "has 0 passwords"),
        ("latin", b"\xe9", "is not UTF-8"),
        ("many", b"\n".join(b"%d" % n for n in range(101)), "has 101 passwords"),
    ],
)
def test_a_password_file_that_is_none_is_refused(run, docs, name, data, said):
    """X2, X5: the error says what is wrong and shows nothing of the file."""
    if data is not None:
        Path(name).write_bytes(data)

    ran = run("index", docs, *HASHING, "--password-file", name)

    assert ran.code in (2, 3)
    assert said in " ".join(ran.err.split())
    assert "secret" not in ran.out + ran.err


def test_images_are_kept_in_a_folder(run, tmp_path):
    """F2, U1: with --images."""
    document = docx.Document()
    document.add_paragraph("The wheel of the mill.")
    out = BytesIO()
    Picture.new("RGB", (40, 40), "red").save(out, "PNG")
    document.add_picture(BytesIO(out.getvalue()))
    Path("mill.docx").write_bytes(saved(document))
    done = run("index", "mill.docx", "--images", "images", *HASHING)
    found = run("assemble", "the wheel", "--format", "openai-parts", "--budget", "2000")

    assert done.code == 0, done.err
    (kept,) = Path("images").iterdir()
    assert kept.read_bytes() == out.getvalue()
    assert f"blake3:{kept.name}" in found.out
