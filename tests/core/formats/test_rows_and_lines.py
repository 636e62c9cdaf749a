"""Where a block comes from, in the header of `source`."""

from __future__ import annotations

import pytest

from foveate import assemble
from foveate.core.formats import BUILTIN

PLACES = [
    ({"row": 43, "section": "Sheet1", "source": "data.xlsx"}, "data.xlsx § Sheet1, row 43"),
    ({"line": 7, "section": "Use", "source": "a.md"}, "a.md § Use, line 7"),
    ({"line": 7, "source": "a.md"}, "a.md, line 7"),
    ({"row": 2, "line": 3, "source": "a.csv"}, "a.csv, row 2"),
    ({"row": 0, "page": 4, "source": "a.csv"}, "a.csv, row 0"),
    ({"section": "Use", "source": "a.md"}, "a.md § Use"),
    ({"row": 2, "source": "a, line 9", "section": "b, row 8"}, "a,\\ line 9 § b,\\ row 8, row 2"),
]


@pytest.mark.parametrize(("place", "shown"), PLACES)
def test_the_source_label_has_row_or_line(place, shown):
    """R1, P1: behind the section, the row before the line, and read back."""
    context = assemble("q", [{"text": "Nine.", **place}], recipe="source-label", budget=300)
    assert context.text == f"[SOURCE 1] {shown}\nNine."
    (block,) = BUILTIN["source"]().parse(context.text)
    found = {name: str(value) for name, value in place.items() if name != "page"}
    if "row" in found:
        found.pop("line", None)
    assert block.fields == {"marker": "1", **found}
    assert block.text == "Nine."
