"""The stages, one a file; none imports another. `BUILTIN` gives each the name it has in TOML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from foveate.core.lazy_table import class_table

BUILTIN: Mapping[str, Callable[..., Any]] = class_table(
    __name__,
    {
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
    },
)
