"""Which sources are named beside a block: those that say all that it shows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate import assemble
from foveate.core.recipes import builtin_recipes
from foveate.core.stages.dedup.corroborating import corroborating_sources
from foveate.core.types import Candidate, Duplicate, Rendition
from foveate.testing.fakes import candidate

STEPS = [
    f"{n}. {verb} the {part} with tool T-{n} and note the value in column {n}."
    for n, (verb, part) in enumerate(
        [
            ("Clean", "belt"),
            ("Grease", "hose"),
            ("Mark", "bearing"),
            ("Align", "flange"),
            ("Loosen", "sensor"),
            ("Measure", "shaft"),
            ("Replace", "bolt"),
            ("Tighten", "gasket"),
        ],
        start=1,
    )
]
IMAGE = {"media_type": "image/png", "width": 9, "height": 9, "url": "https://a.example/a.png"}
RUNS = [range(first, last) for first in (0, 2, 3) for last in (4, 5, 8)]
BY_DOCUMENT = replace(builtin_recipes()["default"], cite="document")


def merged(text, *copies, **shown):
    """A candidate with copies that left for its whole text, each of its own document or as given.

    `shown`: sentences that alone are shown.
    """
    made = tuple(
        copy if isinstance(copy, Candidate) else candidate(copy, id=f"c{n}", document_id=f"d{n}")
        for n, copy in enumerate(copies)
    )
    kept = candidate(text, id="kept", document_id="kept")
    return replace(
        kept, duplicates=tuple(Duplicate(chunk=c.chunk, span=(0, len(text))) for c in made)
    )


def shows(kept, *sentences):
    """The candidate of which these sentences are shown."""
    starts = [kept.text.index(sentence) for sentence in sentences]
    spans = tuple((at, at + len(s)) for at, s in zip(starts, sentences, strict=True))
    return replace(kept, shown=Rendition(kind="extract", text=" […] ".join(sentences), spans=spans))


def named(kept):
    """The chunks of the sources that are named."""
    return [source.chunk_id for source in corroborating_sources(kept, "en")]


def test_a_source_is_named_where_it_says_what_is_shown():
    """S3, C2: of a fuller text, the copy is named beside those sentences alone that it has."""
    kept = merged("\n\n".join(STEPS[:6]), "\n\n".join(STEPS[:4]))

    assert named(shows(kept, STEPS[1], STEPS[3])) == ["c0"]
    assert named(shows(kept, STEPS[1], STEPS[4])) == []
    assert named(shows(kept, STEPS[5])) == []
    assert named(kept) == []


@pytest.mark.parametrize(
    ("copy", "says"),
    [
        ("The  pump runs\nat 3 bar.  Nobody opens it.", True),
        ("Also, the pump runs at 3 bar. Nobody opens it.", True),
        ("Nobody opens it. Pumps run. The pump runs at 3 bar.", True),
        ("The pump runs at 4 bar. Nobody opens it.", False),
        ("The pump never runs at 3 bar. Nobody opens it.", False),
        ("The old pump runs at 3 bar. Nobody opens it.", False),
        ("The pump runs at 3 bar.", False),
        ("", False),
    ],
)
def test_a_near_copy_says_the_same(copy, says):
    """S4: words without weight may differ, and the order of sentences; nothing else may."""
    assert named(merged("The pump runs at 3 bar. Nobody opens it.", copy)) == ["c0"] * says


def test_the_chunks_of_a_document_speak_together():
    """S3, S6: a passage is in another document if that document's chunks hold it together."""
    halves = [candidate(text, id=f"h{n}", document_id="half") for n, text in enumerate(STEPS[:2])]
    other = candidate(STEPS[0], id="o", document_id="other")
    kept = merged("\n\n".join(STEPS[:2]), *halves, other)

    assert named(kept) == ["h0", "h1"]
    assert named(shows(kept, STEPS[0])) == ["h0", "o"]


def test_a_copy_without_an_image_does_not_show_it():
    """C2: a text with an image says more than the same text without."""
    kept = merged(STEPS[0], STEPS[0])
    pictured = replace(kept, chunk=replace(kept.chunk, metadata={"images": [IMAGE]}))

    assert named(kept) == ["c0"]
    assert named(pictured) == []


def test_a_document_is_cited_with_those_that_say_all_of_its_blocks():
    """C2: where documents are cited, a source that says one block of two is not the citation's."""
    rows = [
        {"text": STEPS[0], "id": "a0", "document_id": "a", "source": "a.md", "score": 0.9},
        {"text": STEPS[4], "id": "a4", "document_id": "a", "source": "a.md", "score": 0.8},
        {"text": STEPS[0], "id": "b0", "document_id": "b", "source": "b.md", "score": 0.7},
        {"text": STEPS[0], "id": "c0", "document_id": "c", "source": "c.md", "score": 0.6},
        {"text": STEPS[4], "id": "c4", "document_id": "c", "source": "c.md", "score": 0.5},
    ]
    context = assemble("Which tool?", rows, budget=900, recipe=BY_DOCUMENT)
    (citation,) = context.citations

    assert [len(block.corroborating) for block in context.blocks] == [2, 1]
    assert [source.chunk_id for source in citation.corroborating] == ["c0", "c4"]


@given(
    documents=st.lists(
        st.lists(st.sampled_from(RUNS), min_size=1, max_size=3),
        min_size=2,
        max_size=4,
    ),
    budget=st.integers(200, 600),  # more than the longest chunk takes
    recipe=st.sampled_from(["default", "tight", "four-stage", "summarise", BY_DOCUMENT]),
)
def test_whatever_is_shown_a_named_source_says_it(documents, budget, recipe):
    """S3, S4, C2: every sentence of a block is in each document that is named beside it."""
    rows = [
        {
            "text": "\n\n".join(STEPS[i] for i in chunk),
            "id": f"{d}-{n}",
            "document_id": f"{d}",
            "sequence": n,
            "score": 1 / (1 + d + n),
        }
        for d, chunks in enumerate(documents)
        for n, chunk in enumerate(chunks)
    ]
    texts = {f"{d}": {i for chunk in chunks for i in chunk} for d, chunks in enumerate(documents)}
    context = assemble("Which tool is for the belt?", rows, budget=budget, recipe=recipe)

    for block in context.blocks:
        seen = {i for i, step in enumerate(STEPS) if step in block.text}
        assert all(seen <= texts[source.document_id] for source in block.corroborating)
    for citation in context.citations:
        own = [block for block in context.blocks if block.marker == citation.marker]
        seen = {i for i, step in enumerate(STEPS) for block in own if step in block.text}
        assert all(seen <= texts[source.document_id] for source in citation.corroborating)
