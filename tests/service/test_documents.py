"""`/v1/documents`, from outside."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event
from time import process_time
from typing import Any, NoReturn
from urllib.parse import quote

import pytest

import service_keys
from foveate.core.types import Chunk
from foveate.ports import Document
from foveate.service.app_state import AppState
from foveate.service.auth.caller import Caller
from foveate.service.problems import problem_from_error
from foveate.service.routes import documents
from foveate.service.routes.documents import keep_text
from foveate.service.settings import Settings
from foveate.service.wire.requests import DocumentRequest
from foveate.stores import open_store
from foveate.stores.base import StoreFull
from service_server import problem, serving

WELL = "# The well\n\nThe well is nine metres deep.\n\n## Rope\n\nIts rope is of hemp.\n"


@pytest.fixture
def writable(tmp_path):
    """A client of a service with a store of its own, which reads as `staff` at the most."""
    settings = Settings(store=str(tmp_path / "own"), embedder="hashing", principals=("staff",))
    with serving(settings) as client:
        yield client


@pytest.fixture(scope="module")
def refusing(tmp_path_factory):
    """A client of a service whose store stays empty."""
    store = tmp_path_factory.mktemp("refusing") / "own"
    with serving(Settings(store=str(store), embedder="hashing")) as client:
        yield client


def put(client, name, **fields):
    """The answer to a document that is put."""
    return client.put(f"/v1/documents/{quote(name)}", json={"text": WELL, **fields})


def test_what_is_put_is_found_read_listed_and_deleted(writable):
    """F3, T2: a document goes in by our loaders and our chunker, and out again."""
    answer = put(writable, "yard/well.md", media_type="text/markdown", metadata={"team": "yard"})

    told = answer.json()
    assert answer.status_code == 200
    assert (told["id"], told["chunks"]) == ("yard/well.md", 1)
    whole = writable.get("/v1/documents/yard/well.md").json()
    assert (whole["text"], whole["title"]) == (WELL, "The well")
    listed = writable.get("/v1/documents").json()
    assert listed["documents"] == [{k: v for k, v in whole.items() if k != "text"}]
    asked = {"query": "How deep is the well?", "where": {"team": "yard"}}
    found = writable.post("/v1/assemble", json=asked).json()
    assert "nine metres" in found["text"]
    assert found["manifest"]["state_root"] == told["state_root"]
    assert writable.delete("/v1/documents/yard/well.md").status_code == 204
    assert writable.delete("/v1/documents/yard/well.md").status_code == 204
    assert writable.get("/v1/documents/yard/well.md").status_code == 404
    assert writable.get("/v1/documents").json() == {"documents": [], "next": None}


def test_the_same_again_changes_nothing(writable):
    """F3: the same content is the same answer and the same state; another one is another."""
    first = put(writable, "well").json()

    assert put(writable, "well").json() == first
    assert put(writable, "well", title="Well").json()["state_root"] != first["state_root"]
    assert put(writable, "well").json() == first


def test_a_put_is_what_an_index_would_keep(writable, tmp_path):
    """T2, T3: chunks, sections, offsets and questions are those of a file of this text."""
    put(writable, "well.md", media_type="text/markdown")

    with open_store(tmp_path / "own", create=False) as store:
        (chunk, *_) = store.neighbours([("well.md", 0)], 3)
        assert WELL[chunk.start : chunk.end] == chunk.text
        assert chunk.section == "The well"
        assert chunk.metadata["canonical_questions"]
        assert store.search("How deep is the well?", None).lexical_matches


@pytest.mark.parametrize(
    ("media_type", "text", "kept"),
    [
        ("text/plain", "A line.\n<b>no tag</b>", "A line.\n<b>no tag</b>"),
        ("text/html", "<meta charset=latin-1><p>Größe &amp; <b>mehr</b>", "Größe & mehr"),
        ("text/markdown", "---\ntitle: T\n---\n# H\n\nText.", "Text."),
    ],
)  # fmt: skip
def test_each_media_type_has_its_loader(writable, media_type, text, kept):
    """T2: plain text stays, HTML is read as a page whatever it declares, Markdown as Markdown."""
    assert put(writable, "x", text=text, media_type=media_type).status_code == 200

    assert kept in writable.get("/v1/documents/x").json()["text"]


def test_nothing_shows_of_what_one_may_not_read(writable):
    """X5: written over, deleted, listed and read: it is as if it were not there."""
    open_ = put(writable, "a-open").json()
    hidden = put(writable, "hidden", principals=["board"], text="The safe is in the cellar.")
    again = put(writable, "hidden", principals=["board"], text="The safe is in the cellar.")

    assert set(hidden.json()) == set(open_)
    assert hidden.json()["state_root"] == open_["state_root"] == again.json()["state_root"]
    assert [d["id"] for d in writable.get("/v1/documents").json()["documents"]] == ["a-open"]
    missing, closed = (writable.get(f"/v1/documents/{name}") for name in ("nowhere", "hidden"))
    assert missing.status_code == closed.status_code == 404
    assert problem(missing)["detail"] == problem(closed)["detail"]
    assert writable.delete("/v1/documents/hidden").status_code == 204
    new = put(writable, "hidden")
    assert new.status_code == 200
    assert writable.get("/v1/documents/hidden").json()["text"] == WELL


def test_a_chunk_id_that_is_taken_shows_nothing(writable, tmp_path):
    """X5: where another document has the usual ids of the chunks, they get others, untold."""
    put(writable, "first")
    with open_store(tmp_path / "own", create=False) as store:
        text = "Not yours."
        chunk = Chunk(text=text, id="well#0", document_id="other", principals=("board",))
        store.put(Document(id="other", source="o", text=text, principals=("board",)), [chunk], None)

    answer = put(writable, "well")

    assert answer.status_code == 200
    assert set(answer.json()) == {"id", "content_hash", "chunks", "state_root"}
    assert writable.get("/v1/documents/well").status_code == 200


def test_a_list_comes_in_pages(writable):
    """F3: each document once, by id, whatever the size of a page."""
    names = ["b", "a", "c/d", "é", "a b", "%41"]
    for name in names:
        put(writable, name, text=f"About {name}.")
    found, following = [], None
    while True:
        where = {"limit": 2, **({"cursor": following} if following else {})}
        page = writable.get("/v1/documents", params=where).json()
        found += [document["id"] for document in page["documents"]]
        following = page["next"]
        if following is None:
            break

    assert found == sorted(names)


@pytest.mark.parametrize("name", ["", "a%00b", "a%0ab", "x" * 1_025, "%ff", "a%c3"])
def test_an_id_that_is_none_is_refused(refusing, name):
    """X2: empty, with control characters, too long, or no UTF-8."""
    answer = refusing.put(f"/v1/documents/{name}", json={"text": WELL})

    assert answer.status_code in {400, 404, 405, 422}
    assert problem(answer)
    assert refusing.get("/v1/documents").json()["documents"] == []


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"text": ""}, "text"),
        ({"text": " \n"}, "text"),
        ({"text": "a\u0000b"}, ""),
        ({"text": "a\ud800b"}, "text"),
        ({"text": 7}, "text"),
        ({"media_type": "application/pdf"}, "media_type"),
        ({"modified_at": "yesterday"}, "modified_at"),
        ({"principals": "staff"}, "principals"),
        ({"principals": [""]}, "principals.0"),
        ({"metadata": []}, "metadata"),
        ({"metadata": {"x": float("nan")}}, "metadata.x"),
        ({"metadata": {"x": [10**400]}}, "metadata.x.0"),
        ({"path": "x"}, "path"),
    ],
)
def test_a_document_that_is_none_is_refused(refusing, fields, field):
    """X2, I3: by the name of what is wrong; nothing is kept."""
    body = json.dumps({"text": WELL, **fields}).encode()
    answer = refusing.put(
        "/v1/documents/well", content=body, headers={"Content-Type": "application/json"}
    )

    assert answer.status_code in {400, 422}, answer.text
    assert problem(answer).get("field", "") == field
    assert refusing.get("/v1/documents").json()["documents"] == []


def endless(*given: Any, **__: object) -> NoReturn:
    """Counts for ever, by the tokenizer that it is given."""
    while True:
        given[3].count("word")


def test_a_document_that_takes_for_ever_costs_its_own_time(tmp_path, monkeypatch):
    """X6, X4: it is stopped while it is prepared, and nothing of it is written."""
    settings = Settings(store=str(tmp_path / "own"), embedder="hashing", seconds=1)
    with serving(settings) as client:
        with monkeypatch.context() as patched:
            patched.setattr("foveate.service.routes.documents.build_chunks", endless)
            refused = put(client, "long")
        answer = put(client, "short")
        while answer.status_code == 503:
            answer = put(client, "short")
        listed = client.get("/v1/documents").json()["documents"]

    assert problem(refused)["type"] == "urn:foveate:problem:too-slow"
    assert answer.status_code == 200
    assert [each["id"] for each in listed] == ["short"]


def test_html_that_is_slow_to_read_is_read_elsewhere(tmp_path):
    """X2, X6: its merged cells cost this process nothing, and the next document is kept."""
    rows = (f"<tr><td rowspan={60_000 - n}>{'y' * 190}</td><td>b</td></tr>" for n in range(10_000))
    page = f"<table><tr><th>A</th><th>B</th></tr>{''.join(rows)}</table>"
    with serving(
        Settings(store=str(tmp_path / "own"), embedder="hashing", seconds=3, waiting=9)
    ) as client:
        begun = process_time()
        refused = put(client, "slow", text=page, media_type="text/html")
        answer = put(client, "next", text="<p>It stands.</p>", media_type="text/html")
        spent = process_time() - begun

    assert refused.status_code in {400, 504}
    assert answer.status_code in {200, 503}
    assert spent < 2


def test_whatever_the_store_has_can_be_shown_and_deleted(tmp_path):
    """X2: under ids too that no document can be put under, as an index may have given them."""
    names = ("n\0ul", "x" * 2_000, "line\nbreak")
    with open_store(tmp_path / "own") as store:
        for name in names:
            store.put(Document(id=name, source=name, text=WELL), [], None)
    with serving(Settings(store=str(tmp_path / "own"))) as client:
        paths = [f"/v1/documents/{quote(name)}" for name in names]
        assert [client.get(path).status_code for path in paths] == [200] * 3
        assert [client.delete(path).status_code for path in paths] == [204] * 3
        assert client.get("/v1/documents").json()["documents"] == []


def test_a_full_disk_is_said_and_loses_nothing(tmp_path):
    """X2, X3: 507, for a deletion too; what was there stays."""
    state = AppState(Settings(store=str(tmp_path / "own"), create=True, embedder="hashing"))
    caller = Caller(key_id=None, tenant="default", principals=(), scopes=frozenset())

    def write(name: str) -> str:
        body = DocumentRequest(text=f"{WELL} {name} " * 99)
        return str(keep_text(state, caller, name, body)["state_root"])

    root = write("first")
    with state.stores.borrow("default") as opened:
        database = opened.writer()._connection
        (pages,) = database.execute("PRAGMA page_count").fetchone()
        database.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreFull) as full:
            write("second")
        assert opened.store.state_root(principals=()) == root
    asyncio.run(state.close())
    assert problem_from_error(full.value).status_code == 507


def test_a_document_of_too_many_chunks_is_refused_and_leaves_the_one_there(tmp_path):
    """X6, X2: the problem says the limit, how far it reaches and what to do."""
    settings = Settings(store=str(tmp_path / "own"), embedder="hashing", chunks=3)
    with serving(settings) as client:
        kept = put(client, "well").json()
        refused = put(client, "well", text="The kettle sings when the water boils. " * 500)
        again = put(client, "well").json()

    assert refused.status_code == 400
    assert problem(refused)["detail"].startswith("more than 3 chunks: so many reach to character ")
    assert "(limit `chunks`); divide the document, or raise the limit" in refused.text
    assert again == kept


def test_a_write_of_one_tenant_does_not_hold_anothers(tmp_path, monkeypatch):
    """X6, X5: while one tenant's transaction goes on and more of its writes wait, others write."""
    keys = tmp_path / "keys"
    one, two = (service_keys.by(service_keys.put(keys, tenant=name)) for name in ("one", "two"))
    begun, may_end = Event(), Event()
    write = documents.keep_document

    def written(held, caller, *given):
        if caller.tenant == "one":
            begun.set()
            assert may_end.wait(60)
        return write(held, caller, *given)

    monkeypatch.setattr(documents, "keep_document", written)
    settings = Settings(store=str(tmp_path / "{tenant}"), embedder="hashing", keys=keys)
    with serving(settings) as client, ThreadPoolExecutor(3) as threads:
        send = partial(client.put, json={"text": WELL})
        long = [threads.submit(send, f"/v1/documents/{n}", headers=one) for n in range(3)]
        assert begun.wait(60)
        quick = [send(f"/v1/documents/{n}", headers=two).status_code for n in range(3)]
        waiting = [each.done() for each in long]
        may_end.set()
        slow = [each.result().status_code for each in long]

    assert (quick, waiting, slow) == ([200] * 3, [False] * 3, [200] * 3)
