"""The walk: sorted names, nothing left out in silence but hidden files, nothing outside."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from foveate.core.errors import BadInput
from foveate.ingest import ingest, load
from foveate.ingest import walk as walking
from foveate.ingest.document_task import PartsByTask, Preparer, Task
from foveate.ingest.run import Engine, prepare_in_process
from foveate.ingest.walk import walk
from foveate.plugins import tokenizer
from foveate.stores import open_store

TEXT = frozenset({".md", ".txt"})


def _tree(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return root


def test_names_are_sorted_and_say_nothing_of_where_the_folder_is(tmp_path: Path) -> None:
    """T2: names are the folder's and the path in it, with forward slashes, in one order."""
    root = _tree(tmp_path / "docs", "b.md", "a/z.md", "a/b/c.txt", "B.MD", "é.md")
    found = walk(root, TEXT)
    names = [file.name for file in found.files]
    assert names == ["docs/B.MD", "docs/a/b/c.txt", "docs/a/z.md", "docs/b.md", "docs/é.md"]
    assert found.scope == "docs/"
    assert all(file.path.read_text() for file in found.files)


def test_what_is_left_out_is_told_but_for_hidden_files(tmp_path: Path) -> None:
    """Unknown suffixes are skipped with the reason; hidden files and folders in silence.

    A file without a suffix may be a text.
    """
    root = _tree(tmp_path / "docs", "a.md", "p.png", "LICENSE", ".hidden.md", ".git/x.md")
    found = walk(root, TEXT)
    assert [file.name for file in found.files] == ["docs/LICENSE", "docs/a.md"]
    assert [(each.path, each.reason) for each in found.skipped] == [
        ("docs/p.png", "no loader for .png"),
    ]


def test_links_do_not_lead_out(tmp_path: Path) -> None:
    """X5: a link out of the folder, to a folder or to nothing is skipped; one inside is read."""
    _tree(tmp_path, "secret.md")
    root = _tree(tmp_path / "docs", "a.md", "sub/b.md")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "in.md").symlink_to(root / "a.md")
    (root / "loop").symlink_to(root)
    (root / "gone.md").symlink_to(root / "nothing.md")
    (root / "self.md").symlink_to(root / "self.md")
    found = walk(root, TEXT)
    assert [file.name for file in found.files] == ["docs/a.md", "docs/in.md", "docs/sub/b.md"]
    reasons = {each.path: each.reason for each in found.skipped}
    assert reasons["docs/out.md"] == "a link out of the folder"
    assert reasons["docs/loop"] == "a link to a folder"
    assert reasons["docs/gone.md"].startswith("a broken link")
    assert reasons["docs/self.md"].startswith("a broken link")


def test_pipes_are_not_opened(tmp_path: Path) -> None:
    """X2: what is no regular file is skipped, not waited for."""
    root = _tree(tmp_path / "docs", "a.md")
    os.mkfifo(root / "pipe.md")
    found = walk(root, TEXT)
    assert [(each.path, each.reason) for each in found.skipped] == [
        ("docs/pipe.md", "not a regular file")
    ]
    assert walk(root / "pipe.md", TEXT).failed[0].reason == "not a regular file"


def test_unreadable_folders_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that cannot be listed is a failure, and the others are read."""
    root = _tree(tmp_path / "docs", "a.md", "sub/b.md")
    scan = os.scandir

    def refusing(path: Path) -> object:
        if Path(path).name == "sub":
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(walking.os, "scandir", refusing)
    found = walk(root, TEXT)
    assert [file.name for file in found.files] == ["docs/a.md"]
    assert [(each.path, each.reason) for each in found.failed] == [
        ("docs/sub/", "Permission denied")
    ]


def test_a_file_is_its_own_scope_and_nothing_is_an_error(tmp_path: Path) -> None:
    """A file given by itself has its own name; a path that is not there is bad input."""
    root = _tree(tmp_path / "docs", "a.md")
    found = walk(root / "a.md", TEXT)
    assert (found.scope, [file.name for file in found.files]) == ("a.md", ["a.md"])
    with pytest.raises(BadInput, match="no such file or folder"):
        walk(root / "b.md", TEXT)


def test_names_that_are_not_utf_8_are_told_in_print(tmp_path: Path) -> None:
    """X2: a folder or file so named is skipped with its reason, and as a root it is a failure."""
    root = _tree(tmp_path / "docs", "a.md")
    for name in (b"d\xff", b"e\xff"):
        (root / os.fsdecode(name)).mkdir()
    bad = root / os.fsdecode(b"d\xff")
    (bad / "b.md").write_text("b")
    (root / os.fsdecode(b"c\xfe.md")).write_text("c")
    found = walk(root, TEXT)
    assert [file.name for file in found.files] == ["docs/a.md"]
    assert [(each.path, each.reason) for each in found.skipped] == [
        ("docs/c\\xfe.md", "the name is not UTF-8"),
        ("docs/d\\xff/", "the name is not UTF-8"),
        ("docs/e\\xff/", "the name is not UTF-8"),
    ]
    for path, called in ((bad, "d\\xff/"), (root / os.fsdecode(b"c\xfe.md"), "c\\xfe.md")):
        alone = walk(path, TEXT)
        assert alone.files == ()
        assert [(each.path, each.reason) for each in alone.failed] == [
            (called, "the name is not UTF-8")
        ]


def test_where_a_path_is_tells_scopes_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T2: a root is one however it is written, another for another place, and names no path."""
    for place in ("x", "y"):
        _tree(tmp_path / place / "docs", "a.md")
    monkeypatch.chdir(tmp_path / "x")
    (tmp_path / "link").symlink_to(tmp_path / "x" / "docs")
    written = [Path("docs"), Path("docs/../docs/"), tmp_path / "x" / "docs", tmp_path / "link"]
    assert {walk(path, TEXT).scope for path in written} == {"docs/"}
    roots = {walk(path, TEXT).root for path in written}
    assert len(roots) == 1
    assert walk(tmp_path / "y" / "docs", TEXT).root not in roots
    assert {file.root for file in walk(Path("docs"), TEXT).files} == roots
    assert walk(Path("docs/a.md"), TEXT).root == walk(tmp_path / "x/docs/a.md", TEXT).root
    assert "/" not in roots.pop()


def _swapping(swap: Callable[[], object]) -> Engine:
    """An engine before which something happens: the folder has been listed, no file is open."""

    def prepared(preparer: Preparer, tasks: Sequence[Task]) -> PartsByTask:
        swap()
        return prepare_in_process(preparer, tasks)

    return prepared


def _to_link(path: Path, target: Path) -> Callable[[], object]:
    def swap() -> None:
        path.rename(path.with_name(f".{path.name}"))
        path.symlink_to(target)

    return swap


def _to_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("swapped", ["a.md", "sub", "sub/b.md", "target.md"])
def test_what_becomes_a_link_after_the_walk_is_not_followed(tmp_path: Path, swapped: str) -> None:
    """X5, X2: a file or folder that is swapped for a link before it is opened is reported."""
    outside = _tree(tmp_path / "outside", "a.md", "b.md", "target.md")
    root = _tree(tmp_path / "docs", "a.md", "sub/b.md", "target.md")
    (root / "in.md").symlink_to(root / "target.md")
    target = outside if swapped == "sub" else outside / Path(swapped).name
    with open_store(tmp_path / "store") as store:
        engine = _swapping(_to_link(root / swapped, target))
        report = ingest(root, store, None, tokenizer("simple"), engine=engine)
        stored = {name: store.document(name).text for name, _ in store.documents()}
    refused = {
        "a.md": ["docs/a.md"],
        "sub": ["docs/sub/b.md"],
        "sub/b.md": ["docs/sub/b.md"],
        "target.md": ["docs/in.md", "docs/target.md"],
    }[swapped]
    every = {"docs/a.md": "a.md", "docs/sub/b.md": "sub/b.md", "docs/target.md": "target.md"}
    every["docs/in.md"] = "target.md"
    assert stored == {name: text for name, text in every.items() if name not in refused}
    assert [failure.path for failure in report.failed] == refused
    assert {failure.reason for failure in report.failed} == {
        "replaced by a link since the folder was listed; not followed"
    }


def test_what_becomes_a_pipe_after_the_walk_is_not_waited_for(tmp_path: Path) -> None:
    """X2: what was opened is looked at, so a pipe in a file's place is reported."""
    root = _tree(tmp_path / "docs", "a.md", "b.md")
    with open_store(tmp_path / "store") as store:
        engine = _swapping(lambda: _to_pipe(root / "a.md"))
        report = ingest(root, store, None, tokenizer("simple"), engine=engine)
    assert [(f.path, f.reason) for f in report.failed] == [("docs/a.md", "not a regular file")]
    assert report.added == 1


def test_where_the_system_does_not_say_what_was_opened_the_path_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T2, X5: files are read all the same, and links out of the folder are not."""
    monkeypatch.setattr(load, "_DESCRIPTORS", tmp_path / "none")
    root = _tree(tmp_path / "docs", "a.md", "sub/b.md")
    swap = _to_link(root / "a.md", _tree(tmp_path / "outside", "a.md") / "a.md")
    with open_store(tmp_path / "store") as store:
        report = ingest(root, store, None, tokenizer("simple"), engine=_swapping(swap))
    assert (report.added, [failure.path for failure in report.failed]) == (1, ["docs/a.md"])
