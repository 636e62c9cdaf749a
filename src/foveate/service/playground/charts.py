"""The chart library: the one file of it that the installed `plotly` package ships for pages."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from foveate.core.errors import MissingExtra

_OWN_STYLE = re.compile(rb'getElementById\("([0-9a-f]{32,})"\)')


@lru_cache(maxsize=1)
def chart_library() -> bytes:
    """`plotly.min.js`; raises `MissingExtra` without the package."""
    try:
        import plotly
    except ImportError:
        raise MissingExtra("plotly", "serve") from None
    return (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_bytes()


def own_styles() -> list[str]:
    """The ids under which the library puts styles of its maps into a page, unless they are there.

    The page's policy allows no styles but its own, and has no maps: it puts something there.
    """
    return sorted({found.decode() for found in _OWN_STYLE.findall(chart_library())})
