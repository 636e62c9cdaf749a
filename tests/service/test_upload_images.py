"""`POST /v1/documents` with images: kept by hash, found with their texts, sent to a model."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path

import pytest

import illustrated
import model_servers
from foveate.core.errors import BadOption
from foveate.core.images import image_hash
from foveate.service.settings import Settings
from foveate.service.start import check_start
from service_server import problem, serving

QUESTION = "How old is the wheel of the mill?"
ASKED = {"budget": 4_000, "format": "openai-parts"}


@pytest.fixture(scope="module")
def model():
    """A model that answers."""
    with model_servers.serving("openai") as server:
        yield server


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the service keeps a store and images."""
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="module")
def client(folder, model):
    """A client of a service that keeps images, and of the two illustrated files."""
    settings = Settings(
        store=str(folder / "store"),
        create=True,
        embedder="hashing",
        images=str(folder / "images"),
        models={"eyes": model.name},
        seconds=60,
    )
    with serving(settings) as found:
        yield found


def upload(client, name: str, data: bytes, **fields: str):
    """The answer to one file."""
    return client.post("/v1/documents", files=[("file", (name, data))], data=fields)


def kept(folder: Path) -> dict[str, bytes]:
    """The images that there are, by their files' names."""
    return {path.name: path.read_bytes() for path in folder.glob("images/*")}


@pytest.mark.parametrize("name", ["mill.pdf", "mill.docx"])
def test_images_of_an_upload_are_kept_and_come_with_their_text(client, folder, name):
    """F3, U1: on request, as `index --images` keeps them; a file that was kept is read again."""
    data = illustrated.FILES[name]()
    before = kept(folder)
    bare = upload(client, name, data)
    assert bare.status_code == 200, bare.text
    assert kept(folder) == before
    told = upload(client, name, data, images="true")
    assert told.status_code == 200, told.text
    again = upload(client, name, data, images="true").json()
    asked = {"query": QUESTION, "where": {"source": name}, "image_bytes": True, **ASKED}
    found = client.post("/v1/assemble", json=asked).json()
    shown = {image["hash"] for block in found["blocks"] for image in block.get("images", ())}

    assert again["state_root"] == told.json()["state_root"] != bare.json()["state_root"]
    assert shown
    assert all(image_hash(image) == key for key, image in kept(folder).items())
    sent = {key: b64decode(image) for key, image in found["image_bytes"].items()}
    assert sent == {key: kept(folder)[key] for key in shown}


def test_a_model_is_sent_the_bytes(client, model):
    """F8, U1: `/v1/ask` puts them in where the context names their hash."""
    assert upload(client, "mill.pdf", illustrated.pdf_file(), images="true").status_code == 200
    asked = {"question": QUESTION, "stream": False, **ASKED}
    answer = client.post("/v1/ask", json=asked)

    assert answer.status_code == 200, answer.text
    parts = model.requests[-1]["messages"][-1]["content"]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert urls
    assert all(url.startswith("data:image/") for url in urls)


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(b"other bytes")])
def test_a_lost_or_altered_image_is_left_out(client, folder, model, harm):
    """U1: its hash is in the answer, and the other images come with their bytes."""
    upload(client, "mill.pdf", illustrated.pdf_file(), images="true")
    where = {"where": {"source": "mill.pdf"}, **ASKED}
    asked = {"query": QUESTION, "image_bytes": True, **where}
    whole = client.post("/v1/assemble", json=asked).json()
    lost, *others = sorted(whole["image_bytes"])
    path = folder / "images" / lost
    data = path.read_bytes()
    harm(path)
    try:
        found = client.post("/v1/assemble", json=asked)
        question = {"question": QUESTION, **where}
        answered = client.post("/v1/ask", json={**question, "stream": False})
        streamed = client.post("/v1/ask", json={**question, "stream": True})
    finally:
        path.write_bytes(data)
    parts = model.requests[-1]["messages"][-1]["content"]

    assert others
    assert "lost_images" not in whole
    assert found.status_code == answered.status_code == 200, (found.text, answered.text)
    assert sorted(found.json()["image_bytes"]) == others
    assert found.json()["lost_images"] == answered.json()["lost_images"] == [lost]
    assert streamed.text.count(f'"lost_images":["{lost}"]') == 2
    assert sum(part["type"] == "image_url" for part in parts) == len(others)


def test_a_hash_is_no_right_to_bytes(client, folder):
    """X5: neither with candidates nor with metadata that name it."""
    upload(client, "mill.pdf", illustrated.pdf_file(), images="true")
    wanted = min(kept(folder))
    image = {"hash": wanted, "media_type": "image/png", "width": 60, "height": 40}
    chunk = {"text": "The wheel of the mill is of 1880.", "images": [image]}
    asked = {"query": QUESTION, "candidates": [chunk], **ASKED}
    given = client.post("/v1/assemble", json={**asked, "image_bytes": True})
    question = {"question": QUESTION, "candidates": [chunk], **ASKED}
    answered = client.post("/v1/ask", json=question)
    put = client.put(
        "/v1/documents/mine", json={"text": chunk["text"], "metadata": {"images": [image]}}
    )
    plain = client.post("/v1/assemble", json=asked)

    for answer in (given, answered, put):
        assert answer.status_code == 400, answer.text
        assert "url" in problem(answer)["detail"]
    assert plain.status_code == 200
    assert "image_bytes" not in plain.json()


@pytest.mark.parametrize("said", ["yes", "1", ""])
def test_the_option_is_true_or_false(client, said):
    """X1: and nothing else."""
    answer = upload(client, "mill.pdf", illustrated.pdf_file(), images=said)

    assert (answer.status_code, problem(answer)["field"]) == (400, "images")


def test_bytes_that_are_too_many_are_refused(folder, client):
    """X6, X1: an answer has no more of them than a body of a request may have."""
    large = illustrated.picture("red", (600, 600), "JPEG")
    upload(client, "large.docx", illustrated.word_file(large), images="true")
    settings = Settings(
        store=str(folder / "store"),
        embedder="hashing",
        images=str(folder / "images"),
        body_bytes=1_000,
    )
    with serving(settings) as small:
        asked = {"query": QUESTION, "where": {"source": "large.docx"}, **ASKED}
        refused = small.post("/v1/assemble", json={**asked, "image_bytes": True})
        plain = small.post("/v1/assemble", json=asked)

    assert len(large) > 1_000
    assert (refused.status_code, problem(refused)["field"]) == (400, "image_bytes")
    assert plain.status_code == 200


def test_a_service_without_a_folder_says_so(service):
    """X1: before a file is read."""
    answer = upload(service, "mill.pdf", illustrated.pdf_file(), images="true")

    assert answer.status_code == 400
    assert "the setting `images`" in problem(answer)["detail"]


def test_tenants_share_no_folder():
    """X5: where each has a store of its own."""
    with pytest.raises(BadOption, match="put {tenant} into the folder"):
        check_start(Settings(store="stores/{tenant}", images="images"))
