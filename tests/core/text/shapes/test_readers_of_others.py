"""Readers of shapes that a recipe brings: what they find, and what is not believed of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import pytest

from foveate import assemble
from foveate.core.errors import StageBroke
from foveate.core.manifest import canonical_recipe
from foveate.core.text.shapes.find import find_shapes
from foveate.core.text.shapes.shape import ReadResult, Shape, ShapeBuilder, line_end
from foveate.plugins import recipe
from foveate.testing.shapes import check_reader

CARDS = "".join(f"BEGIN:CARD\nname Ada {n}\nsays: No {n}.\nEND:CARD\n" for n in range(40))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cards:
    """Cards from `BEGIN:` to `END:`, each a record."""

    least: int = 1

    def opens(self, line: str) -> bool:
        """Whether a card begins."""
        return line == "BEGIN:CARD"

    def read(self, text: str, start: int) -> ReadResult:
        """All cards from here on."""
        builder, at = ShapeBuilder(), start
        found: list[tuple[int, int]] = []
        while text.startswith("BEGIN:CARD\n", at):
            end = text.find("\nEND:CARD", at)
            if end < 0:
                break
            builder.add(at)
            found.append((at, end + 9))
            at = line_end(text, end + 1) + 1
        if len(found) < self.least:
            return ReadResult(None, len(text))
        builder.counted.append(("records", found))
        return ReadResult(builder.shape(text, "cards", found[-1][1]), at)


def test_laws_hold_for_a_reader_beside_other_texts() -> None:
    """U1: whole, cut at forty places, beside prose and JSON, and in linear time."""
    shape = check_reader(Cards(), CARDS)
    assert (shape.name, len(shape.spans)) == ("cards", 40)
    assert all(one.name != "cards" for one in find_shapes(CARDS))


def test_record_of_another_readers_shape_is_found_whole_and_counted() -> None:
    """U2: with the recipe's reader alone; the next request without it reads as before."""
    mine = replace(recipe("default"), shapes=(Cards(),))
    rows = [{"text": CARDS, "source": "cards.txt"}]
    for shapes in (True, False, True):
        made = assemble(
            "What does Ada 17 say?", rows, recipe=mine if shapes else "default", budget=60
        )
        card = "BEGIN:CARD\nname Ada 17\nsays: No 17.\nEND:CARD"
        assert (card in made.text and "of 40 records]" in made.text) is shapes
        left = sum(int(n) for n in re.findall(r"\[… (\d+) of 40", made.text))
        assert left + made.text.count("END:CARD") == (40 if shapes else made.text.count("END:CARD"))


def test_readers_are_part_of_the_recipes_hash_with_their_options() -> None:
    """D2: a reader, another option and no reader are three recipes."""
    base = recipe("default")
    hashes = {
        canonical_recipe(replace(base, shapes=shapes)).hash
        for shapes in ((), (Cards(),), (Cards(least=2),), (Cards(), Cards(least=2)))
    }
    assert len(hashes) == 4


@pytest.mark.parametrize(
    ("spans", "leans"),
    [
        ((), ()),
        (((4, 9), (0, 3)), (0, 1)),
        (((0, 9), (4, 12)), (0, 1)),
        (((0, 9), (9, 9)), (0, 1)),
        (((0, 9), (10, 10_000)), (0, 1)),
        (((0, 9), (10, 12)), (1, 1)),
        (((0, 9), (10, 12)), (0,)),
    ],
)
def test_units_that_cannot_be_are_refused(spans, leans) -> None:
    """U1, P4: out of order, over one another, empty, outside of the text, or leaning ahead."""

    class Wrong(Cards):
        def read(self, text: str, start: int) -> ReadResult:
            end = spans[-1][1] if spans else 0
            return ReadResult(Shape("wrong", 0, end, spans, leans), len(text))

    with pytest.raises(StageBroke, match="wrong"):
        find_shapes(CARDS, (Wrong(),))
