"""Files without a suffix are texts; the report names other encodings."""

from __future__ import annotations

from pathlib import Path

import pytest

from foveate.core.errors import UnknownName
from foveate.ingest import Report, ingest
from foveate.providers.tokenizers.simple import Simple
from foveate.stores import open_store


def _index(root: Path, store: str, encoding: str = "") -> tuple[Report, dict[str, str]]:
    """The report, and the encoding that each document's chunks have in the store."""
    opened = open_store(str(root.parent / store), embedder_name="", dimensions=0, create=True)
    try:
        report = ingest(root, opened, None, Simple(), encoding=encoding)
        found = opened.search("valve", None).candidates
        chunks = {each.chunk.document_id: each.chunk.metadata.get("encoding", "") for each in found}
    finally:
        opened.close()
    return report, chunks


def test_store_and_report_name_the_encoding(tmp_path: Path) -> None:
    """T2: a file without a suffix is read, and one that is not UTF-8 is named with its encoding."""
    root = tmp_path / "docs"
    root.mkdir()
    (root / "README").write_text("The valve.")
    (root / "old.txt").write_bytes("The valve: 3 bar, été.".encode("cp1252"))

    report, chunks = _index(root, "one")

    assert not report.failed
    assert report.added == 2
    assert [(each.path, each.reason) for each in report.encodings] == [
        ("docs/old.txt", "read as windows-1252")
    ]
    assert chunks["docs/old.txt"] == "windows-1252"
    assert chunks["docs/README"] == ""


def test_a_named_encoding_is_used_and_read_again_if_it_changes(tmp_path: Path) -> None:
    """T2: what another name makes of the same bytes is another text."""
    root = tmp_path / "docs"
    root.mkdir()
    (root / "a.txt").write_bytes("valve клапан".encode("cp1251"))

    refused, _ = _index(root, "one")
    first, chunks = _index(root, "one", "windows-1251")
    again, _ = _index(root, "one", "windows-1251")
    other, _ = _index(root, "one", "koi8-r")

    assert "--encoding" in refused.failed[0].reason
    assert (first.added, chunks) == (1, {"docs/a.txt": "cp1251"})
    assert (again.unchanged, other.updated) == (1, 1)
    with pytest.raises(UnknownName, match="unknown encoding 'klingon'"):
        _index(root, "one", "klingon")
