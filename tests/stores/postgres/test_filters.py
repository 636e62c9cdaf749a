from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from foveate.core.errors import BadInput, FoveateError
from foveate.core.types import Chunk
from foveate.ports import Document
from foveate.stores import open_store

METADATA = {
    "lang": "nl", "n": 1, "x": 2.5, "ok": True, "no": None, "tags": ["a", 3, False],
    "deep": {"a": 1}, "it's": '%"\\', "long": "é" * 500, "big": 2**62, "%s": "{}",
}  # fmt: skip
FILTERS = (
    *({"lang": "nl"}, {"lang": "NL"}, {"lang": ["x", "nl"]}, {"lang": "nl\0"}, {"lang": "\ud800"}),
    *({"n": 1}, {"n": 1.0}, {"n": True}, {"n": "1"}, {"x": 2.5}, {"x": 2}, {"ok": True}, {"ok": 1}),
    *({"ok": "true"}, {"tags": "a"}, {"tags": 3}, {"tags": False}, {"tags": 0}, {"tags": ["b", 3]}),
    *({"deep": 1}, {"a": 1}, {"it's": '%"\\'}, {"long": "é" * 500}, {"long": "é" * 499}),
    *({"big": 2**62}, {"big": float(2**62)}, {"%s": "{}"}, {"no": "None"}, {"no": "null"}),
    *({"page": 2}, {"page": "2"}, {"page": 2.0}, {"page": 2.5}, {"page": "two"}, {"page": True}),
    *({"page": " 2.0 "}, {"row": 1}, {"line": "7"}, {"sequence": 0}, {"sequence": False}),
    *({"title": 5}, {"title": "5"}, {"title": True}, {"source": "s%"}, {"section": "s\0"}),
    *({"id": "c\0"}, {"id": "c"}, {"document_id": ["d", "\ud800"]}, {"lang\0": "nl"}, {}),
    *({"page": 2**63}, {"big": -(2**63) - 1}, {"lang": None}, {"page": [None]}, {"title": []}),
)


def outcome(store, where):
    """How many are found, or how it is refused."""
    try:
        return len(store.search("lamp", None, where=where).candidates)
    except (FoveateError, UnicodeEncodeError) as error:
        return type(error).__name__


def test_filters_mean_what_they_mean_in_a_folder(new_schema, tmp_path: Path):
    """T4, X1: every kind of value on columns and metadata: the same is found, or refused."""
    document = Document(id="d", source="s%", text="lamp", title="5", metadata=METADATA)
    chunk = Chunk(
        text="lamp", id="c", document_id="d", source="s%", page=2, row=1, line=7, section="s"
    )
    with closing(open_store(new_schema())) as server, closing(open_store(tmp_path)) as folder:
        for store in (server, folder):
            store.put(document, [chunk], None)
        seen = {repr(where): outcome(server, where) for where in FILTERS}
        # A folder's engine cannot be asked for half of a surrogate pair; here it finds nothing.
        expected = {repr(where): outcome(folder, where) for where in FILTERS}
        known = {key: value for key, value in expected.items() if value != "UnicodeEncodeError"}
        assert {key: seen[key] for key in known} == known
        assert sum(value == 1 for value in seen.values()) > 20
        assert len(known) > 50


@pytest.mark.parametrize("bad", ["a\0b", "a\ud800b"])
def test_what_the_server_cannot_hold_is_refused_by_field(new_schema, bad: str):
    """X2: on writing it is bad input with its field; asked for, it is not there."""
    with closing(open_store(new_schema())) as store:
        for field in ("id", "source", "title", "summary", "content_hash"):
            fields = {"id": "d", "source": "d", "text": "x", field: bad}
            with pytest.raises(BadInput, match="PostgreSQL cannot keep"):
                store.put(Document(**fields), [], None)
        if "\0" in bad:
            document = Document(id="d", source="d", text=bad)
            with pytest.raises(BadInput, match="field 'text'.*PostgreSQL cannot keep"):
                store.put(document, [Chunk(text=bad, document_id="d")], None)
        assert store.document(bad) is None
        assert not store.delete(bad)
        assert store.neighbours([(bad, 0)], 1) == []
        assert store.counts(bad, [bad]) == {}
        store.remember(bad, {bad: 1})
        assert list(store.documents()) == []


def test_what_is_too_large_is_refused(new_schema):
    """X2: names beyond an index page change nothing; numbers beyond 64 bits are not there."""
    with closing(open_store(new_schema(), embedder_name="e", dimensions=2)) as store:
        root = store.state_root()
        name = "".join(chr(0x4E00 + (i * 7919) % 20000) for i in range(4000))
        with pytest.raises(BadInput, match="too long"):
            store.put(Document(id=name, source="d", text="x"), [], np.zeros((0, 2)))
        assert store.neighbours([("d", 2**70)], 1) == []
        with pytest.raises(BadInput, match="embedding"):
            store.search("x", [1.0, 2.0, 3.0])
        assert store.state_root() == root
