"""Options as tests write them: keywords in, resolved options out."""

from __future__ import annotations

from typing import Any

from foveate.pipeline.options import AssembleOptions, ResolvedOptions, resolve_options


def resolve(query: str = "", **keywords: Any) -> ResolvedOptions:
    """The resolved options of these keywords."""
    return resolve_options(AssembleOptions(**keywords), query)
