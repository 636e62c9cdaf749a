"""Look-up by identifier: the record, whole, with its header, and every gap marked and counted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench.lookup import CHECKS, LAYOUTS, ask, candidates_of, check
from bench.lookup_texts import FORMS, RecordText, make_text

from foveate.core.assemble import assemble
from foveate.core.recipes import builtin_recipes
from foveate.core.request import Inputs
from foveate.core.types import Block, Candidate, Chunk, Context
from foveate.core.zones import Budget
from foveate.providers.tokenizers import load_tokenizer


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_record_that_is_named_is_there_whole_with_its_header(form: str, layout: str) -> None:
    """U1, U2: in eleven forms, at three budgets, in one chunk or in many; gaps are counted."""
    for size, seed in ((60, 1), (200, 2)):
        made = make_text(form, size, seed)
        for budget in (150, 300, 600):
            context = ask(made, layout, budget)

            assert check(made, context) == frozenset(CHECKS), (form, size, budget, context.text)


@pytest.mark.parametrize("best", [0.01, 0.99], ids=["worst", "best"])
@pytest.mark.parametrize("form", FORMS)
def test_record_is_there_whatever_the_scores_say(form: str, best: float) -> None:
    """U2: long passages have the query's words, and the head's chunk has the lowest score of all.

    `best`: the score of the record's chunk.
    """
    made = make_text(form, 60, 5)
    noise = [
        Candidate(
            chunk=Chunk(id=f"n{n}", document_id=f"n{n}", text=f"Part {n}. {made.asked} " * 30),
            score=0.9 - n / 100,
        )
        for n in range(20)
    ]
    own = made.ids[made.target]
    low = [
        replace(c, score=best if own in c.chunk.text else 0.01)
        for c in candidates_of(made, "cut between")
    ]
    inputs = Inputs(
        query=made.asked,
        candidates=(*noise, *low),
        budget=Budget(documents=300, window=None),
        recipe=builtin_recipes()["default"],
    )
    context = assemble(inputs, load_tokenizer("cl100k_base"))

    assert check(made, context) >= {"there", "header", "bytes"}


def test_record_far_down_a_long_list_is_not_cut_off_by_the_shortlist() -> None:
    """U2: beyond what the budget's reach holds, and with the part of it in the next chunk."""
    made = make_text("JSON, indented", 500, 3)
    made = replace_target(made, 480)

    assert check(made, ask(made, "cut anywhere", 300)) == frozenset(CHECKS)


def replace_target(made: RecordText, target: int) -> RecordText:
    """The text, and a question about another record of it."""
    return replace(made, target=target, asked=f"What is the state of {made.ids[target]}?")


@pytest.mark.parametrize("form", ["CSV", "TSV", "HTML table", "Markdown table"])
def test_header_is_shown_once_with_rows_of_a_later_chunk(form: str) -> None:
    """U2: the chunk of the header has nothing else that is asked for."""
    made = replace_target(make_text(form, 60, 4), 59)
    context = ask(made, "apart", 300)

    assert context.text.count(made.header) == 1
    assert made.records[59] in context.text


def test_records_that_differ_in_one_figure_stay_apart() -> None:
    """S4, U2: each is a chunk of its own, and none is a copy of another."""
    rows = [f'{{"id": "ORD-{n}", "state": "open", "town": "Bern", "n": 5}}' for n in range(50)]
    rows += [f'{{"id": "ORD-1", "state": "open", "town": "Bern", "n": {n}}}' for n in range(6, 20)]
    pool = [
        Candidate(chunk=Chunk(id=f"c{n}", document_id=f"d{n}", text=row), score=0.5)
        for n, row in enumerate(rows)
    ]
    inputs = Inputs(
        query="Which orders are open in Bern?",
        candidates=tuple(pool),
        budget=Budget(documents=8_000, window=None),
        recipe=builtin_recipes()["default"],
    )
    context = assemble(inputs, load_tokenizer("cl100k_base"))

    assert all(row in context.text for row in rows)


def test_trace_says_what_was_read_and_what_was_broken_off() -> None:
    """U1, J4: by kind; a list that is cut in the middle is read as far as it goes."""
    made = make_text("JSON, one line", 60, 1)
    torn = replace(made, text=made.text[:-300])
    notes = next(s.notes for s in ask(torn, "one chunk", 300).trace if s.stage == "compress")

    assert (notes["shapes"], notes["broken_off"]) == ("1 json", 1)


def test_identifier_is_matched_whole() -> None:
    """U2: `ORD-204` names neither `ORD-2041` nor `XORD-204`."""
    ids = ["ORD-2041", "XORD-204", "ORD-204-B", "ORD-204", "ORD-20"] + [
        f"ORD-9{n}" for n in range(90)
    ]
    text = "\n".join(["id,state,total", *(f"{own},open,{n}.50" for n, own in enumerate(ids))])
    inputs = Inputs(
        query="What is the total of ord-204?",
        candidates=(Candidate(chunk=Chunk(id="c", document_id="d", text=text), score=0.5),),
        budget=Budget(documents=60, window=None),
        recipe=builtin_recipes()["default"],
    )
    context = assemble(inputs, load_tokenizer("cl100k_base"))

    assert "ORD-204,open,3.50" in context.text
    assert "id,state,total" in context.text


@pytest.mark.parametrize(
    ("shown", "missing"),
    [
        ("{header}\n[… 6 of 10 rows]\n{before}\n{record}\n{after}", "gaps"),
        ("[… 2 of 10 rows]\n{before}\n{record}\n{after}\n[… 5 of 10 rows]", "header"),
        ("{header}\n[… 3 of 10 rows]\n{half}", "there"),
        ("{header}\n{record}, or so", "bytes"),
    ],
)
def test_each_check_sees_what_it_is_for(shown: str, missing: str) -> None:
    """Else the measure would prove nothing."""
    made = replace_target(make_text("CSV", 10, 1), 3)
    before, record, after = made.records[2:5]
    text = shown.format(
        header=made.header, before=before, record=record, after=after, half=record[:20]
    )
    block = Block(marker=1, text=text, source="records", document_id="records", rendition="extract")
    context = ask(made, "one chunk", 300)

    assert missing not in check(made, replace_blocks(context, block))
    assert check(made, context) == frozenset(CHECKS)


def replace_blocks(context: Context, block: Block) -> Context:
    """The context with this block alone."""
    return replace(context, blocks=(block,))
