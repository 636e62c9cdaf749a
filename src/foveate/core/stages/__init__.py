"""The stages, one a file; none imports another. `BUILTIN` gives each the name it has in TOML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import Any

from foveate.core.lazy_table import LazyTable

_PLACES = {
    "floor": "floor:Floor",
    "prefer_recent": "recent:PreferRecent",
    "dedup_exact": "dedup.exact:DedupExact",
    "dedup_near": "dedup.near:DedupNear",
    "shortlist": "shortlist:Shortlist",
    "expand": "expand:Expand",
    "stitch": "stitch:Stitch",
    "group": "group:Group",
    "compress": "compress:Compress",
    "divide": "divide:Divide",
    "supplement_gate": "supplement:SupplementGate",
    "pack": "pack:Pack",
    "order": "order:Order",
}
BUILTIN: Mapping[str, Callable[..., Any]] = LazyTable(
    _PLACES, lambda name: resolve_name(f"{__name__}.{_PLACES[name]}")
)
