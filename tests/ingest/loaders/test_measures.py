"""Lines above sheets that say how all figures in them are measured."""

from __future__ import annotations

import pytest

from foveate.ingest.loaders.measures import is_measure_line


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("in thousands of EUR", True),
        ("(EUR million, unless otherwise stated)", True),
        ("Alle Beträge in TEUR", True),
        ("en milliers d'euros", False),
        ("$ in millions, except per share data", True),
        ("Table 3: Debts (in Mio. EUR)", True),
        ("# Debts (in EUR)", False),
        ("Debts rose by millions", False),
        ("in all", False),
        ("Share per million", False),
        ("EUR per share", True),
        ("Debts (unaudited)", False),
        ("", False),
    ],
)
def test_line_says_how_a_table_is_measured(line: str, says: bool) -> None:
    """V1: with words of measure alone, or with those in brackets at its end; never a heading."""
    assert is_measure_line(line) is says
