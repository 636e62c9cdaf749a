"""Laws about what a reader may not see: secrets are planted everywhere, and hunted for.

Every planted text, name, title, summary, section and metadata value carries a mark that no other
document has. A store with them must be, for whoever may not read them, the store without them: in
answers, scores, counts, neighbours, filters, roots, contexts, figures and error texts. And the
mark must not occur in anything that is handed out. (Who else may read what one may read is no
secret: a chunk comes with its principals.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeAlias

from foveate.core.context_json import context_to_json
from foveate.core.errors import FoveateError
from foveate.core.types import Chunk
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.options import AssembleOptions
from foveate.ports import Document, Store
from foveate.testing.store_corpus import EMBEDDER, PRINCIPALS, CorpusEntry, Entries, fill

OpenStore: TypeAlias = Callable[[], Store]

MARK = "zqx"
OWNER = "tenant"
IMPOSTORS: tuple[tuple[str, ...], ...] = (
    *((OWNER.upper(),), (f" {OWNER}",), (f"{OWNER}\0",), (MARK,), ("",), ("%",), ("*",)),
    ("\ud800",),
    *((f'["{OWNER}"]',), (f"x' OR '{OWNER}' = '{OWNER}",), (f"{OWNER}, red",), ("-1", "0", "1")),
)
"""Whoever is not the owner, however alike."""

QUERIES = ("cold harbour lamp", f"{MARK} granite", f"what does {OWNER} pay", "the of and")
FILTERS: tuple[dict[str, Any], ...] = (
    *({"lang": "en"}, {"lang": MARK}, {MARK: MARK}, {MARK: [MARK, "x"]}, {"id": f"{MARK}-0-0"}),
    *({"document_id": f"{MARK}-0"}, {"source": f"{MARK}/0.md"}, {"section": MARK}, {"page": 1}),
    *({MARK: [MARK, "\ud800"]}, {"\udcff": MARK}, {"source": f"{MARK}\ud800"}, {"page": "\ud800"}),
)


def secrets_leave_no_trace_in_answers(open_empty: OpenStore, entries: Entries) -> None:
    """Searches by words, by the secret's own vector and by filters; neighbours; roots."""
    places = [(e.document.id, c.sequence) for e in plant_secrets(entries) for c in e.chunks]
    places += [(f"mixed{n}", n) for n in range(3)]
    with _secret_and_plain_stores(open_empty, entries) as stores:
        for who in (*PRINCIPALS, *IMPOSTORS):
            for query in QUERIES:
                _check_same(who, [_search_results(one, query, who, None) for one in stores])
            for where in FILTERS:
                _check_same(who, [_search_results(one, QUERIES[1], who, where) for one in stores])
            _check_same(who, [one.neighbours(places, 2, principals=who) for one in stores])
            _check_same(who, [one.state_root(principals=who) for one in stores])


def secrets_leave_no_trace_in_contexts(open_empty: OpenStore, entries: Entries) -> None:
    """Text, citations with their corroborating sources, trace, figures and manifest; refusals."""
    nowhere = {"document_id": f"{MARK}-0"}
    with _secret_and_plain_stores(open_empty, entries) as stores:
        for name in ("default", "document-first", "citations", "four-stage"):
            for who in (*PRINCIPALS, *IMPOSTORS[:3]):
                _check_same(who, [_assemble_context(one, name, who) for one in stores])
        _check_same((), [_assemble_context(one, "default", (), nowhere) for one in stores])


def secrets_leave_no_trace_in_errors(open_empty: OpenStore, entries: Entries) -> None:
    """What is refused is refused in the same words, whatever else is in the store."""
    attempts: tuple[Callable[[Store], object], ...] = (
        lambda store: store.search("granite", None, limit=0),
        lambda store: store.search("granite", [1.0, 2.0]),
        lambda store: store.search("granite", None, where={"lang": None}),
        lambda store: store.search("granite", None, where={"document_id": {"x": 1}}),
        lambda store: store.neighbours([(f"{MARK}-0", 0)], -1),
    )
    with _secret_and_plain_stores(open_empty, entries) as stores:
        for attempt in attempts:
            _check_same((), [_result_or_error(attempt, one) for one in stores])


def secrets_leave_no_trace_in_figures(open_empty: OpenStore, entries: Entries) -> None:
    """Stores that offer figures or whole documents to a reader: those of a store without them."""
    with _secret_and_plain_stores(open_empty, entries) as (full, bare):
        for who in (*PRINCIPALS, *IMPOSTORS):
            for offer in (getattr(full, "stats", None), getattr(bare, "stats", None)):
                assert offer is None or MARK not in repr(offer(principals=who)), f"stats for {who}"
            if hasattr(full, "stats") and hasattr(bare, "stats"):
                _check_same(who, [full.stats(principals=who), bare.stats(principals=who)])
            if hasattr(full, "document"):
                for entry in plant_secrets(entries):
                    found = full.document(entry.document.id, principals=who)
                    assert found is None, f"{who} reads {entry.document.id}"


def secrets_come_and_go_unnoticed(open_empty: OpenStore, entries: Entries) -> None:
    """Before, while and after they are there, a reader's answers and root stay what they were."""
    secrets = [entry for entry in plant_secrets(entries) if entry.document.principals == (OWNER,)]
    open_parts = [_mixed_entry(number, secret=False) for number in range(3)]
    with closing(fill(open_empty(), [*entries, *open_parts])) as store:

        def seen() -> list[object]:
            return [
                (store.state_root(principals=who), _search_results(store, QUERIES[0], who, None))
                for who in PRINCIPALS
            ]

        before, whole = seen(), store.state_root()
        fill(store, [*secrets, *(_mixed_entry(number, secret=True) for number in range(3))])
        assert store.state_root() != whole, "the root of the whole store does not cover secrets"
        assert seen() == before, "secrets that came are noticed"
        for entry in secrets:
            assert store.delete(entry.document.id)
        fill(store, open_parts)
        assert seen() == before, "secrets that went are noticed"
        assert store.state_root() == whole


def secrets_are_there_for_their_owner(open_empty: OpenStore, entries: Entries) -> None:
    """The hunt proves something: who may read them finds every one, and its neighbours."""
    with closing(fill(open_empty(), [*entries, *plant_secrets(entries)])) as store:
        found = store.search(f"{MARK} granite", None, limit=999, depth=999, principals=(OWNER,))
        ids = {candidate.id for candidate in found.candidates}
        expected = {c.id for e in plant_secrets(entries) for c in e.chunks if MARK in c.text}
        assert expected <= ids, "a reader does not find what is its own"
        assert store.neighbours([(f"{MARK}-0", 0)], 0, principals=(OWNER,))
        assert store.neighbours([("mixed0", 1)], 0, principals=("red", OWNER))


LAWS = (
    secrets_leave_no_trace_in_answers,
    secrets_leave_no_trace_in_contexts,
    secrets_leave_no_trace_in_errors,
    secrets_leave_no_trace_in_figures,
    secrets_come_and_go_unnoticed,
    secrets_are_there_for_their_owner,
)


def plant_secrets(entries: Entries) -> list[CorpusEntry]:
    """Documents for their owner alone: copies of what others may read, and better answers.

    In some documents of others, one chunk in the middle is the owner's.
    """
    copies = [[chunk.text for chunk in entry.chunks] for entry in entries[:4]]
    answers = [
        [f"The cold harbour lamp of granite. {MARK} {query} {MARK}. ", query] for query in QUERIES
    ]
    found = [_secret_entry(number, texts) for number, texts in enumerate([*copies, *answers])]
    return [*found, *(_mixed_entry(number, secret=True) for number in range(3))]


def _secret_entry(number: int, texts: Sequence[str]) -> CorpusEntry:
    name = f"{MARK}-{number}"
    document = Document(
        id=name,
        source=f"{MARK}/{number}.md",
        text="",
        title=f"{MARK} title",
        summary=f"{MARK} summary",
        modified_at=datetime(2030, 1, 1, tzinfo=UTC),
        principals=(OWNER,),
        metadata={"lang": MARK, MARK: MARK, "tags": [MARK]},
    )
    chunks = [
        Chunk(
            text=text,
            id=f"{name}-{place}",
            document_id=name,
            source=document.source,
            sequence=place,
            section=MARK,
            page=1,
        )
        for place, text in enumerate(texts)
    ]
    return CorpusEntry(document=document, chunks=tuple(chunks))


def _mixed_entry(number: int, *, secret: bool) -> CorpusEntry:
    """A document of three chunks, the one in the middle for the owner alone, or not there."""
    name = f"mixed{number}"
    readers = ((), ("red",), ("blue", "red"))[number]
    document = Document(
        id=name,
        source=f"{name}.md",
        text="",
        title="Mixed",
        summary="Of several hands.",
        principals=(*readers, OWNER) if readers else (),
    )
    texts = ("A granite lamp stands here.", f"{MARK} pays for it.", "The harbour is cold.")
    chunks = [
        Chunk(text=text, id=f"{name}-{place}", document_id=name, sequence=place)
        for place, text in enumerate(texts)
    ]
    chunks[1] = replace(chunks[1], principals=(OWNER,), metadata={MARK: MARK}, section=MARK)
    return CorpusEntry(
        document=document, chunks=tuple(chunks) if secret else (chunks[0], chunks[2])
    )


@contextmanager
def _secret_and_plain_stores(open_empty: OpenStore, entries: Entries) -> Iterator[tuple[Any, Any]]:
    """A store with the secrets, and one without; both closed at the end."""
    open_parts = [_mixed_entry(number, secret=False) for number in range(3)]
    with (
        closing(fill(open_empty(), [*entries, *plant_secrets(entries)])) as full,
        closing(fill(open_empty(), [*entries, *open_parts])) as plain,
    ):
        yield full, plain


def _search_results(
    store: Store, query: str, who: tuple[str, ...], where: dict[str, Any] | None
) -> list[object]:
    """By words and vector, by vector alone, and by words alone."""
    vector = EMBEDDER.embed([query])[0]
    return [
        store.search(words, direction, limit=30, depth=10, principals=who, where=where)
        for words, direction in ((query, vector), ("", vector), (query, None))
    ]


def _assemble_context(
    store: Store, recipe: str, who: tuple[str, ...], where: dict[str, Any] | None = None
) -> object:
    """All that is handed out of a context, but when it was made; or the refusal."""
    options = AssembleOptions(recipe=recipe, budget=900)
    assembler = Assembler(store=store, embedder=EMBEDDER, options=options)

    def made(_: Store) -> object:
        record = context_to_json(
            assembler.assemble("cold harbour granite lamp", principals=who, where=where)
        )
        record["manifest"].pop("created_at", None)
        return record

    return _result_or_error(made, store)


def _result_or_error(attempt: Callable[[Store], object], store: Store) -> object:
    """What came out, or the error's kind and words."""
    try:
        return attempt(store)
    except FoveateError as error:
        return type(error).__name__, str(error)


def _check_same(who: tuple[str, ...], seen: Sequence[object]) -> None:
    assert seen[0] == seen[1], f"{who} learns of secrets: {seen[0]} beside {seen[1]}"
    for one in seen[0] if isinstance(seen[0], list) else [seen[0]]:
        assert MARK not in repr(one), f"{who} reads a secret: {one}"
