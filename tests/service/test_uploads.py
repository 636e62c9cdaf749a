"""`POST /v1/documents`: files as a form, from outside."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

import documents
from foveate.core.errors import BadInput
from foveate.service.settings import Settings
from foveate.service.wire.errors import ProblemError
from foveate.service.wire.multipart import MAX_PARTS, parse_form
from service_server import problem, serving

FORM = "multipart/form-data; boundary=x"


@pytest.fixture(scope="module")
def writable(tmp_path_factory):
    """A client of a service with a store of its own, which reads as `staff` at the most."""
    store = tmp_path_factory.mktemp("uploads") / "own"
    with serving(
        Settings(store=str(store), embedder="hashing", principals=("staff",), seconds=60)
    ) as client:
        yield client


def upload(client, *files, **fields):
    """The answer to files, each (name, bytes)."""
    return client.post("/v1/documents", files=[("file", one) for one in files], data=fields)


def test_files_of_several_formats_are_kept_found_and_cited(writable):
    """F3, T2, L1: a PDF with its pages, Markdown and JSON Lines go in by the loaders of `index`."""
    answer = upload(
        writable,
        ("well.pdf", documents.pdf(["The well is nine metres deep.", "It was dug in 1904."])),
        ("folder/mill.md", b"# Mill\n\nThe mill is of oak.\n"),
        ("rows.jsonl", b'{"id": "a", "text": "Row one."}\n{"id": "b", "text": "Row two."}\n'),
        metadata='{"team": "yard"}',
    )
    told = answer.json()
    asked = {"query": "How deep is the well?", "where": {"team": "yard"}}
    found = writable.post("/v1/assemble", json=asked).json()
    (cited,) = [one for one in found["citations"] if one["source"] == "well.pdf"][:1]

    assert answer.status_code == 200, answer.text
    assert [one["id"] for one in told["documents"]][:2] == ["well.pdf", "mill.md"]
    assert len(told["documents"]) == 4
    assert told["refused"] == []
    assert "nine metres" in found["text"]
    assert cited["page"] == 1
    assert found["manifest"]["state_root"] == told["state_root"]
    assert writable.get("/v1/documents/mill.md").json()["title"] == "Mill"


def test_what_cannot_be_read_is_reported_and_the_rest_is_kept(writable):
    """F3, X2: a broken PDF and a picture are named with the reason; nothing else is lost."""
    answer = upload(
        writable,
        ("broken.pdf", b"%PDF-1.7 nothing of it is true"),
        ("photo.png", b"\x89PNG\r\n\x1a\n"),
        ("good.txt", b"The roof is of slate."),
    )
    told = answer.json()

    assert [one["id"] for one in told["documents"]] == ["good.txt"]
    assert [one["file"] for one in told["refused"]] == ["broken.pdf", "photo.png"]
    assert all(one["detail"] for one in told["refused"])


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_part_with_an_id_that_is_none_refuses_itself_alone(tmp_path, new_schema, engine):
    """X2: what is kept can be shown and deleted, and what stands behind it in the form is kept."""
    store = str(tmp_path / "own") if engine == "sqlite" else new_schema()
    rows = (
        {"id": "n\0ul"},
        {"id": "i" * 1_025},
        {"id": "a\nb"},
        {"title": "n\0ul"},
        {"id": "r/é?"},
    )
    lines = "".join(json.dumps({"text": "A row.", **row}) + "\n" for row in rows)
    with serving(Settings(store=store, create=True, embedder="hashing")) as client:
        told = upload(
            client,
            ("rows.jsonl", lines.encode()),
            ("z" * 1_100 + ".md", b"A long name."),
            ("a\u202egpj.md", b"A name that turns round."),
            ("good.txt", b"The roof is of slate."),
        ).json()
        kept = [one["id"] for one in told["documents"]]
        listed = [one["id"] for one in client.get("/v1/documents").json()["documents"]]
        paths = [f"/v1/documents/{quote(name, safe='')}" for name in listed]
        shown = {client.get(path).status_code for path in paths}
        gone = {client.delete(path).status_code for path in paths}

    assert {"r/é?", "a\u202egpj.md", "good.txt"} <= set(kept)
    assert sorted(listed) == sorted(kept)
    assert len(told["refused"]) + len(kept) == 8
    assert (shown, gone) == ({200}, {204})


def test_files_without_text_are_refused_by_name(writable):
    """V1, X2: nothing could be found in them; what was not read of others is counted by kind."""
    answer = upload(
        writable,
        ("blank.md", b" \n"),
        ("empty.txt", b""),
        ("dose.html", "<p>5 \uf06dg".encode()),
        ("good.txt", b"The roof is of slate."),
    )
    told = answer.json()

    assert [one["file"] for one in told["refused"]] == ["blank.md", "empty.txt"]
    assert all(one["detail"].startswith("nothing to search") for one in told["refused"])
    left_out = {one["id"]: one["left_out"] for one in told["documents"]}
    assert left_out == {"dose.html": {"signs": 1}, "good.txt": {}}


@pytest.mark.parametrize("name", ["", "x" * 1_001, b"\xff"])
def test_a_principal_that_is_none_is_refused(writable, name):
    """X2, X5: as in a document that is put; nobody could ever read what it is for."""
    parts = [("file", ("plan.txt", b"A plan.")), ("principals", (None, name))]
    answer = writable.post("/v1/documents", files=parts)

    assert (answer.status_code, problem(answer)["field"]) == (400, "principals")


def test_principals_of_a_form_hold_for_all_its_files(writable):
    """X5: what only the board may read is not found by staff."""
    said = upload(writable, ("plan.txt", b"The plan is in the blue vault."), principals=["board"])
    found = writable.post("/v1/assemble", json={"query": "Where is the plan of the vault?"})

    assert said.status_code == 200
    assert "blue vault" not in found.text


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([("metadata", (None, b"{}"))], "at least one file"),
        ([("file", (None, b"a"))], "with its name"),
        ([("file", ("a.txt", b"a")), ("metadata", (None, b"[]"))], "must be a JSON object"),
        ([("file", ("a.txt", b"a")), ("metadata", (None, b'{"a": NaN}'))], "finite"),
        ([("file", ("a.txt", b"a")), ("owner", (None, b"x"))], "known: file, images, principals"),
    ],
)
def test_a_wrong_form_is_said(writable, parts, said):
    """X1: by its field, before anything is kept."""
    answer = writable.post("/v1/documents", files=parts)

    assert answer.status_code == 400
    assert said in problem(answer)["detail"]
    assert writable.get("/v1/documents/a.txt").status_code == 404


def test_another_media_type_is_refused(writable):
    """F3: 415, with what to send."""
    answer = writable.post("/v1/documents", json={"text": "a"})

    assert answer.status_code == 415
    assert "multipart/form-data" in problem(answer)["detail"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"--x",
        b"--x\r\n",
        b"before--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--x--",
        b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb",
        b"--x\r\nno headers--x--",
        b"--x\r\nContent-Type: text/plain\r\n\r\na\r\n--x--",
        b"--x\r\nContent-Disposition: attachment; name=a\r\n\r\na\r\n--x--",
        b"--x\r\nA: " + b"b" * 9_000 + b"\r\n\r\na\r\n--x--",
        b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n" * (MAX_PARTS + 1) + b"--x--",
    ],
)
def test_a_broken_form_is_refused(body):
    """X2: whatever is cut off or malformed."""
    with pytest.raises((BadInput, ProblemError)):
        parse_form(FORM, body)


def test_a_line_that_begins_like_the_boundary_is_content():
    """X2: RFC 2046 wants the boundary's line to end behind it."""
    content = b"a\r\n--xyz more"
    body = b"--x \r\nContent-Disposition: form-data; name=a\r\n\r\n%b\r\n--x--\r\n" % content
    assert [part.data for part in parse_form(FORM, body)] == [content]


def test_bytes_of_a_file_come_out_as_they_went_in():
    """X2: line ends, zeros, and what looks like a boundary."""
    data = b"\x00\r\n-x\r\n--y\n\r\r\n\xff"
    body = (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="..\\\\a/b.bin"\r\n\r\n'
        + data
        + b"\r\n--x--\r\n"
    )
    (part,) = parse_form(FORM, body)

    assert (part.name, part.file, part.data) == ("file", "b.bin", data)
