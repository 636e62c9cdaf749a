"""Explanations in words and columns: pure functions of a context."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from command_line import CHUNKS, QUERY
from foveate.cli.layout import format_columns, wrap_words
from foveate.cli.show import (
    candidate_names,
    citation_lines,
    explain_all_lines,
    explain_lines,
    trace_lines,
    zone_lines,
)
from foveate.core.recipes import builtin_recipes
from foveate.core.types import Decision
from foveate.core.zones import Budget
from foveate.pipeline.assembler import assemble
from foveate.pipeline.inputs import candidates_of
from foveate.pipeline.reason_messages import REASON_SENTENCES, STITCHED_SENTENCES, format_decision
from source_tree import CORE, python_files

WIDE = "世界 " * 9 + "👩‍👩‍👧 " + "x" * 200 + " \x1b[31mred\x1b[0m \u202eback"


def many(n: int) -> list[dict[str, object]]:
    """Candidates of a few documents, some alike, some long, some with odd names."""
    return [
        {
            "id": f"{'很长的名字' * (i % 5)}chunk-{i}",
            "source": f"{WIDE[: i * 9]}folder/page{i % 4}.md",
            "title": WIDE if i == 3 else "",
            "sequence": i,
            "score": 1 - i / n,
            "text": f"Sentence {i % 7} of the manual says what to do. {'It goes on. ' * (i % 5)}",
        }
        for i in range(n)
    ]


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        (
            Decision(chunk_id="a", action="dropped", reason="over_budget", by="c17",
                     numbers={"tokens": 412, "short_by": 312, "lost_by": 0.04}),
            (
                "412 tokens do not fit; would fit with 312 more tokens; "
                "comes after c17, whose score is 0.04 higher"
            ),
        ),
        (
            Decision(chunk_id="a", action="merged", reason="semantic_duplicate", by="b",
                     numbers={"similarity": 0.9512, "threshold": 0.92}),
            "says the same as b: 0.9512, limit 0.92",
        ),
        (
            Decision(chunk_id="a", action="merged", reason="stitched", by="b",
                     numbers={"overlap": 1234}),
            "joined to b, 1,234 repeated characters left out",
        ),
        (
            Decision(chunk_id="a", action="dropped", reason="off_topic", by="b",
                     numbers={"distance": 3, "topic": "boats"}),
            "off_topic, by b, distance 3, topic boats",
        ),
        (Decision(chunk_id="a", action="dropped", reason="over_budget"), "over_budget"),
        (
            Decision(chunk_id="a", action="dropped", reason="no_match", numbers={"tokens": 9}),
            "9 tokens; it has headings, names of columns and brackets alone",
        ),
        (
            Decision(chunk_id="a", action="dropped", reason="already_said"),
            "all that it says is in the texts that are shown",
        ),
        (
            Decision(chunk_id="a", action="entered", reason="neighbour", by="{b}",
                     numbers={"distance": 1, "score": 0.4}),
            "1 away from {b}, at score 0.4",
        ),
    ],
)  # fmt: skip
def test_decisions_in_words(decision, said):
    """D7: reasons and counterfactuals are sentences; a plugin's reason is shown as it is."""
    assert format_decision(decision) == said


def test_every_reason_of_the_core_has_its_sentence():
    """D7: no reason code that the core gives is left without words."""
    text = "".join(path.read_text(encoding="utf-8") for path in python_files(CORE))
    codes = set(re.findall(r'reason="(\w+)"', text)) | {
        "below_floor", "degenerate", "document_quota", "quota", "over_budget", "after_stop",
        "document_over_budget", "near_duplicate", "contained", "semantic_duplicate",
        "verbatim", "stripped", "extract", "truncated",
    }  # fmt: skip

    # `sanitised` has a figure for each kind of character, so it is shown with its numbers.
    assert codes - set(REASON_SENTENCES) - {"stitched", "sanitised"} == set()
    assert set(STITCHED_SENTENCES) == {"changed", "merged"}


def test_every_candidate_has_its_fate():
    """D7, S12: each chunk that left is in the explanation, with its stage's counts."""
    context = assemble(QUERY, many(40), recipe="citations", budget=300)
    text = "".join(line.strip() for line in explain_all_lines(context, (), 100))

    dropped = [d for stage in context.trace for d in stage.decisions if d.action != "kept"]

    assert len(dropped) > 20
    for stage in context.trace:
        assert f"{stage.before} → {stage.after} chunk" in text
    for decision in dropped:
        assert decision.chunk_id in text


@pytest.mark.parametrize("recipe", builtin_recipes())
def test_explanations_fit_the_terminal(recipe):
    """F2, D7: odd names and wide letters included; the short one has at most 30 lines."""
    found = candidates_of(many(60))
    context = assemble("What does the manual say?", found, recipe=recipe, budget=400)

    for width in (40, 60, 80):
        short, whole = (show(context, found, width) for show in (explain_lines, explain_all_lines))

        assert len(short) < 30
        assert max(map(cell_len, [*short, *whole])) <= width
        assert not {"\x1b", "\u202e"} & {*"".join([*short, *whole])}


def test_the_short_explanation_says_what_is_left_out_and_why():
    """F2, D7: the ten best with the reason; the others are counted."""
    found = [{"id": f"{n}", "text": f"The pump of house {n} is in room {n}."} for n in range(30)]
    context = assemble("Where is the pump?", found, budget=60)
    dropped = [d for stage in context.trace for d in stage.decisions if d.reason == "over_budget"]
    lines = explain_lines(context, candidates_of(found), 100)

    at = lines.index(f"Left out, the best 10 of {len(dropped)}")
    named = [line.split()[0] for line in lines[at + 1 : at + 11]]
    assert named == sorted((d.chunk_id for d in dropped), key=int)[:10]
    assert all("do not fit" in line for line in lines[at + 1 : at + 11])
    assert f"left out: {len(dropped)} over budget" in " ".join(lines)


def test_candidates_without_ids_are_named_by_source_and_place():
    """F2, V-n: no hash is shown, and two candidates of one place have two names."""
    found = candidates_of(
        [
            {"text": "Keep the pressure under two bar.", "source": "boiler.md", "page": 4},
            {"text": "Keep the  pressure under two bar.", "source": "boiler.md", "page": 4},
            {"text": "The pump starts at one bar.", "source": "stock.csv", "row": 7},
            {"text": "Roses want sun.", "source": "garden.md", "sequence": 3},
            {"text": "The attic is dry."},
            {"text": "The roof is of slate.", "id": "own"},
        ]
    )
    names = candidate_names(found)
    context = assemble("Which pressure?", found, budget=100)
    text = "\n".join([*explain_lines(context, found, 100), *explain_all_lines(context, found, 100)])

    assert list(names.values()) == [
        "boiler.md, page 4", "candidate 2, boiler.md, page 4", "stock.csv, row 7",
        "garden.md, part 3", "candidate 5",
    ]  # fmt: skip
    assert "the same text as boiler.md, page 4" in text
    assert not [i for i in names if i in text.partition("Citations")[0]]


def test_the_trace_lines_up():
    """F2: the counts of all stages stand under each other."""
    lines = trace_lines(assemble(QUERY, many(12)), 80)[1:]
    counted = [line for line in lines if "→" in line]

    assert len({line.index("→") for line in counted}) == 1
    assert counted[0].split()[:5] == ["input", "12", "→", "12", "chunks"]


def test_every_zone_has_its_tokens():
    """B2, F2: the zones and the window in numbers, and what the documents took of theirs."""
    budget = Budget(
        window=2_000, system=200, documents=900, conversation=400, query=50, generation=400,
        buffer=50,
    )  # fmt: skip
    context = assemble(QUERY, CHUNKS, budget=budget)
    lines = zone_lines(context, 200)

    assert lines[1].strip() == (
        "system 200, documents 900, conversation 400, query 50, generation 400, buffer 50, "
        "window 2,000"
    )
    assert lines[-1].strip().startswith(f"{context.token_count} of 900 tokens")


def test_a_budget_alone_has_no_other_zones():
    """B6, F2: where no window is known, the documents' room is shown, and the characters'."""
    tokens = zone_lines(assemble(QUERY, CHUNKS, budget=80), 80)
    characters = zone_lines(assemble(QUERY, CHUNKS, recipe="source-label"), 80)

    assert tokens[1] == "  documents 80"
    assert "of 24,000 characters" in characters[-1]


def test_citations_say_where():
    """C2, F2: marker, source, page and the copies' sources, as far as they are known."""
    shown = "\n".join(citation_lines(assemble(QUERY, CHUNKS, budget=80), 80))

    assert "  [1] boiler.md; page 4; chunk" in shown
    assert "also in copy.md" in shown
    assert "“Keep the pressure between one and two bar." in shown


@given(st.text(max_size=200), st.integers(20, 100))
def test_wrapping_loses_no_word(text, width):
    """Lines fit, and the words come back in their order."""
    lines = wrap_words(text, width, first="  [1] ")

    assert max(map(cell_len, lines)) <= width
    assert "".join("".join(lines).split())[3:] == "".join("".join(wrap_words(text, 10_000)).split())


@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=90)), max_size=6))
def test_rows_fit(pairs):
    """Two columns fit whatever is in them."""
    lines = format_columns(pairs, 60)

    assert all(cell_len(line) <= 60 for line in lines)
    assert len(lines) >= len(pairs)


def test_one_is_not_several():
    """F2: a single sentence is called one; a number that ends with 1 is left alone."""
    numbers = {"tokens": 21, "sentences": 1}
    one = Decision(chunk_id="c", action="changed", reason="weighed", numbers=numbers)
    assert format_decision(one) == "21 tokens; 1 sentence of it weighed"
    why = {"tokens": 1, "why": "no answer within 20 s"}
    failed = Decision(chunk_id="c", action="changed", reason="model_failed", numbers=why)
    said = "1 token; its own sentences, not the model's version: no answer within 20 s"
    assert format_decision(failed) == said
