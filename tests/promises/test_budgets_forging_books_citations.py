"""Every recipe in every format counted by every tokenizer, and message lists: all promises at once.

`fuzz.check` holds a context to the real count of its text and of the whole request, to parsing
back exactly the blocks and the question, to its citations, and to the books. `make fuzz` has more.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

import fuzz
import fuzz_lists
from foveate.core.formats import BUILTIN as FORMATS
from foveate.core.recipes import builtin_recipes


@pytest.mark.parametrize("recipe", builtin_recipes())
def test_every_recipe_in_every_format_by_every_tokenizer(recipe: str) -> None:
    """B1 B6 R3 C1 S12: hostile documents, whole, cut, nested and lying, at random budgets."""
    outcomes: Counter[str] = Counter()
    number = 100_000 * (1 + list(builtin_recipes()).index(recipe))
    for make in FORMATS.values():
        for tokenizer in fuzz.vocabularies():
            number += 1
            case = fuzz.make(number)
            chosen = replace(builtin_recipes()[recipe], format=make())
            inputs = replace(case.inputs, recipe=chosen)
            outcomes[fuzz.check(replace(case, inputs=inputs, tokenizer=tokenizer))] += 1

    assert outcomes.total() == len(FORMATS) * len(fuzz.vocabularies())
    assert outcomes["fitted"] > outcomes["too small"]


def test_message_lists_in_every_form() -> None:
    """B1 A1 A4 D1: whole and spoiled lists fit, in pairs, the same in a process of another seed."""
    outcomes = fuzz.run_lists(40 * len(fuzz_lists.FORMS), 900_001)

    assert outcomes.total() == 40 * len(fuzz_lists.FORMS)
