"""Hypothesis strategies for what stages take: candidates cut from documents, and requests.

Not uniform noise: few documents, few words and few score values, so that ties, duplicates,
overlaps, nested and gapped chunks, and lies about offsets all turn up within a few dozen examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from foveate.core.types import Candidate, Chunk, Request, Supplement
from foveate.testing.fakes import request

READER = "staff"
"""The principal that generated requests have; `SECRET` they do not have."""

SECRET = "board"  # noqa: S105

WORDS = (
    *("budget", "token", "window", "passage", "the", "is", "not", "no", "12", "3.5", "2024-05-01"),
    *(
        "naïve",
        "café",
        "Straße",
        "文脈",
        "東京",
        "سياق",
        "הקשר",
        "👩‍👩‍👧",
        "🙂",
        "é",
        "<|end|>",
        "[1]",
    ),
)

_EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
_ENDS = st.sampled_from([" ", " ", " ", " ", ". ", ".\n", "\n\n", "? "])


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A document and chunks of it with true offsets; they overlap, nest, touch or leave gaps."""

    text: str
    chunks: tuple[Chunk, ...]


def texts(max_words: int = 30) -> st.SearchStrategy[str]:
    """Texts of several scripts, with punctuation and line ends; sometimes blank or repetitive."""
    words = st.lists(st.tuples(st.sampled_from(WORDS), _ENDS), max_size=max_words)
    prose = words.map(lambda pairs: "".join(word + end for word, end in pairs))
    repeats = st.tuples(st.sampled_from(["a", "ab", "na ", "="]), st.integers(1, 60))
    return st.one_of(prose, prose, prose, repeats.map(lambda pair: pair[0] * pair[1]))


def scores() -> st.SearchStrategy[float]:
    """Finite scores of both signs; half of them from a handful, so that they tie."""
    return st.one_of(
        st.sampled_from([0.9, 0.5, 0.5, 0.0, -1.2, -3.0]),
        st.floats(-20, 20, allow_nan=False, width=32),
    )


@st.composite
def cuts(draw: st.DrawFn, document_id: str = "d", max_chunks: int = 6) -> Cut:
    """A document with true offsets; sequences count the chunks from top to bottom."""
    text = draw(texts(60).filter(bool))
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
    return Cut(text=text, chunks=chunks)


@st.composite
def loose_chunks(draw: st.DrawFn, document_id: str = "d", max_chunks: int = 6) -> tuple[Chunk, ...]:
    """Chunks whose sequences repeat or skip and whose offsets are missing, partial or wrong."""
    offsets = st.one_of(st.none(), st.integers(0, 40))
    rows = st.tuples(texts(12), st.integers(0, 4), offsets, st.booleans())
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
            draw(st.lists(rows, max_size=max_chunks))
        )
    )


@st.composite
def chunks(draw: st.DrawFn, max_documents: int = 3) -> tuple[Chunk, ...]:
    """Chunks with unique ids from a few documents, dated or not, in any order."""
    found: list[Chunk] = []
    for n in range(draw(st.integers(0, max_documents))):
        document_id = f"doc{n}"
        if draw(st.booleans()):
            made: Sequence[Chunk] = draw(cuts(document_id)).chunks
        else:
            made = draw(loose_chunks(document_id))
        days = draw(st.one_of(st.none(), st.integers(0, 400)))
        dated = None if days is None else _EPOCH + timedelta(days=days)
        found += (replace(chunk, modified_at=dated) for chunk in made)
    return tuple(draw(st.permutations(found)))


@st.composite
def candidates(
    draw: st.DrawFn, max_documents: int = 3, dimensions: int = 0
) -> tuple[Candidate, ...]:
    """Candidates with unique ids; `dimensions` over 0 gives each chunk an embedding."""
    return tuple(
        draw(_candidate(chunk, dimensions)) for chunk in draw(chunks(max_documents=max_documents))
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
    hits, others = found[:taken], found[taken:]
    rights = st.sampled_from([(), (READER,), (SECRET,)])
    neighbours = tuple(replace(other.chunk, principals=draw(rights)) for other in others)
    supplements = tuple(
        Supplement(id=f"s{n}", text=draw(texts(5)), similarity=draw(scores()), principals=who)
        for n, who in enumerate(draw(st.lists(rights, max_size=3)))
    )
    return hits, request(
        query=draw(texts(5)),
        budget=draw(st.integers(1, 200)),
        principals=(READER,),
        neighbours=neighbours,
        supplements=supplements,
        intent=draw(st.sampled_from(["", "definition"])),
        query_embedding=draw(_vectors(dimensions)) if dimensions else None,
    )


def _vectors(dimensions: int) -> st.SearchStrategy[tuple[float, ...]]:
    values = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0])
    return st.tuples(*(values for _ in range(dimensions)))


@st.composite
def _candidate(draw: st.DrawFn, chunk: Chunk, dimensions: int) -> Candidate:
    if dimensions:
        chunk = replace(chunk, embedding=draw(_vectors(dimensions)))
    return Candidate(
        chunk=chunk,
        score=draw(scores()),
        semantic_score=draw(st.one_of(st.none(), scores())),
        origin=draw(st.sampled_from(["retrieved", "retrieved", "neighbour"])),
    )
