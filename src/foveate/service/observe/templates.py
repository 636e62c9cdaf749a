"""A request's path → the route as it is written: `/v1/documents/{id}`, never the path itself.

Worked out from the path alone, so that requests that are refused before they are routed, for
want of a key or of room, are counted where they were sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

UNMATCHED = "unmatched"
MOUNTED_PATHS = ("/playground", "/mcp")
"""Applications inside ours: one name for all that they have."""


class RouteTemplates:
    """The routes of a service, by their paths."""

    def __init__(self, routes: Iterable[str]) -> None:
        written = [re.sub(r":\w+}", "}", route) for route in routes]
        self._fixed = {route for route in (*written, "/openapi.json") if "{" not in route}
        self._patterns = [(_route_pattern(route), route) for route in written if "{" in route]

    def match(self, path: str) -> str:
        """The route of a path; one that is no route's is `unmatched`, however it is spelled."""
        if path in self._fixed:
            return path
        for pattern, template in self._patterns:
            if pattern.fullmatch(path):
                return template
        for name in MOUNTED_PATHS:
            if path == name or path.startswith(f"{name}/"):
                return name
        return UNMATCHED


def _route_pattern(route: str) -> re.Pattern[str]:
    """A parameter may hold slashes, as documents' ids do."""
    parts = re.split(r"\{[^}]*\}", route)
    return re.compile(".+".join(map(re.escape, parts)), re.DOTALL)
