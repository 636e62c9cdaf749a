"""Hypothesis strategies for what stages take: candidates cut from documents, and requests.

Not uniform noise: few documents, few words and few score values, so that ties, duplicates,
overlaps, nested and gapped chunks, and lies about offsets all turn up within a few dozen examples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from foveate.core.errors import MissingExtra

try:
    from hypothesis import strategies as st
except ImportError:
    raise MissingExtra("hypothesis", "testing") from None

from foveate.core.request import Request
from foveate.core.types import Candidate, Chunk, Origin, Supplement
from foveate.testing.fakes import request

READER = "staff"
"""The principal that generated requests have; `SECRET` they do not have."""

SECRET = "board"  # noqa: S105

PHRASES = (
    *("The budget is 12 tokens. ", "The budget is not 12 tokens. ", "A window holds a passage. "),
    *("budget ", "token ", "is not ", "3.5 kg, ", "2024-05-01\n", "Why?\n\n", "- item\n"),
    *("Ein naïves Café. ", "文脈は長い。", "سياق طويل ", "הקשר ", "👩‍👩‍👧🙂", "e\u0301 "),
    *("<|end|>", "[1] "),
    *("a" * 30, "na na na na na na na na ", "    ", "==========\n"),
)
"""Pieces of text in several scripts: some alike, some repetitive, some that look like structure."""

_EPOCH = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class CutDocument:
    """A document and chunks of it with true offsets; they overlap, nest, touch or leave gaps."""

    text: str
    chunks: tuple[Chunk, ...]


def texts(max_phrases: int = 6, min_phrases: int = 0) -> st.SearchStrategy[str]:
    """Texts put together from `PHRASES`; sometimes empty, blank or one letter over and over."""
    phrases = st.lists(st.sampled_from(PHRASES), min_size=min_phrases, max_size=max_phrases)
    return phrases.map("".join)


def scores() -> st.SearchStrategy[float]:
    """Finite scores of both signs; half of them from a handful, so that they tie."""
    return st.one_of(
        st.sampled_from([0.9, 0.5, 0.5, 0.0, -1.2, -3.0]),
        st.floats(-20, 20, allow_nan=False, width=32),
    )


@st.composite
def cut_documents(draw: st.DrawFn, document_id: str = "d", max_chunks: int = 4) -> CutDocument:
    """A document with true offsets; sequences count the chunks from top to bottom."""
    text = draw(texts(10, min_phrases=1))
    edges = st.integers(0, len(text))
    pairs = draw(st.lists(st.tuples(edges, edges), max_size=max_chunks))
    spans = sorted({(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]})
    chunks = tuple(
        Chunk(
            id=f"{document_id}#{sequence}",
            document_id=document_id,
            source=f"{document_id}.md",
            sequence=sequence,
            text=text[start:end],
            start=start,
            end=end,
        )
        for sequence, (start, end) in enumerate(spans)
    )
    return CutDocument(text=text, chunks=chunks)


@st.composite
def loose_chunks(draw: st.DrawFn, document_id: str = "d", max_chunks: int = 4) -> tuple[Chunk, ...]:
    """Chunks whose sequences repeat or skip and whose offsets are missing, partial or wrong."""
    return tuple(
        Chunk(
            id=f"{document_id}#{place}",
            document_id=document_id,
            source=f"{document_id}.md",
            sequence=sequence,
            text=text,
            start=start,
            end=start + len(text) if start is not None and whole else None,
        )
        for place, (text, sequence, start, whole) in enumerate(
            draw(st.lists(_LOOSE, max_size=max_chunks))
        )
    )


@st.composite
def chunks(draw: st.DrawFn, max_documents: int = 3) -> tuple[Chunk, ...]:
    """Chunks with unique ids from a few documents, dated or not, in any order."""
    found: list[Chunk] = []
    for n, (exact, days) in enumerate(draw(st.lists(_DOCUMENTS, max_size=max_documents))):
        document_id = f"doc{n}"
        made = draw(cut_documents(document_id)).chunks if exact else draw(loose_chunks(document_id))
        dated = None if days is None else _EPOCH + timedelta(days=days)
        found += (replace(chunk, modified_at=dated) for chunk in made)
    return tuple(draw(st.permutations(found)))


@st.composite
def candidates(
    draw: st.DrawFn, max_documents: int = 3, dimensions: int = 0
) -> tuple[Candidate, ...]:
    """Candidates with unique ids; `dimensions` over 0 gives each chunk an embedding."""
    found = draw(chunks(max_documents=max_documents))
    n = len(found)
    if dimensions:
        vectors = draw(st.lists(_vectors(dimensions), min_size=n, max_size=n))
        pairs = zip(found, vectors, strict=True)
        found = tuple(replace(chunk, embedding=vector) for chunk, vector in pairs)
    marks = draw(st.lists(_MARKS, min_size=n, max_size=n))
    return tuple(
        Candidate(chunk=chunk, score=score, semantic_score=semantic, origin=origin)
        for chunk, (score, semantic, origin) in zip(found, marks, strict=True)
    )


@st.composite
def cases(
    draw: st.DrawFn, max_documents: int = 3, dimensions: int = 0
) -> tuple[tuple[Candidate, ...], Request]:
    """What a stage is called with: candidates, and a request with neighbours and supplements.

    Some neighbours and supplements are for `SECRET` eyes, which the request does not have.
    """
    found = draw(candidates(max_documents, dimensions))
    taken = draw(st.integers(0, len(found)))
    hits, others = found[taken:], found[:taken]
    n = len(others)
    rights = draw(st.lists(_RIGHTS, min_size=n, max_size=n))
    pairs = zip(others, rights, strict=True)
    sides = enumerate(draw(st.lists(_SIDES, max_size=2)))
    return hits, request(
        query=draw(_QUERIES),
        budget=draw(_BUDGETS),
        principals=(READER,),
        neighbours=tuple(replace(other.chunk, principals=who) for other, who in pairs),
        supplements=tuple(
            Supplement(id=f"s{place}", text=text, similarity=score, principals=who)
            for place, (text, score, who) in sides
        ),
        intent=draw(_INTENTS),
        query_embedding=draw(_vectors(dimensions)) if dimensions else None,
    )


def _vectors(dimensions: int) -> st.SearchStrategy[tuple[float, ...]]:
    values = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0])
    return st.tuples(*(values for _ in range(dimensions)))


# Made once: Hypothesis validates a strategy when it is first drawn from, which costs more than
# drawing.
_DOCUMENTS = st.tuples(st.booleans(), st.one_of(st.none(), st.integers(0, 400)))
_LOOSE = st.tuples(
    texts(3), st.integers(0, 4), st.one_of(st.none(), st.integers(0, 40)), st.booleans()
)
_ORIGINS: list[Origin] = ["retrieved", "retrieved", "neighbour"]
_MARKS = st.tuples(scores(), st.one_of(st.none(), scores()), st.sampled_from(_ORIGINS))
_RIGHTS: st.SearchStrategy[tuple[str, ...]] = st.sampled_from([(), (READER,), (SECRET,)])
_SIDES = st.tuples(texts(2), scores(), _RIGHTS)
_QUERIES = texts(2)
_BUDGETS = st.integers(1, 200)
_INTENTS = st.sampled_from(["", "definition"])
