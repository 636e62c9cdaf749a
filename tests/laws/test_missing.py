"""The law suites where Hypothesis is not installed."""

from __future__ import annotations

import importlib
import sys

import pytest

from foveate.core.errors import MissingExtra
from foveate.core.formats.xml import Xml
from foveate.core.stages.order import Order
from foveate.testing.formats import check_format
from foveate.testing.stages import check_stage


@pytest.mark.parametrize(
    "begin",
    [
        lambda: check_format(Xml()),
        lambda: check_stage(Order()),
        lambda: importlib.import_module("foveate.testing.strategies"),
    ],
    ids=["formats", "stages", "strategies"],
)
def test_who_lacks_hypothesis_is_told_what_to_install(begin, monkeypatch):
    """F1: the suites name the extra that brings it, as everything else does."""
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    monkeypatch.delitem(sys.modules, "foveate.testing.strategies", raising=False)

    with pytest.raises(MissingExtra, match=r"pip install 'foveate\[testing\]'"):
        begin()
