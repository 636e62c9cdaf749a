"""In what order the chunks of a document stand, whatever the recipe and format."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from foveate import assemble
from foveate.core.formats import BUILTIN
from foveate.core.grouping import group_by_document, place_in_document, reading_order
from foveate.core.recipes import builtin_recipes
from foveate.core.types import Candidate, Chunk

IN_READING_ORDER = ("summarise", "document-first", "cfs-021")
PLACES = ("page", "sequence", "start", "byte_offset", "line", "row")
WAYS = [
    *((recipe, {}) for recipe in IN_READING_ORDER),
    *((recipe, {"order": "chronological"}) for recipe in builtin_recipes()),
    *((recipe, {"order": "document"}) for recipe in builtin_recipes()),
]


def pool_of(seed: int, *names: str) -> list[dict[str, object]]:
    """Chunks of two documents, of which only these fields say where they stand."""
    draw = random.Random(seed)
    found = []
    for source in ("tale.pdf", "manual.pdf"):
        places = draw.sample(range(1, 40), draw.randint(2, 7))
        for place in sorted(places):
            text = f"Part {place:02} of {source} tells of gate {draw.random()}."
            own = dict.fromkeys(names, place)
            found.append({"text": text, "source": source, "document_id": source, **own})
    if draw.random() < 0.7:
        found = [{**one, "score": draw.random()} for one in found]
    draw.shuffle(found)
    return found


def out_of_order(context) -> int:
    """Pairs of blocks of one document that follow one another the wrong way round."""
    places: dict[str, list[str]] = {}
    for block in context.blocks:
        for line in block.text.splitlines():
            if line.startswith("Part "):
                places.setdefault(block.source, []).append(line[5:7])
    return sum(a > b for own in places.values() for a, b in pairwise(own))


def test_documents_read_by_page_without_a_sequence(figure):
    """V5: in sixty pools, every recipe that reads in the order of documents, none the wrong way."""
    made, wrong, blocks = 0, [], 0
    for seed in range(60):
        pool = pool_of(seed, "page")
        chosen = ("numbered", "grouped", "xml", "minimal")[seed // 4 % 4]
        for recipe, order in WAYS[seed % 4 :: 4] + WAYS[:3]:
            context = assemble(
                "What tells of the gate?", pool, recipe=recipe, format=chosen, budget=600, **order
            )
            made, blocks = made + 1, blocks + len(context.blocks)
            if out_of_order(context):
                wrong.append((seed, recipe, order))
    figure(f"{len(wrong)} of {made} contexts out of order, {blocks} blocks")
    assert blocks > 3 * made
    assert wrong == []


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("format_", BUILTIN)
def test_each_place_alone_gives_the_order(name, format_):
    """V5: page, sequence, offset, line and row, in each format."""
    for seed in range(3):
        for recipe, order in (*WAYS[:3], ("citations", {"order": "chronological"})):
            context = assemble(
                "What tells of the gate?",
                pool_of(seed, name),
                recipe=recipe,
                format=format_,
                budget=600,
                **order,
            )
            assert context.blocks
            assert out_of_order(context) == 0


def test_a_place_counts_before_those_behind_it():
    """V5: page before sequence before offset before line before row."""
    chunks = [Chunk(text=f"{name}.", source="a", document_id="a", **{name: 9}) for name in PLACES]
    assert [max(place_in_document(chunk)) for chunk in chunks] == [9] * len(PLACES)
    found = [Candidate(chunk=chunk) for chunk in chunks]
    right = ["row.", "line.", "byte_offset.", "start.", "sequence.", "page."]
    assert [c.text for c in sorted(found, key=reading_order)] == right
    assert [c.text for c in group_by_document(found)[0]] == right


def test_a_recipe_without_groups_reads_by_sequence_in_grouped():
    """V5: `grouped` puts documents together, and each as it reads."""
    pool = [
        {"text": f"Step {n}.", "source": "m", "document_id": "m", "sequence": n, "score": score}
        for n, score in enumerate([0.2, 0.9, 0.1, 0.5], 1)
    ]
    context = assemble(
        "How?", pool, recipe="four-stage", order="chronological", format="grouped", budget=99
    )
    assert "\n\n".join(block.text for block in context.blocks).split("\n\n") == [
        f"Step {n}." for n in (1, 2, 3, 4)
    ]
