"""Documents for the store laws: of our own making, the same for the same seed. No laws here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from random import Random
from typing import Any, TypeAlias

from foveate.core.types import Chunk
from foveate.ports import QUESTIONS, Document, Store
from foveate.providers.embedders.local import HashingEmbedder

EMBEDDER = HashingEmbedder(dimensions=64)
"""Open the stores under test with its name and its dimensions."""

PRINCIPALS: tuple[tuple[str, ...], ...] = ((), ("red",), ("blue",), ("blue", "red"))
_VOCABULARY = """
amber boat cold dune ember field granite harbour iron juniper kettle lamp meadow north oak path
quarry river stone turn umber valley willow yard the of and where does a it is in
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusEntry:
    """What one `put` takes."""

    document: Document
    chunks: tuple[Chunk, ...]

    def put(self, store: Store) -> None:
        """Write it."""
        vectors = EMBEDDER.embed([chunk.text for chunk in self.chunks])
        store.put(self.document, self.chunks, vectors, [7] * len(self.chunks), fingerprint="f1")


Entries: TypeAlias = Sequence[CorpusEntry]


def fill(store: Store, entries: Iterable[CorpusEntry]) -> Store:
    """The store with these entries in it."""
    for entry in entries:
        entry.put(store)
    return store


def corpus(seed: int = 0, count: int = 12) -> tuple[CorpusEntry, ...]:
    """`count` documents of one to eight chunks, some for certain principals alone."""
    random = Random(seed)  # noqa: S311 - texts, not secrets
    return tuple(_build_entry(random, number) for number in range(count))


def _build_entry(random: Random, number: int) -> CorpusEntry:
    pieces = [_random_sentence(random) for _ in range(random.randint(1, 8))]
    document = Document(
        id=f"d{number:02}",
        source=f"notes/{random.choice('xyz')}/{number}.md",
        text="".join(pieces),
        title=f"Note {number}",
        summary=pieces[0],
        modified_at=datetime(2024, 1, 1 + number % 28, tzinfo=UTC),
        principals=PRINCIPALS[number % 4],
        content_hash=f"h{number}",
    )
    metadata = {"lang": random.choice(["en", "nl"]), "tags": ["x", "y"][: number % 3]}
    if number % 3 == 1:
        metadata[QUESTIONS] = [f"Where is the {_VOCABULARY.split()[number % 20]}?", "And why?"]
    return CorpusEntry(document=document, chunks=_cut_chunks(document, pieces, metadata))


def _cut_chunks(
    document: Document, pieces: Sequence[str], metadata: dict[str, Any]
) -> tuple[Chunk, ...]:
    chunks, at = [], 0
    for sequence, text in enumerate(pieces):
        chunk = Chunk(
            text=text,
            document_id=document.id,
            source=document.source,
            sequence=sequence,
            start=at,
            end=at + len(text),
            byte_offset=len(document.text[:at].encode()),
            page=1 + sequence % 3,
            section=f"Part {sequence // 2}",
            row=sequence if sequence % 2 else None,
            line=sequence + 1,
            metadata=metadata,
        )
        chunks.append(chunk)
        at += len(text)
    return tuple(chunks)


def _random_sentence(random: Random) -> str:
    words = random.choices(_VOCABULARY.split(), k=random.randint(3, 25))
    return " ".join(words).capitalize() + random.choice([". ", "! ", " — é ", " 猫が好き "])


def change_entry(entry: CorpusEntry) -> CorpusEntry:
    """Another text under the same id."""
    document = replace(entry.document, text="Granite again. " + entry.document.text)
    return CorpusEntry(document=document, chunks=_cut_chunks(document, [document.text], {}))


def entry_variants(entry: CorpusEntry) -> list[CorpusEntry]:
    """The entry with one thing changed that a reader can see, each in another way."""
    document = entry.document
    changes: list[dict[str, Any]] = [
        {"source": "elsewhere"},
        {"title": "Other"},
        {"summary": "Other"},
        {"modified_at": None},
        {"principals": ("green",)},
        {"metadata": {"a": 1}},
        {"text": document.text + "More."},
    ]
    kept = tuple(replace(chunk, principals=()) for chunk in entry.chunks)
    all_ = [CorpusEntry(document=replace(document, **change), chunks=kept) for change in changes]
    first = kept[0]
    own: tuple[dict[str, Any], ...] = (
        {"page": 99},
        {"section": "S"},
        {"line": 99},
        {"sequence": 99},
        {"id": "new"},
    )
    for change in own:
        chunks = (replace(first, **change), *kept[1:])
        all_.append(CorpusEntry(document=document, chunks=chunks))
    return [*all_, CorpusEntry(document=document, chunks=kept[1:]), change_entry(entry)]
