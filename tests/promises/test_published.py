"""Five published systems, reproduced by composing stages: their own test vectors (SPEC P1)."""

from __future__ import annotations

from dataclasses import replace

from foveate.core.assemble import assemble as assemble_inputs
from foveate.core.formats.numbered import Numbered
from foveate.core.recipes import builtin_recipes
from foveate.core.request import Inputs
from foveate.core.stages.dedup.near import DedupNear
from foveate.core.stages.order import Order
from foveate.core.stages.pack import Pack
from foveate.core.zones import Budget
from foveate.pipeline.assembler import assemble
from foveate.testing.fakes import WordTokenizer, candidate, request

RECIPES = builtin_recipes()
FILLER = (
    "Enough words stand here for this chunk not to be taken for a degenerate scrap of text, {}."
)


def text_of(n: int, word: str) -> str:
    """A text of n words."""
    return " ".join(f"{word}{i}" for i in range(n))


def ordered(by: str, ids: str) -> str:
    """The ids in the order that the stage gives them, best first going in."""
    pool = tuple(candidate(i, 1 - n / 10, id=i) for n, i in enumerate(ids))
    return " ".join(c.id for c in Order(by=by)(pool, request()).candidates)


def test_cfs_021_packing() -> None:
    """P1: A 50, B 100, C 30, D 80 tokens, 10 a document, budget 150: A and C, nothing cut."""
    rows = (("A", 50, 0.9), ("B", 100, 0.85), ("C", 30, 0.8), ("D", 80, 0.75))
    pool = tuple(
        candidate(text_of(n, name), score, id=name, source=f"{name}.md") for name, n, score in rows
    )
    context = assemble_inputs(
        Inputs(
            query="q",
            candidates=pool,
            recipe=RECIPES["cfs-021"],
            budget=Budget(documents=150, window=None),
        ),
        WordTokenizer(),
    )

    assert [b.chunk_ids for b in context.blocks] == [("A",), ("C",)]
    assert {b.rendition for b in context.blocks} == {"verbatim"}
    assert sum(len(b.text.split()) for b in context.blocks) == 80


def test_cfs_021_writes_texts_of_several_lines_as_they_are() -> None:
    """P1: a header a document, the texts line by line below it, code included."""
    rows = (
        ("guide.md", 0, 0.9, "Install the package.\nThen run it."),
        ("guide.md", 1, 0.8, "import os\n\nprint(os.getcwd())"),
        ("notes.md", 0, 0.7, "It needs Python 3.11.\n- Linux\n- macOS"),
    )
    pool = [
        {"text": t, "source": d, "document_id": d, "sequence": n, "score": s} for d, n, s, t in rows
    ]
    context = assemble("q", pool, recipe="cfs-021", budget=500)

    assert context.text == (
        "[DOC: guide.md]\nInstall the package.\nThen run it.\nimport os\n\nprint(os.getcwd())\n"
        "\n[DOC: notes.md]\nIt needs Python 3.11.\n- Linux\n- macOS\n"
    )


def interleaved_pool() -> list[dict[str, object]]:
    """Three texts of a, two of b, one of c: a0 the best, then b0, c0, and the rest."""
    rows = (("a", 3, 0.9), ("b", 2, 0.8), ("c", 1, 0.7))
    return [
        {
            "id": f"{d}{n}",
            "text": f"Text {d}{n} says something of its own.",
            "source": f"{d}.md",
            "document_id": d,
            "sequence": n,
            "score": score - n / 100,
        }
        for d, count, score in rows
        for n in range(count)
    ]


def test_interleaved_texts_stand_in_the_order_they_were_taken() -> None:
    """P1, S9, S10: round robin over documents, in the text as well as in the choice."""
    recipe = replace(RECIPES["cfs-021"], stages=(Pack(policy="interleaved"),))
    context = assemble("q", interleaved_pool(), recipe=recipe, order="as_packed", budget=500)

    assert [b.chunk_ids[0] for b in context.blocks] == ["a0", "b0", "c0", "a1", "b1", "a2"]


def test_lost_in_the_middle_is_a_name_of_edges() -> None:
    """P1, S10: the order by the name that the published system gives it."""
    assert ordered("lost_in_middle", "123456") == ordered("edges", "123456")
    context = assemble("q", [{"text": "One."}], order="lost_in_middle", budget=99)
    assert context.text


def test_markers_without_a_source_line() -> None:
    """P1: `[i] text`, which names no source; the citations do."""
    recipe = replace(RECIPES["citations"], format=Numbered(header_form="bare"))
    pool = [{"text": f"Text number {n}.", "source": f"{n}.md", "score": 1 - n / 9} for n in (1, 2)]
    context = assemble("q", pool, recipe=recipe, budget=99)

    assert context.text == "[1] Text number 1.\n\n[2] Text number 2."
    assert [c.source for c in context.citations] == ["1.md", "2.md"]


def test_document_first_labels_summaries_in_the_users_language() -> None:
    """R2, P1: the Dutch system's own words in Dutch, and English for everybody else."""
    pool = [{"text": "Open van negen tot vijf.", "summary": "Over de raadpleging."}]
    for language, label in (("nl", "Pagina context"), ("en", "Page context")):
        context = assemble("q", pool, recipe="document-first", language=language)
        assert f"[{label}: Over de raadpleging.]" in context.text


def test_document_first_citations() -> None:
    """P1: A5, B2, A6, C1 become A5 A6 B2 C1, and [1] is A, [2] is B, [3] is C."""
    rows = (("A", 5, 0.9), ("B", 2, 0.8), ("A", 6, 0.7), ("C", 1, 0.6))
    pool = [
        {
            "id": f"{d}{n}",
            "document_id": d,
            "source": f"{d}.md",
            "sequence": n,
            "text": FILLER.format(f"{d}{n}"),
            "score": score,
            "start": n * 500,
            "end": n * 500 + len(FILLER.format(f"{d}{n}")),
        }
        for d, n, score in rows
    ]
    context = assemble("q", pool, recipe="document-first", budget=8000)

    assert [i for b in context.blocks for i in b.chunk_ids] == ["A5", "A6", "B2", "C1"]
    assert [(c.marker, c.document_id) for c in context.citations] == [
        (1, "A"),
        (2, "B"),
        (3, "C"),
    ]
    assert context.citations[0].chunk_ids == ("A5", "A6")


def test_document_first_drops_the_tail() -> None:
    """P1: whole documents within the budget; the tail is dropped and said to be."""
    pool = [
        {
            "id": f"{d}{n}",
            "document_id": d,
            "text": FILLER.format(f"{d}{n} " * 20),
            "score": score,
            "sequence": n * 5,
        }
        for d, n, score in (("A", 1, 0.9), ("B", 1, 0.8), ("B", 2, 0.1), ("C", 1, 0.7))
    ]
    context = assemble("q", pool, recipe="document-first", budget=160)
    kept = {b.document_id for b in context.blocks}
    dropped = {d.chunk_id for s in context.trace for d in s.decisions if d.action == "dropped"}

    assert kept == {"A"}
    assert dropped == {"B1", "B2", "C1"}


def test_source_label() -> None:
    """P1: [SOURCE n] labels by score, stopped at 24,000 characters, then the list of sources."""
    pool = [
        {
            "text": f"{n} " + FILLER.format("x" * 3000),
            "source": f"f{n}.md",
            "section": "Intro",
            "score": 1 - n / 20,
            "page": n,
            "line": n * 10,
        }
        for n in range(12)
    ]
    context = assemble("q", pool, recipe="source-label")

    assert len(context.text) <= 24_000
    assert context.text.startswith("[SOURCE 1] f0.md § Intro, line 0\n0 Enough")
    assert [c.source for c in context.citations] == [f"f{n}.md" for n in range(7)]
    assert all(len(c.snippet) == 200 for c in context.citations)
    assert [(c.page, c.line) for c in context.citations] == [(n, n * 10) for n in range(7)]
    reasons = [d.reason for d in context.trace[1].decisions if d.action == "dropped"]
    assert reasons == ["over_budget", *["after_stop"] * 4]


def test_four_stage_numbered_without_pages() -> None:
    """P1: numbered, no page in the header, `---` between, semantic copies at 0.92 gone."""
    pool = [
        {"text": FILLER.format("one"), "score": 0.9, "page": 3, "embedding": [1.0, 0.0]},
        {"text": FILLER.format("one") + " ", "score": 0.8, "page": 4, "embedding": [1.0, 0.1]},
        {"text": "Quite another matter. " * 8, "score": 0.7, "embedding": [0.0, 1.0]},
    ]
    for n, row in enumerate(pool):
        row["source"] = f"s{n}"
    context = assemble("q", pool, recipe="four-stage")

    assert context.text.startswith(f"[1] Source: s0\n{FILLER.format('one')}\n\n---\n\n[2] Source:")
    assert "page" not in context.text
    assert [s.source for s in context.citations[0].corroborating] == ["s1"]


def test_four_stage_keeps_short_chunks_and_drops_negative_scores() -> None:
    """P1: no text is too short for that system; its relevance floor is 0.0."""
    pool = [
        {"text": "The office closes at 17:00 on Fridays.", "score": 0.99, "source": "hours.md"},
        {"text": "Weddings are booked by telephone.", "score": 0.41, "source": "weddings.md"},
        {"text": "Parking is free.", "score": 0.0, "source": "parking.md"},
        {"text": "The mill was sold.", "score": -3.2, "source": "mill.md"},
    ]
    context = assemble("When does the office close?", pool, recipe="four-stage")

    assert [b.source for b in context.blocks] == ["hours.md", "weddings.md", "parking.md"]
    dropped = [d for s in context.trace for d in s.decisions if d.action == "dropped"]
    assert [d.reason for d in dropped] == ["below_floor"]


def test_cfs_021_keeps_an_overlap_of_exactly_four_fifths() -> None:
    """P1: its rule is an overlap over 0.8; four of five shared triples are no copy."""
    pool = [
        {"text": "the old mill stands by the river", "score": 0.9, "source": "a.md"},
        {"text": "the old mill stands by the", "score": 0.8, "source": "b.md"},
        {"text": "the old mill stands by the lake", "score": 0.7, "source": "c.md"},
        {"text": "the old mill stands by the also", "score": 0.6, "source": "d.md"},
    ]
    context = assemble("q", pool, recipe="cfs-021", budget=500)
    reached = DedupNear(method="containment")(
        tuple(candidate(row["text"], row["score"], id=row["source"]) for row in pool), request()
    )

    assert [b.source for b in context.blocks] == ["a.md", "d.md", "c.md"]
    assert [c.id for c in reached.candidates] == ["a.md", "c.md"]


def test_four_stage_compresses_the_oversized() -> None:
    """P1: a chunk over 2,000 tokens is shown in at most about 2,000, verbatim sentences."""
    long = " ".join(f"Sentence number {n} says a little about the mill." for n in range(400))
    context = assemble("mill?", [{"text": long, "score": 1.0}], recipe="four-stage")

    assert context.blocks[0].rendition == "extract"
    assert 500 < context.token_count <= 2100


def test_local_llm_truncates() -> None:
    """P1: the window is filled with a truncated chunk, in XML, the best at both ends."""
    pool = [
        {"id": f"c{n}", "text": f"This is sentence {n}. " * 200, "score": 1 - n / 9}
        for n in range(5)
    ]
    context = assemble("q", pool, recipe="local-llm", budget=2600)

    assert [b.rendition for b in context.blocks].count("truncated") == 1
    assert context.text.startswith('<chunk index="1"')
    assert " …\n" in context.text


def test_local_llm_window_from_the_registry() -> None:
    """P1: the window comes from the registry, less 1,024 for the output and 64 of overhead."""
    context = assemble("q", [{"text": FILLER.format(1)}], recipe="local-llm", model="gemma2:9b")
    budget = context.budget

    assert budget.window == 8192
    assert budget.generation == 1024
    assert budget.total == 8192
    assert 7000 < (budget.documents or 0) <= 8192 - 1024 - 64
