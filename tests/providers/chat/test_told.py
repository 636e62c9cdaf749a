"""The stand-in for a model keeps the laws of models."""

from __future__ import annotations

from foveate.testing.fakes import ScriptedModel
from foveate.testing.models import check_model


def test_the_stand_in_keeps_the_laws():
    """F8: a model that says what it is told to passes the suite that real ones pass."""
    model = ScriptedModel(
        says=lambda messages: f"You asked: {messages[-1]['content']} Nine metres. " * 9
    )
    check_model(model)

    assert model.complete([{"role": "user", "content": "How deep?"}], max_tokens=2).text == (
        "You asked:"
    )
