"""A store against a model that is a dictionary and some loops, over any history of writes."""

from __future__ import annotations

import math
import shutil
import tempfile
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from foveate.core.fuse import rrf
from foveate.core.text.terms import query_terms
from foveate.core.types import Candidate, Chunk, rank
from foveate.stores.int8 import quantise
from foveate.stores.rows import terms_to_index
from foveate.stores.sqlite.backup import backup
from foveate.stores.sqlite.check import check
from foveate.testing.store_corpus import EMBEDDER, PRINCIPALS, CorpusEntry, change_entry, corpus
from paper_bm25 import paper_bm25
from store_urls import opened

ENTRIES = corpus(5, 9)
NAMES = st.sampled_from([entry.document.id for entry in ENTRIES])
QUERIES = ("granite", "cold harbour lamp", "where does the river turn", "the of", "zzz")
DEPTH = 10


def versions(name: str) -> tuple[CorpusEntry, ...]:
    """The forms that a document takes: another text, other readers."""
    entry = next(entry for entry in ENTRIES if entry.document.id == name)
    closed = replace(entry.document, principals=("blue",))
    return entry, change_entry(entry), CorpusEntry(document=closed, chunks=entry.chunks)


def vector_of(text: str) -> list[int]:
    """The 8-bit vector that the store keeps, as whole numbers."""
    return quantise(EMBEDDER.embed([text]), rows=1, dimensions=EMBEDDER.dimensions)[0].tolist()


def cosine(a: list[int], b: list[int]) -> float:
    """From whole numbers, term by term."""
    squares = sum(x * x for x in a) * sum(x * x for x in b)
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(squares) if squares else 0.0


def bm25(chunks: list[Chunk], query: str) -> dict[str, float]:
    """Chunk id → score, where it is not zero."""
    texts = [terms_to_index({"text": one.text, "metadata": one.metadata}) for one in chunks]
    scores = paper_bm25(texts, query_terms(query))
    return {one.id: score for one, score in zip(chunks, scores, strict=True) if score}


def expected(chunks: list[Chunk], query: str) -> list[tuple[str, float]]:
    """(chunk id, fused score) of what a search must find, best first."""
    keys = {chunk.id: rank(Candidate(chunk=chunk))[1:] for chunk in chunks}
    ids = {key: name for name, key in keys.items()}
    direction = vector_of(query)
    near = {c.id: cosine(vector_of(c.text), direction) for c in chunks} if any(direction) else {}
    legs = []
    for scores in (near, {name: round(s, 6) for name, s in bm25(chunks, query).items()}):
        best = sorted(scores, key=lambda name: (-scores[name], keys[name]))
        legs.append([keys[name] for name in best[:DEPTH]])
    return [(ids[key], score) for key, score in rrf(legs)]


class Histories(RuleBasedStateMachine):
    """Puts, deletes, batches, compactions, copies, reopened stores, lost files."""

    @initialize()
    def begin(self) -> None:
        """An empty store."""
        self.folder = Path(tempfile.mkdtemp())
        self.store = opened(self.folder / "store")
        self.model: dict[str, CorpusEntry] = {}

    @rule(name=NAMES, form=st.integers(0, 2))
    def put(self, name: str, form: int) -> None:
        """A document comes, or comes again, in one of its forms."""
        entry = versions(name)[form]
        entry.put(self.store)
        self.model[name] = entry

    @rule(names=st.lists(NAMES, min_size=1, max_size=4), form=st.integers(0, 2))
    def put_together(self, names: list[str], form: int) -> None:
        """Several in one transaction."""
        with self.store.batch():
            for name in names:
                self.put(name, form)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        """A document goes; whether it was there is said."""
        assert self.store.delete(name) == (self.model.pop(name, None) is not None)

    @rule(name=NAMES)
    def give_up(self, name: str) -> None:
        """A batch that fails leaves nothing."""
        with suppress(KeyError), self.store.batch():
            self.store.delete(name)
            versions(name)[1].put(self.store)
            raise KeyError

    @rule(lost=st.booleans())
    def reopen(self, lost: bool) -> None:
        """Close and open, with the derived file or without it."""
        self.store.close()
        if lost:
            (self.folder / "store" / "vectors.bin").unlink(missing_ok=True)
        self.store = opened(self.folder / "store")

    @rule()
    def compact(self) -> None:
        """Nothing of it shows."""
        self.store.compact()

    @precondition(lambda self: self.model)
    @rule()
    def restore(self) -> None:
        """Go on in a copy."""
        backup(self.folder / "store", self.folder / "copy")
        self.store.close()
        shutil.rmtree(self.folder / "store")
        (self.folder / "copy").rename(self.folder / "store")
        self.store = opened(self.folder / "store")

    @rule(query=st.sampled_from(QUERIES), who=st.sampled_from(PRINCIPALS))
    def search(self, query: str, who: tuple[str, ...]) -> None:
        """What brute force finds among what one may read, in the same order."""
        chunks = [
            chunk
            for entry in self.model.values()
            if not entry.document.principals or set(entry.document.principals) & set(who)
            for chunk in entry.chunks
        ]
        vector = EMBEDDER.embed([query])[0]
        found = self.store.search(query, vector, limit=99, depth=DEPTH, principals=who)
        assert [(c.id, c.score) for c in found.candidates] == expected(chunks, query)
        scores = bm25(chunks, query)
        for c in found.candidates:
            assert c.lexical_score == (pytest.approx(scores[c.id]) if c.id in scores else None)
        by_vector = self.store.search("", vector, limit=10, depth=10, principals=who)
        best = sorted((cosine(vector_of(c.text), vector_of(query)) for c in chunks), reverse=True)
        assert [c.semantic_score for c in by_vector.candidates] == best[:10]

    @invariant()
    def holds_the_model(self) -> None:
        """The documents and the figures are the model's."""
        entries = sorted(self.model.values(), key=lambda entry: entry.document.id)
        hashes = [(e.document.id, e.document.content_hash) for e in entries]
        assert list(self.store.documents()) == hashes
        figures = self.store.stats(principals=("blue", "red"))
        assert figures.chunks == sum(len(entry.chunks) for entry in entries)

    def teardown(self) -> None:
        """At the end it is whole, and its root is that of a store without a history."""
        with closing(self.store), closing(opened(self.folder / "plain")) as plain:
            for name in sorted(self.model):
                self.model[name].put(plain)
            assert self.store.state_root() == plain.state_root()
            for who in PRINCIPALS:
                roots = [s.state_root(principals=who) for s in (self.store, plain)]
                assert roots[0] == roots[1]
        report = check(self.folder / "store")
        assert (report.findings, report.documents) == ((), len(self.model))
        shutil.rmtree(self.folder)


class TestHistories(Histories.TestCase):
    """T1, T4, D3: any history gives the answers, figures and root of what is there."""

    settings = settings(max_examples=25, stateful_step_count=25)
