"""Other weights in the default: the same pipeline, but for them."""

from __future__ import annotations

import pytest
from tools.fit.trial import recipe_with

from foveate.core.stages.compress.score import WEIGHTS
from foveate.pipeline.assembler import assemble
from golden_cases import cases


@pytest.mark.parametrize("budget", [60, 150, 5000])
def test_with_the_weights_as_they_stand_it_is_the_default(budget: int) -> None:
    """S8: byte by byte the same context."""
    recipe = recipe_with(WEIGHTS, "same")
    for case in cases():
        plain = assemble(case.question, case.candidates(), recipe="default", budget=budget)
        ours = assemble(case.question, case.candidates(), recipe=recipe, budget=budget)

        assert ours.text == plain.text
