"""Contexts that are mutilated on purpose, and the faults that are found in them."""

from __future__ import annotations

import pytest

from foveate.core.types import Block, Candidate, Chunk
from foveate.pipeline.assembler import assemble
from golden_cases import cases
from hygiene import FAULTS, find_faults

TEXT = """The boiler holds forty litres.

- Open the lower valve. Wait for the hiss to end.
- Close it
  before the frost comes. Then go home.

```sh
drain --all boiler --now
```

| part | litres |
|---|---|
| boiler | forty |

The warden said: "Never drain it in a storm. Never alone." Nobody asked why."""


def block(*pieces: str, start: str = "", end: str = "", **more) -> Block:
    """A block of these pieces of the text, with a mark between them."""
    text = start + " […] ".join(pieces) + end
    fields = {"chunk_ids": ("c1",), "rendition": "extract", **more}
    return Block(marker=1, text=text, source="boiler.md", document_id="d1", **fields)


def faults(*blocks: Block, text: str = TEXT) -> dict[str, int]:
    """The faults of the blocks; c1 has the text."""
    chunk = Chunk(id="c1", document_id="d1", text=text, start=0, end=len(text))
    return dict(find_faults([Candidate(chunk=chunk, score=1.0)], blocks))


MARKED = {"start": "[…] ", "end": " […]"}
FAULTY = {
    "item": (("- Open the lower valve.",), "list_item"),
    "item's second line": (("before the frost comes. Then go home.",), "list_item"),
    "code": (("drain --all boiler",), "code_line"),
    "row": (("| boiler |",), "table_row"),
    "quotation": (('Never alone." Nobody asked why.',), "quotation"),
}


@pytest.mark.parametrize("name", FAULTY)
def test_an_atom_that_is_shown_in_part(name):
    """J3: a part of an item, a line of code, a row or a quotation is a fault, a whole is none."""
    pieces, kind = FAULTY[name]
    found = faults(block("The boiler", *pieces, **MARKED))

    assert found == {kind: 1}


def test_whole_atoms_are_clean():
    """J3: the whole text, or whole items, lines, rows and quotations of it, with marks."""
    assert faults(block(TEXT)) == {}
    assert (
        faults(
            block(
                "The boiler holds forty litres.",
                "- Open the lower valve. Wait for the hiss to end.",
                "drain --all boiler --now",
                "| boiler | forty |",
                '"Never drain it in a storm. Never alone."',
                end=" […]",
            )
        )
        == {}
    )


def test_an_atom_in_two_pieces_that_meet_is_whole():
    """J3: what is shown counts, not how it is cut into pieces."""
    shown = block("- Open the lower valve.", "Wait for the hiss to end.", **MARKED)

    assert faults(shown) == {}


@pytest.mark.parametrize(
    ("marks", "count"), [({}, 2), ({"start": "[…] "}, 1), ({"end": " […]"}, 1), (MARKED, 0)]
)
def test_cuts_need_a_mark_at_both_ends(marks, count):
    """J3: each end at which the passage goes on."""
    text = "Salt is dear. The boiler is drained by hand. Tea is not."
    found = faults(block("The boiler is drained by hand.", **marks), text=text)

    assert found == ({"unmarked_cut": count} if count else {})


def test_a_piece_that_occurs_twice_stands_where_the_passage_ends():
    """J3: no mark is asked for at an end that shows the passage's own end, or its beginning."""
    text = "Stop. The boiler is drained by hand. Stop."

    assert faults(block("The boiler is drained by hand. Stop.", start="… "), text=text) == {}
    assert faults(block("The boiler", "Stop.", start="… "), text=text) == {}
    assert faults(block("Stop.", "The boiler", end=" …"), text=text) == {}


def test_hidden_characters_are_no_cut():
    """J3: a context leaves a byte order mark out, and that is no text that is missing."""
    text = "\ufeffThe boiler is drained\u200b by hand. Tea is not."

    assert faults(block("The boiler is drained by hand. Tea is not."), text=text) == {}


def test_a_block_over_chunks_that_do_not_meet_is_read_in_their_order():
    """J3: a piece that both chunks hold stands in the one where the block is in order."""
    chunks = [
        Chunk(id="c1", document_id="d1", text="Boiler. Salt is dear.", start=0, end=21),
        Chunk(id="c2", document_id="d1", text="See below. Tea. Boiler.", start=90, end=113),
    ]
    pool = [Candidate(chunk=c, score=1.0) for c in chunks]
    shown = block("Boiler.", "See below. Tea. Boiler.", chunk_ids=("c1", "c2"))

    assert find_faults(pool, [shown]) == {}


def test_pieces_out_of_reading_order():
    """J3: a block reads as its passage does."""
    found = faults(
        block("Nobody asked why.", "The boiler holds forty litres.", start="[…] ", end=" […]")
    )

    assert found == {"out_of_order": 1}


def test_chunks_that_their_offsets_join_are_one_passage():
    """J3: a block over two chunks is held against their joined text."""
    one, two = "The boiler is drained", " by hand in spring. Tea is dear."
    chunks = [
        Chunk(id="c1", document_id="d1", text=one, start=0, end=len(one)),
        Chunk(id="c2", document_id="d1", text=two, start=len(one), end=len(one + two)),
    ]
    candidates = [Candidate(chunk=chunk, score=1.0) for chunk in chunks]
    shown = block("The boiler is drained by hand in spring.", chunk_ids=("c1", "c2"))

    assert find_faults(candidates, [shown]) == {"unmarked_cut": 1}


def test_changed_texts_and_side_knowledge_are_passed_over():
    """J3: only what is found in the chunks is held against them."""
    assert faults(block("The boiler was rewritten."), block("- Open", kind="supplement")) == {}


def test_every_fault_has_its_test():
    """J3: the names in this file are those of the module."""
    kinds = {kind for _, kind in FAULTY.values()} | {"unmarked_cut", "out_of_order"}

    assert kinds == set(FAULTS)


@pytest.mark.parametrize("recipe", ["default", "tight", "lean"])
@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.dataset}-{case.id}")
def test_nothing_is_mutilated_at_any_budget(case, recipe):
    """J3: of golden cases in six languages, code and lists among them, from small to large."""
    candidates = case.candidates()
    for budget in (40, 60, 100, 150, 300):
        context = assemble(case.question, candidates, recipe=recipe, budget=budget)
        assert find_faults(candidates, context.blocks) == {}
