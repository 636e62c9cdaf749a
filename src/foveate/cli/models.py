"""A model by its name, for commands: what it lacks is said before any work is done for it."""

from __future__ import annotations

from foveate import plugins
from foveate.ports import Model


def load_model(name: str) -> Model:
    """The model; raises `OutsideFailure` where its package or its key is known to be missing.

    A plugin's model may have a `check` too; one that has none is taken as it is.
    """
    model = plugins.model(name)
    check = getattr(model, "check", None)
    if check is not None:
        check()
    return model
