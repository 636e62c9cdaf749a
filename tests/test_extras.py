"""What is tried of the wheel: each extra has its one thing, and each Python is named."""

from __future__ import annotations

import re

from tools.extras import APART, EXTRAS
from tools.wheels import supported

from project import PROJECT


def test_every_extra_has_the_one_thing_it_is_tried_with():
    """F1: no extra is published that `make wheels` does not install alone and use."""
    extras = set(PROJECT["optional-dependencies"])

    assert set(EXTRAS) == extras - {"all"}


def test_what_is_apart_is_no_part_of_all():
    """F6: `all` brings every extra but the frameworks', which one has or has not."""
    (everything,) = PROJECT["optional-dependencies"]["all"]
    inside = set(re.findall(r"[a-z-]+", everything.partition("[")[2]))
    brought = {"openai", "anthropic", "ollama"}  # by `models`

    assert inside | brought == set(EXTRAS) - set(APART)


def test_the_pythons_that_are_tried_are_those_that_are_named():
    """F1: from the oldest that the metadata allows on, without a gap."""
    found = [tuple(map(int, one.split("."))) for one in supported()]
    oldest = tuple(map(int, PROJECT["requires-python"].removeprefix(">=").split(".")))

    assert found == [(3, minor) for minor in range(oldest[1], found[-1][1] + 1)]
