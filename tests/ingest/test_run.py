"""Ingest: only what changed is written, what is gone is deleted, nothing bad stops the rest."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from foveate.core.errors import BadInput, BadOption, ExternalError
from foveate.core.types import Chunk
from foveate.ingest import Report, ingest
from foveate.ingest.prepare import origin_from_hash
from foveate.ports import Document, Embedder, Store
from foveate.providers.embedders import load_embedder
from foveate.providers.tokenizers.simple import Simple
from foveate.stores import open_store


@dataclass
class Memory:
    """A store that remembers, counts its writes, and fails when told to."""

    kept: dict[str, Document] = field(default_factory=dict)
    chunks: dict[str, list[Chunk]] = field(default_factory=dict)
    counts: dict[str, list[int]] = field(default_factory=dict)
    puts: list[str] = field(default_factory=list)
    fail_after: int = -1
    failure: BaseException | None = None
    refused: frozenset[str] = frozenset()

    def put(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        vectors: Any,
        counts: Sequence[int] = (),
        *,
        fingerprint: str = "",
    ) -> None:
        """Keep the document, or fail when it is time to."""
        if len(self.puts) == self.fail_after and self.failure is not None:
            raise self.failure
        self._refuse(document.id)
        assert fingerprint == Simple().fingerprint
        assert vectors is None or vectors.shape == (len(chunks), 256)
        self.puts.append(document.id)
        self.kept[document.id] = document
        self.chunks[document.id] = list(chunks)
        self.counts[document.id] = list(counts)

    def delete(self, document_id: str) -> bool:
        """Forget it."""
        self._refuse(document_id)
        return self.kept.pop(document_id, None) is not None

    def documents(self) -> Iterator[tuple[str, str]]:
        """What is kept, by id."""
        return iter([(key, self.kept[key].content_hash) for key in sorted(self.kept)])

    def _refuse(self, document_id: str) -> None:
        if document_id in self.refused:
            raise BadInput("is too much for this store")


class Asked:
    """An embedder that remembers what it was asked."""

    def __init__(self, inner: Embedder) -> None:
        self.inner, self.name, self.dimensions = inner, inner.name, inner.dimensions
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        """The inner one's vectors."""
        self.texts += texts
        return self.inner.embed(texts)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Three documents in a folder called docs."""
    root = tmp_path / "docs"
    (root / "sub").mkdir(parents=True)
    (root / "a.md").write_text("# Tea\n\nBoil the water. Wait three minutes.\n")
    (root / "b.txt").write_text("Coffee is made otherwise.\n")
    (root / "sub" / "c.html").write_text("<h1>Milk</h1><p>Cold, from the cow.")
    return root


def _ingest(paths: Any, store: Any, embedder: Embedder | None = None, **options: Any) -> Report:
    return ingest(paths, store, embedder, Simple(), **options)


def _tally(report: Report) -> tuple[int, int, int, int]:
    return (report.added, report.updated, report.unchanged, report.deleted)


def test_a_folder_is_indexed_with_places(docs: Path) -> None:
    """T2: documents have portable ids; chunks have offsets, sections, lines and counts."""
    store = Memory()
    report = _ingest(docs, store, load_embedder("hashing"))
    assert _tally(report) == (3, 0, 0, 0)
    assert report.chunks == 3
    assert sorted(store.kept) == ["docs/a.md", "docs/b.txt", "docs/sub/c.html"]
    (chunk,) = store.chunks["docs/a.md"]
    document = store.kept["docs/a.md"]
    assert (chunk.id, chunk.source, chunk.title) == ("docs/a.md#0", "docs/a.md", "Tea")
    assert (chunk.section, chunk.line, chunk.byte_offset) == ("Tea", 1, 0)
    assert document.text[chunk.start : chunk.end] == chunk.text
    assert store.counts["docs/a.md"] == [Simple().count(chunk.text)]
    assert store.chunks["docs/sub/c.html"][0].line is None


def test_only_what_changed_is_written(docs: Path) -> None:
    """T2, D3: a second run writes nothing, whenever a file was written; then what has changed."""
    store = Memory()
    _ingest(docs, store)
    assert store.kept["docs/a.md"].modified_at is None
    store.puts.clear()
    (docs / "a.md").touch()
    assert _tally(_ingest(docs, store)) == (0, 0, 3, 0)
    assert store.puts == []
    (docs / "a.md").write_text("# Tea\n\nBoil it twice.\n")
    (docs / "b.txt").unlink()
    (docs / "d.md").write_text("new")
    assert _tally(_ingest(docs, store)) == (1, 1, 1, 1)
    assert store.puts == ["docs/a.md", "docs/d.md"]
    assert "docs/b.txt" not in store.kept


@pytest.mark.parametrize(
    "options", [{"size": 100, "overlap": 0}, {"language": "nl"}, {"principals": ["staff"]}]
)
def test_other_settings_write_again(docs: Path, options: dict[str, Any]) -> None:
    """What would be chunked, counted or guarded otherwise is not taken for unchanged."""
    store = Memory()
    _ingest(docs, store)
    assert _tally(_ingest(docs, store, **options)) == (0, 3, 0, 0)
    assert _tally(_ingest(docs, store, **options)) == (0, 0, 3, 0)


def test_one_bad_file_does_not_stop_the_rest(docs: Path) -> None:
    """T2: what cannot be read is reported, keeps its last good state, and the rest go on."""
    store = Memory()
    _ingest(docs, store)
    (docs / "a.md").write_bytes(b"\x00\x01binary")
    (docs / "e.md").write_bytes(b"\xef\xf0\xe8")
    (docs / "p.png").write_bytes(b"")
    report = _ingest(docs, store)
    assert [(each.path, each.reason.partition(":")[0]) for each in report.failed] == [
        ("docs/a.md", "binary, not text"),
        ("docs/e.md", "not UTF-8"),
    ]
    assert [each.path for each in report.skipped] == ["docs/p.png"]
    assert _tally(report) == (0, 0, 2, 0)
    assert "docs/a.md" in store.kept


def test_a_broken_parser_is_one_bad_file(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """X2: whatever a loader raises is that file's failure."""

    def broken(text: str) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("foveate.ingest.loaders.html.parse_tags", broken)
    report = _ingest(docs, Memory())
    assert [each.path for each in report.failed] == ["docs/sub/c.html"]
    assert "RecursionError" in report.failed[0].reason
    assert report.added == 2


def _rows(path: Path, *rows: object) -> None:
    path.write_text(
        "".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows)
    )


def test_json_lines_are_documents_of_their_own(tmp_path: Path) -> None:
    """T2: each line is added, updated and deleted by itself; bad lines delete nothing."""
    path = tmp_path / "rows.jsonl"
    store = Memory()
    _rows(path, {"id": "x", "text": "one", "principals": ["staff"]}, {"text": "two"})
    assert _tally(_ingest(path, store, principals=["all"])) == (2, 0, 0, 0)
    assert [store.kept[key].principals for key in ("x", "rows.jsonl#2")] == [("staff",), ("all",)]
    assert store.chunks["rows.jsonl#2"][0].row == 2
    assert store.kept["rows.jsonl#2"].source == "rows.jsonl"
    _rows(path, {"id": "x", "text": "other"}, "nonsense\n", {"id": "y", "text": "three"})
    report = _ingest(path, store, principals=["all"])
    assert _tally(report) == (1, 1, 0, 0)
    assert report.failed[0].path == "rows.jsonl"
    assert report.failed[0].reason.startswith("line 2: ")
    _rows(path, {"id": "x", "text": "other"})
    assert _tally(_ingest(path, store, principals=["all"])) == (0, 0, 1, 2)
    assert sorted(store.kept) == ["x"]


def test_front_matter_says_who_may_read(tmp_path: Path) -> None:
    """I4, T2: of a Markdown file and its chunks; one that is unclear is named."""
    store = Memory()
    for name, said in (("a", "[boss]"), ("b", ""), ("c", "boss")):
        (tmp_path / f"{name}.md").write_text(f"---\nprincipals: {said}\n---\nThe vault is blue.")
    report = _ingest(tmp_path, store, principals=["all"])
    readers = {Path(key).name: one.principals for key, one in store.kept.items()}
    assert readers == {"a.md": ("boss",), "b.md": ("all",)}
    found = {Path(key).name: chunks[0].principals for key, chunks in store.chunks.items()}
    assert found == readers
    (failed,) = report.failed
    assert Path(failed.path).name == "c.md"
    assert "as a list" in failed.reason


def test_one_id_has_one_owner(tmp_path: Path) -> None:
    """An id that is taken, in this run or by another origin, is refused and left as it is."""
    store = Memory()
    store.put(Document(id="x", source="api", text="t"), [], None, fingerprint=Simple().fingerprint)
    (tmp_path / "d").mkdir()
    _rows(tmp_path / "d" / "a.jsonl", {"id": "x", "text": "1"}, {"id": "y", "text": "2"})
    _rows(tmp_path / "d" / "b.jsonl", {"id": "y", "text": "3"})
    report = _ingest(tmp_path / "d", store)
    assert [each.reason.partition(";")[0] for each in report.failed] == [
        "field 'id': 'x' is in the store from another writer",
        "field 'id': 'y' is taken by d/a.jsonl",
    ]
    assert (store.kept["x"].source, store.kept["y"].text) == ("api", "2")


def test_several_roots_leave_each_other_alone(docs: Path, tmp_path: Path) -> None:
    """Only documents that came from the paths given are deleted."""
    other = tmp_path / "more"
    other.mkdir()
    (other / "a.md").write_text("more")
    store = Memory()
    _ingest([docs, other], store)
    assert len(store.kept) == 4
    (docs / "a.md").unlink()
    (other / "a.md").unlink()
    assert _ingest(docs, store).deleted == 1
    assert "more/a.md" in store.kept
    assert _ingest([docs, other], store).deleted == 1


def test_roots_of_one_name_are_refused(docs: Path, tmp_path: Path) -> None:
    """Two folders of one name would be one in the store; nothing is written."""
    twin = tmp_path / "x" / "docs"
    twin.mkdir(parents=True)
    store = Memory()
    with pytest.raises(BadOption, match="two of the paths are called 'docs'"):
        _ingest([docs, twin], store)
    with pytest.raises(BadInput, match="no such file"):
        _ingest([docs, tmp_path / "nowhere"], store)
    assert store.puts == []


def _texts(store: Memory) -> dict[str, str]:
    return {key: document.text for key, document in store.kept.items()}


def test_another_folder_of_the_same_name_is_refused(docs: Path, tmp_path: Path) -> None:
    """T2: `b/docs` neither deletes nor overwrites what `a/docs` brought; nothing is written."""
    twin = tmp_path / "x" / "docs"
    twin.mkdir(parents=True)
    (twin / "a.md").write_text("Other tea.")
    (twin / "rows.jsonl").write_text('{"id": "x", "text": "one"}')
    store = Memory()
    _ingest(docs, store)
    before = _texts(store)
    store.puts.clear()
    with pytest.raises(BadOption, match="another place called 'docs/'.*the folder that holds both"):
        _ingest(twin, store)
    assert (_texts(store), store.puts) == (before, [])
    assert _tally(_ingest(docs, store)) == (0, 0, 3, 0)
    both = Memory()
    assert _ingest(tmp_path, both).failed == ()
    assert len(both.kept) == 5


def test_another_file_of_the_same_name_is_refused(docs: Path, tmp_path: Path) -> None:
    """T2: two files called alike that are given by themselves do not overwrite each other."""
    (tmp_path / "a.md").write_text("Other tea.")
    store = Memory()
    _ingest(docs / "a.md", store)
    with pytest.raises(BadOption, match="another place called 'a.md'"):
        _ingest(tmp_path / "a.md", store)
    assert _texts(store) == {"a.md": (docs / "a.md").read_text()}
    assert _tally(_ingest(docs / "a.md", store)) == (0, 0, 1, 0)


def test_a_store_that_does_not_say_where_from_is_refused(docs: Path) -> None:
    """Documents whose folder is not known may be of another one."""
    store = Memory()
    _ingest(docs, store)
    for key, document in store.kept.items():
        short = document.content_hash.rpartition("@")[0]
        store.kept[key] = replace(document, content_hash=short)
    with pytest.raises(BadOption, match="delete the store and index again"):
        _ingest(docs, store)


def test_no_path_enters_the_store(docs: Path, tmp_path: Path) -> None:
    """D3: the bookkeeping is a digest; a file's name may have an at sign."""
    (docs / "me@home.md").write_text("Hello.")
    store = Memory()
    _ingest(docs, store)
    hashes = [document.content_hash for document in store.kept.values()]
    assert all(tmp_path.name not in each for each in hashes)
    assert origin_from_hash(store.kept["docs/me@home.md"].content_hash) == "docs/me@home.md"
    assert _tally(_ingest(docs, store)) == (0, 0, 4, 0)


def test_what_the_store_refuses_is_one_failure(docs: Path) -> None:
    """T2, X2: a document that the store refuses, at writing or deleting, is told; others go on."""
    store = Memory(refused=frozenset({"docs/a.md"}))
    report = _ingest(docs, store)
    assert _tally(report) == (2, 0, 0, 0)
    assert [(each.path, each.reason) for each in report.failed] == [
        ("docs/a.md", "is too much for this store")
    ]
    store.refused = frozenset({"docs/b.txt"})
    for name in ("b.txt", "sub/c.html"):
        (docs / name).unlink()
    report = _ingest(docs, store)
    assert _tally(report) == (1, 0, 0, 1)
    assert [(each.path, each.reason) for each in report.failed] == [
        ("docs/b.txt", "'docs/b.txt': is too much for this store")
    ]


def test_a_broken_store_stops_at_deleting(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """T5: a failure of the store itself is not taken for one of a document."""
    store = Memory()
    _ingest(docs, store)
    (docs / "a.md").unlink()

    def broken(identity: str) -> bool:
        raise ExternalError(f"the store is gone: {identity}")

    monkeypatch.setattr(store, "delete", broken)
    with pytest.raises(ExternalError, match="the store is gone"):
        _ingest(docs, store)


def test_an_id_like_a_line_number_is_an_id(tmp_path: Path) -> None:
    """T2: what a line says its id is stays as it is, and takes no other line's."""
    path = tmp_path / "rows.jsonl"
    _rows(path, {"id": "#2", "text": "one"}, {"text": "two"})
    store = Memory()
    report = _ingest(path, store)
    assert (_tally(report), report.failed) == ((2, 0, 0, 0), ())
    assert _texts(store) == {"#2": "one", "rows.jsonl#2": "two"}
    assert [store.kept[key].source for key in ("#2", "rows.jsonl#2")] == ["#2", "rows.jsonl"]


@pytest.mark.parametrize(
    ("failure", "raised"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), ExternalError),
        (ExternalError("the disk is full"), ExternalError),
        (KeyboardInterrupt("the disk is full"), KeyboardInterrupt),
    ],
)
def test_a_stopped_run_leaves_whole_documents_and_the_next_one_goes_on(
    docs: Path, failure: BaseException, raised: type[BaseException]
) -> None:
    """T5: a full disk, or a kill between two documents; the next run writes the rest only."""
    store = Memory(fail_after=1, failure=failure)
    with pytest.raises(raised, match="disk is full"):
        _ingest(docs, store)
    assert sorted(store.kept) == ["docs/a.md"]
    store.failure = None
    assert _tally(_ingest(docs, store)) == (2, 0, 1, 0)


def test_progress_is_told(docs: Path) -> None:
    """T2: after each file, how many of how many, and which."""
    told: list[tuple[int, int, str]] = []
    _ingest(docs, Memory(), on_progress=lambda *step: told.append(step))
    assert told == [(1, 3, "docs/a.md"), (2, 3, "docs/b.txt"), (3, 3, "docs/sub/c.html")]


def test_empty_files_are_documents_without_chunks(tmp_path: Path) -> None:
    """X2: an empty file is no error."""
    path = tmp_path / "empty.md"
    path.write_text("")
    store = Memory()
    report = _ingest(path, store, load_embedder("hashing"))
    assert (_tally(report), report.chunks, report.failed) == ((1, 0, 0, 0), 0, ())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """The embedded store, empty."""
    embedder = load_embedder("hashing")
    opened = open_store(
        tmp_path / "store", embedder_name=embedder.name, dimensions=embedder.dimensions
    )
    yield opened
    opened.close()


def test_the_embedded_store_finds_what_was_ingested(docs: Path, store: Store) -> None:
    """T2: from a folder to a search; token counts are there; a second run changes no state."""
    embedder = load_embedder("hashing")
    report = _ingest(docs, store, embedder)
    assert (_tally(report), report.failed) == ((3, 0, 0, 0), ())
    root = store.state_root()
    found = store.search("boil water", embedder.embed(["boil water"])[0], limit=1)
    chunk = found.candidates[0].chunk
    assert (chunk.id, chunk.section, chunk.line) == ("docs/a.md#0", "Tea", 1)
    counts = store.counts(Simple().fingerprint, [chunk.content_hash])
    assert counts == {chunk.content_hash: Simple().count(chunk.text)}
    assert _tally(_ingest(docs, store, embedder)) == (0, 0, 3, 0)
    assert store.state_root() == root


def test_front_matter_is_kept_as_metadata(tmp_path: Path, store: Store) -> None:
    """T2: it is found by no word of its own and shown to nobody; the document stays whole."""
    text = "---\ntitle: Green tea\ntags: [leaf, cup]\nlayout: wide\n---\n\nBoil the water first.\n"
    (tmp_path / "tea.md").write_text(text)
    _ingest(tmp_path / "tea.md", store, load_embedder("hashing"))
    found = store.search("wide layout boil", load_embedder("hashing").embed(["boil"])[0], limit=5)
    (chunk,) = (each.chunk for each in found.candidates)
    assert (chunk.text, chunk.title, chunk.line) == ("Boil the water first.", "Green tea", 7)
    assert text[chunk.start : chunk.end] == chunk.text
    assert (chunk.metadata["tags"], chunk.metadata["layout"]) == (["leaf", "cup"], "wide")
    assert store.search("layout", None, limit=5).candidates == ()


def test_the_state_depends_on_content_alone(docs: Path, store: Store, tmp_path: Path) -> None:
    """D3: another order of writing, other times and a detour give the same state root."""
    embedder = load_embedder("hashing")
    _ingest(docs, store, embedder)
    other = open_store(
        tmp_path / "other", embedder_name=embedder.name, dimensions=embedder.dimensions
    )
    (docs / "z.md").write_text("for a while")
    text = (docs / "a.md").read_text()
    (docs / "a.md").write_text("something else")
    _ingest(docs, other, embedder)
    (docs / "z.md").unlink()
    (docs / "a.md").write_text(text)
    _ingest(docs, other, embedder)
    assert other.state_root() == store.state_root()
    other.close()
