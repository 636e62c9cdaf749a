"""J1, J2, J5: scores that separate decide, noise is left out, and headers are cheap."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate import assemble
from foveate.core.formats.numbered import Numbered
from foveate.core.stages.compress.separation import clarity_by_chunk
from foveate.core.text.units import units_of
from foveate.pipeline.options import DEFAULT_TOKENS, AssembleOptions, resolve_options

WORDS = [f"w{n}x" for n in range(400)]
QUESTION = "Which pressure does the north boiler need in winter?"


def pool(best: int, *, seed: int = 1, high: float = 0.99) -> list[dict[str, object]]:
    """Thirty passages about boilers; the one at `best` is scored high and shares no word."""
    dice = Random(seed)
    found: list[dict[str, object]] = []
    for n in range(30):
        noise = ". ".join(" ".join(dice.choices(WORDS, k=9)).capitalize() for _ in range(4))
        asked = "The north boiler and its pressure in winter are described elsewhere. "
        found.append(
            {
                "id": f"c{n}",
                "text": noise + "." if n == best else asked + noise + ".",
                "source": f"manual/part{n}.md",
                "score": high if n == best else 0.30 * (1 - n / 30),
            }
        )
    return found


def trace_of(context, stage):
    """The entry of one stage."""
    return next(entry for entry in context.trace if entry.stage == stage)


@pytest.mark.parametrize("recipe", ["default", "tight"])
@pytest.mark.parametrize("budget", [400, 1_000])
def test_a_score_that_separates_decides(recipe: str, budget: int) -> None:
    """J1: the passage that the retriever is sure of is there, whatever words the others share."""
    found = pool(best=17)
    context = assemble(QUESTION, found, budget=budget, recipe=recipe)

    assert "c17" in {chunk for citation in context.citations for chunk in citation.chunk_ids}
    notes = trace_of(context, "compress").notes
    assert notes["separation"] == 1
    assert notes["decided_by"] == "scores and words"  # the words speak for others


def test_agreement_shows_the_whole_passage() -> None:
    """J1: where words and scores agree, nothing of the passage is left out."""
    found = pool(best=4)
    found[4]["text"] = "The north boiler needs two bar in winter. " + str(found[4]["text"])
    context = assemble(QUESTION, found, budget=400)

    assert str(found[4]["text"]) in context.text
    assert trace_of(context, "compress").notes["decided_by"] == "scores"


def test_scores_without_a_gap_leave_it_to_the_words() -> None:
    """J1, J6: equal scores decide nothing."""
    found = [item | {"score": 0.5} for item in pool(best=29)]
    context = assemble(QUESTION, found, budget=200)

    assert trace_of(context, "compress").notes["decided_by"] == "words"
    assert "c29" not in {chunk for citation in context.citations for chunk in citation.chunk_ids}


@given(
    st.lists(st.floats(-1e6, 1e6), max_size=40),
    st.floats(0.001, 1e3),
    st.floats(-1e3, 1e3),
)
def test_the_shape_of_the_scores_decides(scores: list[float], factor: float, shift: float) -> None:
    """J1, J6: monotone in the score, and the same for logits, cosines and shares."""
    found = clarity_by_chunk(scores)

    assert ((found >= 0) & (found <= 1)).all()
    order = np.argsort(-np.array(scores), kind="stable")
    assert (np.diff(found[order]) <= 0).all()
    assert (found > 0).sum() <= len(scores) // 2
    moved = clarity_by_chunk([factor * score + shift for score in scores])
    if len(scores) > 2 and np.ptp(scores) > 1e-3:
        assert np.allclose(found.max(initial=0), moved.max(initial=0), atol=1e-3)


def test_lean_leaves_out_noise_though_it_fits() -> None:
    """J2: default shows a pool that fits; lean stops at half of the budget, and says so."""
    found = [
        {"text": f"Roses and wool number {n} are kept in large old rooms.", "source": f"{n}.md"}
        for n in range(60)
    ]
    gold = {"text": "The north boiler needs a pressure of two bar in winter.", "source": "a.md"}
    whole = assemble(QUESTION, [gold, *found], budget=4_000)
    lean = assemble(QUESTION, [gold, *found], budget=2_000, recipe="lean")

    assert len(whole.blocks) == 61
    assert str(gold["text"]) in lean.text
    assert 900 < lean.token_count <= 1_000
    assert trace_of(lean, "pack").notes["stopped"] > 0


def test_what_has_no_word_of_the_question_comes_last() -> None:
    """J2: a text without a word of the question, and without a score that speaks for it."""
    found = [
        {"text": f"The boiler holds {n} litres. It is old.", "source": f"{n}.md", "score": 0.5}
        for n in range(40, 50)
    ]
    found.append({"text": "Hello and welcome. Have a nice day.", "source": "mail", "score": 0.1})
    for budget in range(40, 400, 20):
        shown = [block.source for block in assemble(QUESTION, found, budget=budget).blocks]
        assert "mail" not in shown or len(shown) == len(found)


def many(*others: dict[str, object]) -> list[dict[str, object]]:
    """Ten texts that match, with a good score, and these with a bad one."""
    found: list[dict[str, object]] = [
        {"text": f"The boiler holds {n} litres. It is old.", "source": f"{n}.md", "score": 0.5}
        for n in range(40, 50)
    ]
    return [*found, *({"score": 0.1, "id": "last", **other} for other in others)]


def test_a_title_speaks_for_the_whole_text_and_for_no_part_of_it() -> None:
    """J3: a text whose title alone has a word of the question is shown whole or not at all."""
    text = "Hello and welcome. Open the lower valve. Wait for the hiss to end."
    found = many({"text": text, "title": "The boiler", "source": "manual"})
    kinds = []
    for budget in range(60, 240, 20):
        context = assemble("How much does the boiler hold?", found, budget=budget)
        kinds += [b.rendition for b in context.blocks if "last" in b.chunk_ids]

    assert kinds
    assert set(kinds) == {"verbatim"}


def test_the_head_of_a_table_opens_no_block() -> None:
    """J3: a head with a word of the question is shown with a row that has one, or not at all."""
    rows = "\n".join(f"| {n} | tea |" for n in range(30))
    table = f"| boiler | hold |\n|---|---|\n{rows}"
    for text, is_shown in ((table, False), (f"{table}\n| 99 | boiler room |", True)):
        context = assemble("How much does the boiler hold?", many({"text": text}), budget=200)
        shown = [b.text for b in context.blocks if "last" in b.chunk_ids]
        assert len(shown) == is_shown
        assert all("| boiler | hold |" in t and "boiler room" in t for t in shown)


def test_the_title_of_a_table_opens_no_block() -> None:
    """J3: what stands above the names of the columns says no more than they do."""
    rows = "\n".join(f"| 20{n} | ${n}60 | {n} |" for n in range(10, 40))
    text = f"|  | Boiler | Well |\n|  | (in litres) |  |\n{rows}"
    context = assemble("How much does the boiler hold?", many({"text": text}), budget=200)

    assert not [b for b in context.blocks if "last" in b.chunk_ids]


def test_a_small_pool_is_shown() -> None:
    """J2: with a few hundred tokens, nothing is too unlikely."""
    found = [
        {"text": "The well is nine metres deep.", "source": "wells.md", "score": 0.9},
        {"text": "The mill was built in 1880.", "source": "mill.md", "score": 0.1},
    ]

    assert len(assemble("How deep is the well?", found).blocks) == 2


@pytest.mark.parametrize(
    ("options", "tokens"),
    [
        ({}, DEFAULT_TOKENS),
        ({"recipe": "cfs-021"}, 7_200),
        ({"budget": 9_000}, 9_000),
        ({"model": "gpt-4o"}, DEFAULT_TOKENS),
    ],
)
def test_modest_without_a_budget(options: dict[str, object], tokens: int) -> None:
    """J2: 4,000 tokens if neither the caller nor the recipe names a budget."""
    resolved = resolve_options(AssembleOptions().changed(options))

    assert resolved.budget.documents == tokens


def test_headers_are_short_in_a_small_budget() -> None:
    """J5: the file's name alone, which reads back; the citation has the full source."""
    found = pool(best=3)
    small, large = (assemble(QUESTION, found, budget=n) for n in (500, 5_000))
    headers = small.token_count - sum(assemble_tokens(block.text) for block in small.blocks)

    assert small.text.startswith("[1] part")
    assert "Source:" not in small.text
    assert "[1] Source: manual/part" in large.text
    assert {c.source for c in small.citations} <= {item["source"] for item in found}
    assert [parsed.text for parsed in Numbered(header_form="short").parse(small.text)] == [
        block.text for block in small.blocks
    ]
    assert headers <= 10 * len(small.blocks)


def assemble_tokens(text: str) -> int:
    """Its tokens, as the recipe counts them."""
    from foveate.plugins import tokenizer

    return tokenizer("cl100k_base").count(text)


def test_reranked_trusts_the_score() -> None:
    """J1: whole passages by score alone, best first."""
    context = assemble(QUESTION, pool(best=17), budget=500, recipe="reranked")

    first, second = (citation.chunk_ids for citation in context.citations[:2])
    assert (first, second) == (("c17",), ("c0",))


def test_a_step_and_a_statement_stay_whole() -> None:
    """J3: an item of a list is one unit; code ends at the end of a statement."""
    steps = "To drain it:\n\n1. Close valve A. Wait a minute. Open it again.\n2. Press the button."
    functions = "\n\n".join(
        f"def drain_{n}(boiler):\n    if boiler.hot:\n        return None\n    else:\n"
        f"        return boiler.drain(\n            litres={n},\n        )"
        for n in range(9)
    )
    code = f"```python\n{functions}\n```"
    long = "To drain it:\n\n- " + "Wait until the valve is cold to the hand. " * 36

    assert [steps[a:b] for a, b in units_of(steps).spans][1] == (
        "1. Close valve A. Wait a minute. Open it again."
    )
    assert len(units_of(long).spans) == 2
    pieces = [code[a:b] for a, b in units_of(code).spans]
    assert len(pieces) > 1
    assert all(piece.startswith(("def ", "```")) for piece in pieces)


PUMPS = [
    "# Feed pumps\n\nThree feed pumps lift water from the pond. Each pump has a motor and a shaft.",
    "## Before starting\n\nVent the housing of the pump. Turn the shaft by hand once.",
    "## Shaft seal\n\nA few drops a minute are normal. Replace it after 8,000 hours at the latest.",
    "## Bearings\n\nGrease both every 500 hours. Wipe off what comes out at the side.",
]
WORK = ["replaced", "inspected and not replaced", "replaced", "inspected and must be replaced soon"]


@pytest.mark.parametrize("recipe", ["default", "tight"])
@pytest.mark.parametrize("high", ["rows", "none"])
def test_rows_that_repeat_the_question_leave_room_for_the_answer(recipe: str, high: str) -> None:
    """J1, J6: a section is asked for by its heading; rows of a table share more words.

    That a row is the first of its table says nothing for it.
    """
    rows = [
        f"date: 2023-0{n}-11; pump: pump {n % 3}; part: shaft seal; work: shaft seal of the pump "
        f"{WORK[n % 4]}; hours: {n * 1370 + 420}; by: Meyer"
        for n in range(1, 9)
    ]
    found = [
        {"text": text, "source": "pumps.md", "title": "Feed pumps", "sequence": n, "score": 0.5}
        for n, text in enumerate(PUMPS)
    ]
    score = 0.7 if high == "rows" else 0.5
    at = 0
    for n, text in enumerate(rows, 1):
        place = {"row": n + 1, "start": at, "end": at + len(text), "sequence": n}
        found.append({"text": text, "source": "repairs.csv", "score": score - n / 100, **place})
        at += len(text) + 1
    question = "When must the shaft seal of the pump be replaced?"

    assert "after 8,000 hours" in assemble(question, found, budget=300, recipe=recipe).text


def test_an_acronym_is_no_stop_word() -> None:
    """J1: in `the WHO`, the capitals say that it is a name."""
    found = [
        {"text": f"A body of number {n} is old. It is wide and red.", "score": 0.5}
        for n in range(20)
    ]
    found.append({"id": "named", "text": "The WHO sets standards. It is old.", "score": 0.4})
    context = assemble("Why is a body like the WHO old?", found, budget=60)

    assert "named" in context.citations[0].chunk_ids
