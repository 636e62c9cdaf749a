"""The stages, one a file; none imports another. `BUILTIN` gives each the name it has in TOML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from foveate.core.stages.compress import Compress
from foveate.core.stages.dedup.exact import DedupExact
from foveate.core.stages.dedup.near import DedupNear
from foveate.core.stages.divide import Divide
from foveate.core.stages.expand import Expand
from foveate.core.stages.floor import Floor
from foveate.core.stages.group import Group
from foveate.core.stages.order import Order
from foveate.core.stages.pack import Pack
from foveate.core.stages.recent import PreferRecent
from foveate.core.stages.shortlist import Shortlist
from foveate.core.stages.stitch import Stitch
from foveate.core.stages.supplement import SupplementGate

BUILTIN: Mapping[str, Callable[..., Any]] = {
    "floor": Floor,
    "prefer_recent": PreferRecent,
    "dedup_exact": DedupExact,
    "dedup_near": DedupNear,
    "shortlist": Shortlist,
    "expand": Expand,
    "stitch": Stitch,
    "group": Group,
    "compress": Compress,
    "divide": Divide,
    "supplement_gate": SupplementGate,
    "pack": Pack,
    "order": Order,
}
