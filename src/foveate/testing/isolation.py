"""Laws about what a reader may not see: secrets are planted everywhere, and hunted for.

Every planted text, name, title, summary, section and metadata value carries a mark that no other
document has. A store with them must be, for whoever may not read them, the store without them: in
answers, scores, counts, neighbours, filters, roots, contexts, figures and error texts. And the
mark must not occur in anything that is handed out. (Who else may read what one may read is no
secret: a chunk comes with its principals.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeAlias

from foveate.assembler import Assembler
from foveate.core.errors import FoveateError
from foveate.core.types import Chunk
from foveate.core.wire import context_to_json
from foveate.plan import plan
from foveate.ports import Document, Store
from foveate.testing.store_corpus import EMBEDDER, PRINCIPALS, Entry

Open: TypeAlias = Callable[[], Store]

MARK = "zqx"
OWNER = "tenant"
IMPOSTORS: tuple[tuple[str, ...], ...] = (
    *(
        (OWNER.upper(),),
        (f" {OWNER}",),
        (f"{OWNER}\0",),
        (MARK,),
        ("",),
        ("%",),
        ("*",),
        ("\ud800",),
    ),
    *((f'["{OWNER}"]',), (f"x' OR '{OWNER}' = '{OWNER}",), (f"{OWNER}, red",), ("-1", "0", "1")),
)
"""Whoever is not the owner, however alike."""

QUERIES = ("cold harbour lamp", f"{MARK} granite", f"what does {OWNER} pay", "the of and")
FILTERS: tuple[dict[str, Any], ...] = (
    *({"lang": "en"}, {"lang": MARK}, {MARK: MARK}, {MARK: [MARK, "x"]}, {"id": f"{MARK}-0-0"}),
    *({"document_id": f"{MARK}-0"}, {"source": f"{MARK}/0.md"}, {"section": MARK}, {"page": 1}),
    *({MARK: [MARK, "\ud800"]}, {"\udcff": MARK}, {"source": f"{MARK}\ud800"}, {"page": "\ud800"}),
)


def secrets_leave_no_trace_in_answers(open_empty: Open, entries: Sequence[Entry]) -> None:
    """Searches by words, by the secret's own vector and by filters; neighbours; roots."""
    with _both(open_empty, entries) as (full, bare):
        for who in (*PRINCIPALS, *IMPOSTORS):
            for query in QUERIES:
                _same(who, [_search(store, query, who, None) for store in (full, bare)])
            for where in FILTERS:
                _same(who, [_search(store, QUERIES[1], who, where) for store in (full, bare)])
            places = [(e.document.id, c.sequence) for e in planted(entries) for c in e.chunks]
            places += [(f"mixed{n}", n) for n in range(3)]
            _same(who, [store.neighbours(places, 2, principals=who) for store in (full, bare)])
            _same(who, [store.state_root(principals=who) for store in (full, bare)])


def secrets_leave_no_trace_in_contexts(open_empty: Open, entries: Sequence[Entry]) -> None:
    """Text, citations with their corroborating sources, trace, figures and manifest; refusals."""
    with _both(open_empty, entries) as (full, bare):
        for name in ("default", "document-first", "citations", "four-stage"):
            for who in (*PRINCIPALS, *IMPOSTORS[:3]):
                made = [_context(store, name, who) for store in (full, bare)]
                _same(who, made)
        nowhere = {"document_id": f"{MARK}-0"}
        _same((), [_context(store, "default", (), nowhere) for store in (full, bare)])


def secrets_leave_no_trace_in_errors(open_empty: Open, entries: Sequence[Entry]) -> None:
    """What is refused is refused in the same words, whatever else is in the store."""
    attempts: tuple[Callable[[Store], object], ...] = (
        lambda store: store.search("granite", None, limit=0),
        lambda store: store.search("granite", [1.0, 2.0]),
        lambda store: store.search("granite", None, where={"lang": None}),
        lambda store: store.search("granite", None, where={"document_id": {"x": 1}}),
        lambda store: store.neighbours([(f"{MARK}-0", 0)], -1),
    )
    with _both(open_empty, entries) as (full, bare):
        for attempt in attempts:
            _same((), [_refusal(attempt, store) for store in (full, bare)])


def secrets_leave_no_trace_in_figures(open_empty: Open, entries: Sequence[Entry]) -> None:
    """Stores that offer figures or whole documents to a reader: those of a store without them."""
    with _both(open_empty, entries) as (full, bare):
        for who in (*PRINCIPALS, *IMPOSTORS):
            for offer in (getattr(full, "stats", None), getattr(bare, "stats", None)):
                assert offer is None or MARK not in repr(offer(principals=who)), f"stats for {who}"
            if hasattr(full, "stats") and hasattr(bare, "stats"):
                _same(who, [full.stats(principals=who), bare.stats(principals=who)])
            if hasattr(full, "document"):
                for entry in planted(entries):
                    found = full.document(entry.document.id, principals=who)
                    assert found is None, f"{who} reads {entry.document.id}"


def secrets_come_and_go_unnoticed(open_empty: Open, entries: Sequence[Entry]) -> None:
    """Before, while and after they are there, a reader's answers and root stay what they were."""
    secrets = [entry for entry in planted(entries) if entry.document.principals == (OWNER,)]
    open_parts = [_mixed(number, secret=False) for number in range(3)]
    with closing(_filled(open_empty(), [*entries, *open_parts])) as store:

        def seen() -> list[object]:
            return [
                (store.state_root(principals=who), _search(store, QUERIES[0], who, None))
                for who in PRINCIPALS
            ]

        before, whole = seen(), store.state_root()
        _filled(store, [*secrets, *(_mixed(number, secret=True) for number in range(3))])
        assert store.state_root() != whole, "the root of the whole store does not cover secrets"
        assert seen() == before, "secrets that came are noticed"
        for entry in secrets:
            assert store.delete(entry.document.id)
        _filled(store, open_parts)
        assert seen() == before, "secrets that went are noticed"
        assert store.state_root() == whole


def secrets_are_there_for_their_owner(open_empty: Open, entries: Sequence[Entry]) -> None:
    """The hunt proves something: who may read them finds every one, and its neighbours."""
    with closing(_filled(open_empty(), [*entries, *planted(entries)])) as store:
        found = store.search(f"{MARK} granite", None, limit=999, depth=999, principals=(OWNER,))
        ids = {candidate.id for candidate in found.candidates}
        expected = {c.id for e in planted(entries) for c in e.chunks if MARK in c.text}
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


def planted(entries: Sequence[Entry]) -> list[Entry]:
    """Documents for their owner alone: copies of what others may read, and better answers.

    In some documents of others, one chunk in the middle is the owner's.
    """
    copies = [[chunk.text for chunk in entry.chunks] for entry in entries[:4]]
    answers = [
        [f"The cold harbour lamp of granite. {MARK} {query} {MARK}. ", query] for query in QUERIES
    ]
    found = [_secret(number, texts) for number, texts in enumerate([*copies, *answers])]
    return [*found, *(_mixed(number, secret=True) for number in range(3))]


def _secret(number: int, texts: Sequence[str]) -> Entry:
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
    return Entry(document=document, chunks=tuple(chunks))


def _mixed(number: int, *, secret: bool) -> Entry:
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
    return Entry(document=document, chunks=tuple(chunks) if secret else (chunks[0], chunks[2]))


class _both:  # noqa: N801  # used like a function
    """A store with the secrets, and one without; both closed at the end."""

    def __init__(self, open_empty: Open, entries: Sequence[Entry]) -> None:
        self._stores = (
            _filled(open_empty(), [*entries, *planted(entries)]),
            _filled(open_empty(), [*entries, *(_mixed(n, secret=False) for n in range(3))]),
        )

    def __enter__(self) -> tuple[Any, Any]:
        return self._stores

    def __exit__(self, *exception: object) -> None:
        for store in self._stores:
            store.close()


def _filled(store: Store, entries: Sequence[Entry]) -> Store:
    for entry in entries:
        entry.put(store)
    return store


def _search(
    store: Store, query: str, who: tuple[str, ...], where: dict[str, Any] | None
) -> list[object]:
    """By words and vector, by vector alone, and by words alone."""
    vector = EMBEDDER.embed([query])[0]
    return [
        store.search(words, direction, limit=30, depth=10, principals=who, where=where)
        for words, direction in ((query, vector), ("", vector), (query, None))
    ]


def _context(
    store: Store, recipe: str, who: tuple[str, ...], where: dict[str, Any] | None = None
) -> object:
    """All that is handed out of a context, but when it was made; or the refusal."""
    assembler = Assembler(store=store, embedder=EMBEDDER, plan=plan(recipe=recipe, budget=900))

    def made(_: Store) -> object:
        record = context_to_json(
            assembler.assemble("cold harbour granite lamp", principals=who, where=where)
        )
        record["manifest"].pop("created_at", None)
        return record

    return _refusal(made, store)


def _refusal(attempt: Callable[[Store], object], store: Store) -> object:
    """What came out, or the error's kind and words."""
    try:
        return attempt(store)
    except FoveateError as error:
        return type(error).__name__, str(error)


def _same(who: tuple[str, ...], seen: Sequence[object]) -> None:
    assert seen[0] == seen[1], f"{who} learns of secrets: {seen[0]} beside {seen[1]}"
    for one in _parts(seen[0]):
        assert MARK not in repr(one), f"{who} reads a secret: {one}"


def _parts(seen: object) -> Iterator[object]:
    yield from seen if isinstance(seen, list) else [seen]
