"""Images of PDF, Word and PowerPoint files: read on request, kept by hash, found by text."""

from __future__ import annotations

import json
from base64 import b64decode
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image as Picture

from foveate import assemble, messages, open_store
from foveate.core.errors import BadInput, ExternalError
from foveate.core.images import image_from_bytes, image_hash, images_of
from foveate.core.types import Chunk
from foveate.ingest.images import attach_images, keep_image, make_image_folder
from foveate.ingest.load import load_in_process
from foveate.ingest.loaders.limits import Limits, ReadOptions
from foveate.ingest.sandbox import Sandbox
from foveate.ports import LoadedImage
from illustrated import FILES, pdf_file, picture, word_file

WITH_IMAGES = ReadOptions(images=True)
QUESTION = "How old is the wheel of the mill?"


@pytest.mark.parametrize("name", FILES)
def test_images_are_read_on_request(name: str) -> None:
    """U1: with the part of the text that they are in, through the sandbox as in this process."""
    data = FILES[name]()
    (plain,) = load_in_process(data, Path(name), Limits())
    (loaded,) = load_in_process(data, Path(name), Limits(), WITH_IMAGES)
    with Sandbox(Limits()) as sandbox:
        (there,) = sandbox.load(data, Path(name), WITH_IMAGES)
        (bare,) = sandbox.load(data, Path(name))

    assert plain == bare
    assert plain.images == ()
    assert loaded == there
    assert loaded.text == plain.text
    first = loaded.images[0]
    wheel = loaded.text.index("The wheel")
    assert (first.page, first.caption) == {
        "mill.pdf": (2, ""),
        "mill.docx": (None, "The wheel, from the yard"),
        "mill.pptx": (2, "The wheel"),
    }[name]
    assert len(loaded.images) == (2 if name == "mill.pdf" else 1)
    assert wheel - 5 <= first.start <= first.end <= len(loaded.text)
    assert image_from_bytes(first.data).width == 60


def test_the_pixels_of_a_pdf_are_those_that_it_shows() -> None:
    """U1: a JPEG as it is in the file, other images as PNG in the same colours."""
    (loaded,) = load_in_process(pdf_file(), Path("mill.pdf"), Limits(), WITH_IMAGES)
    photo, drawing = (one.data for one in loaded.images)

    assert photo == picture("red", kind="JPEG")
    with Picture.open(BytesIO(drawing)) as shown:
        assert (shown.size, shown.convert("RGB").getpixel((5, 5))) == ((50, 70), (10, 20, 30))


@pytest.mark.parametrize(
    ("limits", "says"),
    [(Limits(images=1), "limit `images`"), (Limits(image_bytes=99), "limit `image_bytes`")],
)
def test_a_file_over_its_limits_is_refused(limits: Limits, says: str) -> None:
    """T2: and read as before if its images are not asked for."""
    with pytest.raises(BadInput, match=says):
        list(load_in_process(pdf_file(), Path("mill.pdf"), limits, WITH_IMAGES))
    assert list(load_in_process(pdf_file(), Path("mill.pdf"), limits))


@pytest.mark.parametrize("name", ["mill.docx", "mill.pptx"])
def test_what_is_no_image_is_left_out(name: str) -> None:
    """T2: a damaged or foreign picture does not cost the text."""
    import zipfile

    data = FILES[name]()
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for part in old.namelist():
            new.writestr(part, b"\xd7\xcd\xc6\x9aWMF" if "/media/" in part else old.read(part))
    (loaded,) = load_in_process(out.getvalue(), Path(name), Limits(), WITH_IMAGES)

    count = 2 if name == "mill.docx" else 1
    assert (loaded.images, loaded.left_out) == ((), {"pictures": count})
    assert "The wheel of the mill" in loaded.text


@pytest.mark.parametrize("name", FILES)
def test_an_image_goes_from_a_file_to_a_message(name: str, tmp_path: Path) -> None:
    """U1: index, search, assemble, send; the bytes are in the folder under their hash."""
    (tmp_path / name).write_bytes(FILES[name]())
    folder = tmp_path / "deep" / "images"
    with open_store(tmp_path / "store", embedder="hashing") as store:
        report = store.index(tmp_path / name, images=folder)
        again = store.index(tmp_path / name, images=folder)
        context = store.assemble(QUESTION, budget=4_000, format="anthropic-document")
        replayed = store.assemble(QUESTION, budget=4_000, format="anthropic-document")
    shown = [image for block in context.blocks for image in block.images]
    sent = messages(context, images=folder)[-1]["content"]
    parts = [part for part in sent if part["type"] == "image"]

    assert (report.added, again.unchanged) == (1, 1)
    assert shown
    assert sorted(one.hash for one in shown) == sorted(path.name for path in folder.iterdir())
    assert [image_hash(b64decode(part["source"]["data"])) for part in parts] == [
        one.hash for one in shown
    ]
    assert context.manifest == replayed.manifest
    if name != "mill.docx":
        assert any(2 in citation.pages for citation in context.citations)


def test_without_the_option_nothing_is_kept(tmp_path: Path) -> None:
    """U1: and with it, a file that was read before is read again."""
    (tmp_path / "mill.docx").write_bytes(word_file())
    with open_store(tmp_path / "store", embedder="hashing") as store:
        store.index(tmp_path / "mill.docx")
        bare = store.assemble(QUESTION, budget=4_000, format="openai-parts")
        changed = store.index(tmp_path / "mill.docx", images=tmp_path / "images")

    assert "image" not in json.dumps(bare.to_dict()["trace"])
    assert changed.updated == 1


def chunks(*spans: tuple[int, int]) -> list[Chunk]:
    """Chunks of these places of a document."""
    return [Chunk(text="x" * (b - a), id=str(n), start=a, end=b) for n, (a, b) in enumerate(spans)]


@pytest.mark.parametrize(
    ("span", "places"),
    [
        ((0, 10), [0]),
        ((5, 15), [0, 1]),
        ((0, 40), [0, 1, 2]),
        ((12, 12), [1]),
        ((10, 10), [0]),
        ((99, 99), [2]),
    ],
)
def test_an_image_is_with_the_chunks_of_its_place(span: tuple[int, int], places: list[int]) -> None:
    """U1: with all that show a part of its page or slide, else with the one before it."""
    image = LoadedImage(data=picture("red"), start=span[0], end=span[1], page=3)
    found = attach_images(chunks((0, 10), (11, 20), (22, 40)), [image])

    assert [n for n, chunk in enumerate(found) if images_of(chunk.metadata)] == places
    assert attach_images([], [image]) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """T2: before anything is read, or at the image that cannot be kept."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ExternalError, match="image folder"):
        make_image_folder(str(tmp_path / "file" / "images"))
    with pytest.raises(ExternalError, match="image folder"):
        keep_image(picture("red"), str(tmp_path / "none"))


def test_the_figure_of_a_candidate_replays_from_search_to_text(tmp_path: Path) -> None:
    """U1: in a text format the figure is its caption."""
    (tmp_path / "mill.docx").write_bytes(word_file())
    with open_store(tmp_path / "store", embedder="hashing") as store:
        store.index(tmp_path / "mill.docx", images=tmp_path / "images")
        found = store.search(QUESTION).candidates
    context = assemble(QUESTION, found, budget=900)

    assert "Image: The wheel, from the yard" in context.text
