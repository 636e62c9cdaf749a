from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

from foveate.core.errors import BadInput, ExternalError
from foveate.core.types import Chunk
from foveate.ingest import ingest
from foveate.ingest.document_task import EMBED_BATCH, PreparedDocument
from foveate.ingest.run_state import MAX_CHARACTERS, MAX_CHUNKS, MODEL_BATCH, is_full
from foveate.plugins import tokenizer
from foveate.ports import Document
from foveate.stores import open_store

TOKENIZER = tokenizer("simple")


def part(*, chunks=1, text="word", vectors=False):
    """A document of so many chunks."""
    document = Document(id="a", source="a", text=text)
    pieces = tuple(Chunk(text=f"{i}", document_id="a", source="a") for i in range(chunks))
    made = np.zeros((chunks, 2)) if vectors else None
    return PreparedDocument(document=document, chunks=pieces, counts=(1,) * chunks, vectors=made)


@pytest.mark.parametrize(
    ("options", "each", "most"),
    [
        ({"at_once": 1}, {}, 1),
        ({"at_once": 7}, {}, 7),
        ({"at_once": 7, "embeds": True}, {}, EMBED_BATCH),
        ({"at_once": 7, "embeds": True}, {"vectors": True}, 7),
        ({"at_once": 256, "describes": True}, {}, MODEL_BATCH),
        ({"at_once": 256}, {"chunks": MAX_CHUNKS // 4}, 4),
        ({"at_once": 256}, {"text": "x" * (MAX_CHARACTERS // 8)}, 8),
    ],
)
def test_what_waits_has_a_bound(options, each, most):
    """T2, X2: documents, chunks, characters and texts to embed are bounded."""
    one = part(**each)
    times = [is_full([one] * count, **options) for count in range(1, most + 1)]
    assert times == [False] * (most - 1) + [True]


@pytest.fixture
def folder(tmp_path):
    """Twenty short files."""
    (tmp_path / "in").mkdir()
    for number in range(20):
        (tmp_path / "in" / f"{number:02}.txt").write_text(
            f"Boiler {number} stands in room {number}."
        )
    return tmp_path / "in"


@pytest.mark.parametrize("kind", ["", "lance:"])
def test_many_documents_are_few_transactions_and_the_same_store(folder, tmp_path, kind):
    """T2, T5: report and root do not depend on it; eight documents are one transaction."""
    reports, roots, batches = [], [], []
    for at_once in (1, 8):
        with open_store(f"{kind}{tmp_path}/s{at_once}") as store:
            begun = getattr(store, "version", 0)
            batch, calls = store.batch, []
            store.batch = lambda batch=batch, calls=calls: (calls.append("begun"), batch())[1]
            reports.append(ingest(folder, store, None, TOKENIZER, at_once=at_once))
            roots.append(store.state_root())
            batches.append(len(calls))
            if kind and at_once > 1:
                assert store.version == begun + 3
    assert reports[0] == reports[1]
    assert reports[0].added == 20
    assert roots[0] == roots[1]
    assert batches[1] - batches[0] == 3  # a store may write a single document as a batch


def test_what_is_refused_when_the_batch_ends_is_one_failure(folder, tmp_path):
    """T2, T5: where another writer took an id meanwhile, the others of the batch go in without."""

    class Meeting:
        """A store in which one document meets another writer's, as is known at the end alone."""

        def __init__(self, store):
            self.store, self.met, self.inside = store, False, False

        def __getattr__(self, name):
            return getattr(self.store, name)

        @contextmanager
        def batch(self):
            self.met, self.inside = False, True
            try:
                with self.store.batch():
                    yield
                    if self.met:
                        raise BadInput("taken")
            finally:
                self.inside = False

        def put(self, document, *rest, **options):
            if document.id == "in/07.txt":
                if not self.inside:
                    raise BadInput("its chunk is taken")
                self.met = True
            self.store.put(document, *rest, **options)

    with open_store(tmp_path / "s") as store:
        report = ingest(folder, Meeting(store), None, TOKENIZER, at_once=8)
        assert (report.added, report.chunks) == (19, 19)
        assert [(f.path, f.reason) for f in report.failed] == [("in/07.txt", "its chunk is taken")]
        assert len(list(store.documents())) == 19


def test_a_stopped_run_loses_its_last_batch_alone(folder, tmp_path):
    """T2, T5: what earlier transactions wrote stays, and the next run does only the rest."""
    with open_store(tmp_path / "s") as store:
        put, written = store.put, []

        def failing(document, *rest, **options):
            if len(written) == 13:
                raise OSError(28, "No space left on device")
            written.append(document.id)
            put(document, *rest, **options)

        store.put = failing
        with pytest.raises(ExternalError, match=r"disk is full.*earlier transactions wrote was"):
            ingest(folder, store, None, TOKENIZER, at_once=8)
        assert [name for name, _ in store.documents()] == written[:8]
        store.put = put
        report = ingest(folder, store, None, TOKENIZER, at_once=8)
        assert (report.added, report.unchanged) == (12, 8)


def test_what_is_gone_is_deleted_in_batches(folder, tmp_path):
    """T2: deleting too holds other writers up for a batch at the most."""
    with open_store(f"lance:{tmp_path}/s") as store:
        ingest(folder, store, None, TOKENIZER, at_once=20)
        before = store.version
        for number in range(18):
            (folder / f"{number:02}.txt").unlink()
        assert ingest(folder, store, None, TOKENIZER, at_once=8).deleted == 18
        assert store.version == before + 3
        assert [name for name, _ in store.documents()] == ["in/18.txt", "in/19.txt"]
