"""Charts and diagrams of Office files: the values that a chart shows as rows, a diagram as a list.

A chart without the values that its file keeps of its data, and a diagram without texts, are counted
as left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from foveate.ingest.loaders.archive import Archive
from foveate.ingest.loaders.blocks import Blocks
from foveate.ingest.loaders.list_numbers import parse_number
from foveate.ingest.loaders.number_formats import format_number

_MAX_POINTS = 100_000
_TEXTS = ("tx", "cat", "val", "xVal", "yVal", "bubbleSize")
_NAMES = {"xVal": "x", "yVal": "y", "bubbleSize": "size"}


@dataclass(slots=True)
class _Series:
    """A series: its name, and its texts by what they are and their place."""

    values: dict[str, dict[int, str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """As the chart shows it."""
        return " ".join(self.values.get("tx", {}).values())


@dataclass(slots=True)
class _Chart:
    """A chart as its elements come."""

    series: list[_Series] = field(default_factory=list)
    title: list[str] = field(default_factory=list)
    _path: list[str] = field(default_factory=list)
    _kind: str = ""
    _place: int = 0
    _format: str = ""

    def handle_event(self, kind: str, name: str, given: Mapping[str, str]) -> None:
        """One event of its part."""
        if kind == "text":
            self._add_text(name)
        elif kind == "end":
            self._path.pop()
            self._kind = "" if name == self._kind else self._kind
        else:
            self._path.append(name)
            if name == "ser":
                self.series.append(_Series())
            elif name in _TEXTS and "ser" in self._path[-2:-1]:
                self._kind, self._format = name, ""
            elif name == "pt":
                self._place = parse_number(given.get("idx", ""))

    def _add_text(self, text: str) -> None:
        inside = self._path[-1]
        if inside == "t" and "title" in self._path[-9:] and "ser" not in self._path:
            is_whole = "plotArea" not in self._path  # else the title of an axis
            self.title += [text] if is_whole else []
        elif inside == "formatCode":
            self._format = text
        elif inside == "v" and self._kind and self.series and self._place < _MAX_POINTS:
            known = self.series[-1].values.setdefault(self._kind, {})
            known[self._place] = known.get(self._place, "") + _format_value(text, self._format)


def _format_value(text: str, code: str) -> str:
    known = format_number(text, code) if code and code != "General" else None
    return text if known is None else known


DRAWN = frozenset({"chart", "relIds", "OLEObject", "oleObj"})
"""Elements that stand for a chart, a diagram, and an object of another program."""


@dataclass(slots=True)
class Drawings:
    """The charts and diagrams to which a part refers, each written once."""

    archive: Archive
    part: str
    _known: dict[str, tuple[str, str]] | None = None

    def write(self, drawn: Sequence[tuple[str, Mapping[str, str]]], blocks: Blocks) -> None:
        """Write these elements with their attributes; what another program shows is counted."""
        for name, given in drawn:
            if name not in ("chart", "relIds"):
                blocks.leave_out("embedded objects")
                continue
            if self._known is None:
                self._known = self.archive.relations(self.part)
            relation = given.get("r:id", given.get("r:dm", ""))
            kind, target = self._known.pop(relation, ("", ""))
            if name == "chart":
                _write_chart(self.archive, target, blocks)
            elif kind:
                _write_diagram(self.archive, target, blocks)


def _write_chart(archive: Archive, part: str, blocks: Blocks) -> None:
    chart = _Chart()
    for event in archive.events(part):
        chart.handle_event(*event)
    rows = list(_chart_rows(chart.series))
    blocks.add_paragraph(" ".join("".join(chart.title).split()))
    blocks.end_group()
    for row in rows:
        blocks.add_row(row)
    blocks.end_group()
    if len(rows) < 2:
        blocks.leave_out("charts")


def _chart_rows(series: Sequence[_Series]) -> Iterator[list[str]]:
    """The names of the series, and for each category their values; points have two columns."""
    columns: list[tuple[str, dict[int, str]]] = []
    first = next((each.values["cat"] for each in series if "cat" in each.values), {})
    for number, each in enumerate(series, 1):
        name = each.name or f"Series {number}"
        for kind in ("xVal", "yVal", "val", "bubbleSize"):
            if kind in each.values:
                shown = f"{name}, {_NAMES[kind]}" if kind in _NAMES else name
                columns.append((shown, each.values[kind]))
    places = sorted({place for _, values in (("", first), *columns) for place in values})
    if not columns:
        return
    yield [*([" "] if first else []), *(name for name, _ in columns)]
    for place in places:
        row = [values.get(place, "") for _, values in columns]
        yield [*([first.get(place, "")] if first else []), *row]


def _write_diagram(archive: Archive, part: str, blocks: Blocks) -> None:
    texts: dict[str, list[str]] = {}
    below: dict[str, list[tuple[int, str]]] = {}
    point = ""
    speaks = False
    for kind, name, given in archive.events(part):
        if kind == "text":
            texts[point] += [name] if speaks else []
        elif name == "t":
            speaks = kind == "start"
        elif kind == "start" and name == "pt":
            point = given.get("modelId", "")
            texts[point] = []
        elif kind == "start" and name == "p" and texts.get(point):
            texts[point].append(" ")
        elif kind == "start" and name == "cxn" and given.get("type", "parOf") == "parOf":
            place = parse_number(given.get("srcOrd", ""))
            below.setdefault(given.get("srcId", ""), []).append((place, given.get("destId", "")))
    said = {key: text for key, parts in texts.items() if (text := " ".join("".join(parts).split()))}
    blocks.end_group()
    for depth, key in _outline(below, list(texts)):
        if text := said.pop(key, ""):
            blocks.add_item(depth, "-", text)
    blocks.end_group()
    if not any(texts.values()):
        blocks.leave_out("diagrams")


def _outline(
    below: Mapping[str, Sequence[tuple[int, str]]], points: Sequence[str]
) -> Iterator[tuple[int, str]]:
    """Each point with its depth, in order: what has nothing above it is 0 or is the whole."""
    inner = {key for each in below.values() for _, key in each}
    seen: set[str] = set()
    waiting = [(-1 if key in below else 0, key) for key in reversed(points) if key not in inner]
    rest = list(reversed(points))  # what is below itself
    while waiting or rest:
        depth, key = waiting.pop() if waiting else (0, rest.pop())
        if key not in seen:
            seen.add(key)
            yield max(depth, 0), key
            waiting += [(depth + 1, each) for _, each in sorted(below.get(key, ()), reverse=True)]
