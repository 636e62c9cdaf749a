"""Tools by words: how well a definition fits a text, and `find_tools`.

A name is read in its parts (`getUserById`: get, user, by, id), then the description, then names and
descriptions of parameters. Scores are BM25's (Robertson and Zaragoza, "The probabilistic relevance
framework", 2009), with the words of a name counted more often.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any

from foveate.core.compact.entries import Json
from foveate.core.compact.tool_forms import FIND_TOOLS, ToolDefinition, read_definitions
from foveate.core.text.terms import document_terms, keys, query_terms

K1, B = 1.2, 0.75
NAME_WEIGHT, DESCRIPTION_WEIGHT, PARAMETER_WEIGHT = 3.0, 1.0, 0.4
"""How often a word counts, by where it stands."""
FOUND = 5
"""Definitions that `find_tools` gives at the most, unless it is told otherwise."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NAME = re.compile(r"[\w.-]+")


@dataclass(slots=True)
class ToolSearch:
    """The terms of definitions, ready for questions."""

    definitions: Sequence[ToolDefinition]
    _rows: dict[str, list[tuple[int, float]]] = field(init=False, default_factory=dict)
    _damping: list[float] = field(init=False)

    def __post_init__(self) -> None:
        counts = [_weighted_terms(one) for one in self.definitions]
        lengths = [sum(terms.values()) for terms in counts]
        mean = sum(lengths) / max(len(lengths), 1) or 1.0
        self._damping = [K1 * (1 - B + B * length / mean) for length in lengths]
        for n, terms in enumerate(counts):
            for term, times in terms.items():
                self._rows.setdefault(term, []).append((n, times))

    def scores(self, text: str) -> list[float]:
        """How well each definition fits a text; 0 where they share no word."""
        total = len(self.definitions)
        found = [0.0] * total
        for term in dict.fromkeys(keys(query_terms(split_humps(text)))):
            rows = self._rows.get(term, ())
            # rounded, because the last bit of a logarithm is the machine's own
            rare = round(log(1 + (total - len(rows) + 0.5) / (len(rows) + 0.5)), 9)
            for n, times in rows:
                found[n] += rare * times * (K1 + 1) / (times + self._damping[n])
        return found

    def rank(self, text: str) -> list[int]:
        """The places of the definitions that share a word with a text, best first."""
        scores = self.scores(text)
        found = [n for n, score in enumerate(scores) if score > 0]
        return sorted(found, key=lambda n: (-scores[n], n))

    def find(self, query: str, limit: int) -> list[ToolDefinition]:
        """The definitions that a query names, then those that fit it, best first."""
        names = {name.casefold() for name in _NAME.findall(query)}
        named = [n for n, one in enumerate(self.definitions) if one.name.casefold() in names]
        places = dict.fromkeys([*named, *self.rank(query)])
        found = [self.definitions[n] for n in places]
        return [one for one in found if one.name != FIND_TOOLS][:limit]


def find_tools(query: str, tools: Sequence[Json], *, limit: int = FOUND) -> list[Json]:
    """The full definitions of the tools that a query names or describes, best first.

    What the tool `find_tools` does that `compact(tools_budget=…)` adds: give its result to the
    model as JSON. At most `limit` of `tools`, each as it came; none if no word fits. Raises
    `BadInput` for tools of equal names.
    """
    return [one.value for one in ToolSearch(read_definitions(tools)).find(query, limit)]


def split_humps(text: str) -> str:
    """Words that are joined by capitals alone, apart: `getUserById` as `get User By Id`."""
    return _HUMP.sub(" ", text)


def _weighted_terms(one: ToolDefinition) -> Counter[str]:
    found: Counter[str] = Counter()
    parameters = " ".join(_schema_texts(one.schema))
    for weight, text in (
        (NAME_WEIGHT, one.name),
        (DESCRIPTION_WEIGHT, one.description),
        (PARAMETER_WEIGHT, parameters),
    ):
        for term in keys(document_terms(split_humps(text))):
            found[term] += weight  # type: ignore[assignment]
    return found


def _schema_texts(schema: Any) -> Iterator[str]:
    """Names and descriptions of parameters, at any depth; references are not followed."""
    waiting = [schema]
    while waiting:
        here = waiting.pop()
        if isinstance(here, Mapping):
            if isinstance(said := here.get("description"), str):
                yield said
            if isinstance(named := here.get("properties"), Mapping):
                yield from map(str, named)
            waiting += here.values()
        elif isinstance(here, list | tuple):
            waiting += here
