"""What comes out is what the providers' own packages take as a request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate import BudgetTooSmall, compact
from message_lists import sessions, spell
from provider_types import check_request

TYPES = {"openai": "chat list", "responses": "responses list", "anthropic": "anthropic list"}
UNTYPED = {"openai": ("compaction", "unknown", "thinking"), "responses": (), "anthropic": ()}


@pytest.mark.parametrize("form", TYPES)
@given(steps=sessions, budget=st.integers(40, 600))
def test_a_fitted_list_is_a_request_of_its_provider(form, steps, budget):
    """A2: the types of openai and anthropic accept the list, with no key that they do not know."""
    messages = spell([s for s in steps if s.kind not in UNTYPED[form]], form, "You book boats.")
    check_request(TYPES[form], messages)
    try:
        made = compact(messages, budget=budget, form=form)
    except BudgetTooSmall:
        return
    check_request(TYPES[form], list(made.messages))
