"""Citations: marker n in the text is entry n in the list, whatever the format and the order."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveate.core.assemble import assemble
from foveate.core.formats import BUILTIN
from foveate.core.recipes import builtin_recipes
from foveate.core.request import Inputs
from foveate.core.stages.order import Order, OrderBy
from foveate.core.types import SECTION_PLACES, Candidate, Chunk, Context
from foveate.core.zones import Budget
from foveate.providers import tokenizers
from foveate.testing.strategies import candidates

CL100K = tokenizers.load_tokenizer("cl100k_base")
DOCUMENT = "One sentence here. Another one there. 東京は大きい。 A third, last one."
CUTS = ((0, 18), (19, 37), (38, 45), (46, 64))


def run(pool: tuple[Candidate, ...], recipe: str = "citations", **changes: object) -> Context:
    """The context of a pool under a recipe with changes."""
    chosen = replace(builtin_recipes()[recipe], **changes)  # type: ignore[arg-type]
    budget = Budget(documents=4000, window=None)
    return assemble(Inputs(query="q", candidates=pool, recipe=chosen, budget=budget), CL100K)


def pieces(document: str = "d", *, offsets: bool = True) -> tuple[Candidate, ...]:
    """A document in four chunks that do not touch."""
    return tuple(
        Candidate(
            chunk=Chunk(
                id=f"{document}{n}",
                document_id=document,
                source=f"{document}.md",
                title="A title",
                text=DOCUMENT[a:b],
                sequence=n * 2,
                start=a if offsets else None,
                end=b if offsets else None,
                page=n + 1,
                section="S",
                row=n,
                line=n + 10,
            ),
            score=1 - n / 10,
        )
        for n, (a, b) in enumerate(CUTS)
    )


@pytest.mark.parametrize("name", sorted(BUILTIN))
@pytest.mark.parametrize("cite", ["chunk", "document"])
@settings(max_examples=20)
@given(pool=candidates(max_documents=3), by=st.sampled_from(get_args(OrderBy)))
def test_marker_n_is_entry_n(
    name: str, cite: str, pool: tuple[Candidate, ...], by: OrderBy
) -> None:
    """C1: for every format and order, block n's marker leads to an entry that holds block n."""
    if not pool:
        pool = pieces()
    base = builtin_recipes()["citations"]
    stages = (*base.stages[:-1], Order(by=by))
    context = run(pool, format=BUILTIN[name](), cite=cite, stages=stages)

    assert [c.marker for c in context.citations] == list(range(1, len(context.citations) + 1))
    for block in context.blocks:
        entry = context.citations[block.marker - 1]
        assert entry.document_id == block.document_id
        assert set(block.chunk_ids) <= set(entry.chunk_ids)
        assert block.span in entry.context_spans


def test_numbers_in_the_text() -> None:
    """C1: the numbers that a reader sees in the text are those of the list."""
    context = run(pieces())
    seen = re.findall(
        r"^\[(\d+)\] Source: (\S+) § (\S+), page (\d), row (\d)$", context.text, re.MULTILINE
    )

    assert seen == [
        (str(c.marker), c.source, c.section, str(c.page), str(c.row)) for c in context.citations
    ]


def test_what_a_citation_holds() -> None:
    """C2: label, source, title, document, chunks, page, section, row, line, spans and snippet."""
    entry = run(pieces()).citations[1]

    assert (entry.marker, entry.label, entry.source, entry.title) == (2, "[2]", "d.md", "A title")
    assert (entry.document_id, entry.chunk_ids) == ("d", ("d1",))
    assert (entry.page, entry.section, entry.row, entry.line) == (2, "S", 1, 11)
    assert entry.document_spans == ((19, 37),)
    assert entry.snippet == "Another one there."


def test_spans_lead_to_the_words() -> None:
    """C2: the span in the document and the span in the context hold the same words."""
    context = run(pieces())
    for entry in context.citations:
        ((a, b),) = entry.document_spans
        ((x, y),) = entry.context_spans

        assert DOCUMENT[a:b] == context.text[x:y]


def test_an_extract_points_at_what_it_shows() -> None:
    """C2: of a shortened chunk, the spans are those of the sentences that are left."""
    text = " ".join(f"Sentence {n} is about topic number {n} alone." for n in range(40))
    chunk = Chunk(id="a", text=text, document_id="d", start=100, end=100 + len(text))
    chosen = builtin_recipes()["default"]
    context = assemble(
        Inputs(
            query="topic 7",
            candidates=(Candidate(chunk=chunk, score=1.0),),
            recipe=chosen,
            budget=Budget(documents=120, window=None),
        ),
        CL100K,
    )
    (entry,) = context.citations
    shown = " […] ".join(text[a - 100 : b - 100] for a, b in entry.document_spans)

    assert context.blocks[0].rendition == "extract"
    assert f"… {shown} …" == context.blocks[0].text


@pytest.mark.parametrize("offsets", [True, False])
def test_the_line_is_that_of_what_is_shown(offsets: bool) -> None:
    """C2: of an extract, the line where its first sentence stands, not that of its chunk."""
    lines = [f"Sentence {n} is about the topic t{n}x alone." for n in range(60)]
    text = "\n\n".join(lines)
    cuts = (0, text.index(lines[20]), text.index(lines[40]), len(text))
    pool = tuple(
        Candidate(
            chunk=Chunk(
                id=f"d{n}",
                document_id="d",
                text=text[a:b],
                sequence=n,
                line=1 + text.count("\n", 0, a),
                start=a if offsets else None,
                end=b if offsets else None,
            ),
            score=1.0 - n / 10,
        )
        for n, (a, b) in enumerate(pairwise(cuts))
    )
    for wanted in (3, 17, 33, 52):
        query = f"the topic t{wanted}x"
        budget = Budget(documents=90, window=None)
        recipe = builtin_recipes()["default"]
        context = assemble(
            Inputs(query=query, candidates=pool, recipe=recipe, budget=budget), CL100K
        )
        assert f"t{wanted}x" in context.text
        for entry, block in zip(context.citations, context.blocks, strict=True):
            assert entry.line is not None
            first = text.split("\n")[entry.line - 1]
            assert first
            assert block.text.removeprefix("…").lstrip().startswith(first)


def test_offsets_that_cannot_be_true() -> None:
    """C2: offsets that do not span the text are claims that failed; no span is given."""
    chunk = Chunk(id="a", text="Four words are here.", start=0, end=500)
    context = run((Candidate(chunk=chunk),))

    assert context.citations[0].document_spans == ()


def test_by_document() -> None:
    """C2: where documents are cited, one entry holds all chunks and spans of its document."""
    context = run((*pieces("d"), *pieces("e", offsets=False)), cite="document")

    assert [c.document_id for c in context.citations] == ["d"]
    assert context.citations[0].chunk_ids == ("d0", "d1", "d2", "d3")
    assert {s.document_id for s in context.citations[0].corroborating} == {"e"}
    assert len(context.citations[0].context_spans) == 4


def test_voice() -> None:
    """C4: on the voice channel no marker is shown, and the citations still name every chunk."""
    from foveate.pipeline.assembler import assemble as one_liner

    pool = [{"text": f"Sentence {n} stands alone.", "source": f"{n}.md"} for n in range(3)]
    spoken = one_liner("q", pool, recipe="citations", budget=500, channel="voice")
    written = one_liner("q", pool, recipe="citations", budget=500)

    assert "[" not in spoken.text
    assert "Source" not in spoken.text
    assert [c.source for c in spoken.citations] == [c.source for c in written.citations]
    assert all(spoken.text[a:b] for c in spoken.citations for a, b in c.context_spans)


@pytest.mark.parametrize(
    ("known", "section", "sections", "row"),
    [
        ([[0, None, "Tea"], [19, 7, "Pot"], [46, None, ""]], "Tea", ("Tea", "Pot"), None),
        ([[0, 3, ""], [19, 4, ""], [46, 5, ""]], "", (), 3),
        ([], "own", ("own",), 9),
        ("0:3", "own", ("own",), 9),
        ([[0, True, "Tea"]], "own", ("own",), 9),
        ([[0, "3", "Tea"], [5]], "own", ("own",), 9),
        ([[0, -3, "Tea"]], "own", ("own",), 9),
        ([[0, 10**30, "Tea"]], "own", ("own",), 9),
        ([[0, 3, "\ud800"]], "own", ("own",), 9),
    ],
)
def test_all_sections_that_are_shown_are_cited(
    known: object, section: str, sections: tuple[str, ...], row: int | None
) -> None:
    """C1 U2: with the row of the first, if the metadata tell them apart; a foreign key is none."""
    chunk = Chunk(
        id="a", text=DOCUMENT, start=100, end=164, section="own", row=9,
        metadata={SECTION_PLACES: known},
    )  # fmt: skip
    (entry,) = run((Candidate(chunk=chunk, score=1.0),)).citations

    assert (entry.section, entry.sections, entry.row) == (section, sections, row)


def test_places_in_metadata_are_found_fast() -> None:
    """C1: each of many was held against each of many sentences that are shown."""
    text = "\n\n".join(
        f"The harbour {n} is {n} metres deep. Nothing was said about the colour of day {n}."
        for n in range(6_000)
    )
    places = [[len(text) - 2 + n // 49_999, None, "end"] for n in range(50_000)]
    chunk = Chunk(id="a", text=text, start=0, end=len(text), metadata={SECTION_PLACES: places})
    inputs = Inputs(
        query="How deep is the harbour?",
        candidates=(Candidate(chunk=chunk, score=1.0),),
        recipe=builtin_recipes()["default"],
        budget=Budget(documents=32_000, window=None),
    )

    start = time.process_time()
    context = assemble(inputs, CL100K)

    assert len(context.blocks[0].document_spans) > 1_000
    assert time.process_time() - start < 4
