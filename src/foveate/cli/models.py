"""A model by its name, for commands."""

from __future__ import annotations

from foveate import plugins
from foveate.answer.answer_budget import find_answer_model
from foveate.models import Model as Facts
from foveate.models import model as find_model
from foveate.ports import Model
from foveate.providers.chat import registry_name


def load_model_facts(name: str | None) -> Facts | None:
    """Window and tokenizer of a model, whose name is written as for `load_model` or alone."""
    if name is None:
        return None
    return find_answer_model(name) or find_model(registry_name(name))


def load_model(name: str) -> Model:
    """The model; raises `ExternalError` if its package or its key is known to be missing.

    A plugin's model may have a `check` too; one that has none is taken as it is.
    """
    model = plugins.model(name)
    check = getattr(model, "check", None)
    if check is not None:
        check()
    return model
