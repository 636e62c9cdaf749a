"""Which elements of a page are open, and whether what stands in them is shown.

End tags that HTML lets people leave out are put in. Linear: each element is closed once, and the
search for what a start tag ends looks at no more than the innermost elements.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from foveate.ingest.loaders.tags import Tag, element_names, parse_attributes

__all__ = ["Outline"]

_VOID = element_names("area base br col embed hr img input link meta param source track wbr")
_DROPPED = element_names(
    "script style title noscript template nav svg math iframe object button select option textarea"
    " canvas audio video dialog xmp noembed noframes"
)
_ENDS_P = element_names(
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure"
    " footer form h1 h2 h3 h4 h5 h6 header hr li main menu nav ol p pre section summary table ul"
    " dt dd td th tr"
)
# What a start tag ends, and what hides it from being ended: an item ends the item before it, but
# not the one that its own list stands in.
_ENDS = {
    "li": (frozenset({"li"}), frozenset({"ul", "ol", "menu"})),
    "dt": (frozenset({"dt", "dd"}), frozenset({"dl"})),
    "dd": (frozenset({"dt", "dd"}), frozenset({"dl"})),
    "tr": (frozenset({"tr"}), frozenset({"table"})),
    "td": (frozenset({"td", "th"}), frozenset({"tr", "table"})),
    "th": (frozenset({"td", "th"}), frozenset({"tr", "table"})),
    "option": (frozenset({"option"}), frozenset({"select"})),
}
_FENCES_P = frozenset({"table", "td", "th", "button", "object"})
_MAX_LOOKBACK = 64
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


@dataclass(slots=True)
class Outline:
    """The open elements, innermost last. `hidden` counts those that hide what is in them."""

    hidden: int = 0
    _open: list[tuple[str, bool]] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=dict)

    def open(self, tag: Tag) -> list[str]:
        """Enter an element; the shown elements that it ends, innermost first."""
        ended: list[str] = []
        if tag.name in _ENDS:
            ended += self._end_near(*_ENDS[tag.name])
        if tag.name in _ENDS_P:
            ended += self._end_near(frozenset({"p"}), _FENCES_P)
        alone = tag.name in _VOID or (tag.name in ("svg", "math") and tag.raw.endswith("/"))
        if not alone:
            hides = tag.name in _DROPPED or _is_hidden(tag.raw)
            self._open.append((tag.name, hides))
            self._counts[tag.name] = self._counts.get(tag.name, 0) + 1
            self.hidden += hides
        return ended

    def close(self, name: str) -> list[str]:
        """Leave the innermost element of this name; the shown elements that end, in order."""
        if not self._counts.get(name):
            return []
        ended: list[str] = []
        while self._open:
            last, hides = self._open.pop()
            self._counts[last] -= 1
            self.hidden -= hides
            if not self.hidden and not hides:
                ended.append(last)
            if last == name:
                break
        return ended

    def _end_near(self, names: frozenset[str], fences: frozenset[str]) -> list[str]:
        for name, _ in reversed(self._open[-_MAX_LOOKBACK:]):
            if name in names:
                return self.close(name)
            if name in fences:
                break
        return []


def _is_hidden(raw: str) -> bool:
    if not raw or ("hidden" not in raw.lower() and "none" not in raw.lower()):
        return False
    found = parse_attributes(raw)
    return "hidden" in found or _HIDDEN.search(found.get("style", "")) is not None
