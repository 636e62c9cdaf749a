"""Enough of PromQL to read our own dashboards and alerts: its tokens, its brackets, its selectors.

No evaluation: `promtool` and a Prometheus have that. What is read here is what can go wrong when a
metric changes its name: which metrics and labels an expression asks for, and that it is whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"""\s+
    | (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<range>\[(?:\d+[smhdw]|\$__rate_interval)\])
    | (?P<number>\d+(?:\.\d+)?)
    | (?P<word>[a-zA-Z_:][a-zA-Z0-9_:]*)
    | (?P<operator>=~|!~|!=|==|>=|<=|[-+*/<>=])
    | (?P<bracket>[(){}])
    | (?P<comma>,)""",
    re.VERBOSE,
)
AGGREGATIONS = frozenset({"sum", "count", "max", "min", "avg", "sort"})
FUNCTIONS = frozenset({"rate", "increase", "histogram_quantile", "clamp_min", "vector"})
WORDS = frozenset({"by", "or", "and", "unless"})
PAIRS = {")": "(", "}": "{"}


class NotPromQL(ValueError):
    """What is wrong with an expression."""


@dataclass(slots=True, kw_only=True)
class Selector:
    """A metric that is asked for: the values that its labels must match, and over which range."""

    metric: str
    matchers: dict[str, str] = field(default_factory=dict)
    ranged: bool = False


@dataclass(slots=True, kw_only=True)
class Expression:
    """What an expression asks for."""

    selectors: list[Selector] = field(default_factory=list)
    grouped: set[str] = field(default_factory=set)


def tokens(text: str) -> Iterator[tuple[str, str]]:
    """(kind, text) of each token; raises `NotPromQL` where there is none."""
    at = 0
    while at < len(text):
        found = TOKEN.match(text, at)
        if found is None:
            raise NotPromQL(f"{text[at : at + 20]!r} is no token")
        at = found.end()
        if found.lastgroup is not None:
            yield found.lastgroup, found[0]


def read(text: str) -> Expression:
    """What an expression asks for; raises `NotPromQL` where it is not whole."""
    found, open_, words = Expression(), list[str](), list(tokens(text))
    n = 0
    while n < len(words):
        kind, word = words[n]
        following = words[n + 1][1] if n + 1 < len(words) else ""
        if kind == "bracket":
            _bracket(open_, word)
        elif kind == "word" and word == "by":
            n = _grouping(words, n + 1, found)
        elif kind == "word" and following == "(" and word in AGGREGATIONS | FUNCTIONS:
            pass
        elif kind == "word" and word in WORDS | AGGREGATIONS:
            if word in AGGREGATIONS and following != "by":
                raise NotPromQL(f"{word} of what?")
        elif kind == "word":
            n = _selector(words, n, found)
        elif kind == "range":
            raise NotPromQL(f"{word} follows no metric")
        n += 1
    if open_:
        raise NotPromQL(f"{open_[-1]} is not closed")
    return found


def _bracket(open_: list[str], word: str) -> None:
    if word in PAIRS:
        if not open_ or open_.pop() != PAIRS[word]:
            raise NotPromQL(f"{word} closes nothing")
    else:
        open_.append(word)


def _grouping(words: list[tuple[str, str]], n: int, found: Expression) -> int:
    """The labels in the brackets after `by`; where they end."""
    end = next((i for i in range(n, len(words)) if words[i][1] == ")"), 0)
    if words[n][1] != "(" or not end:
        raise NotPromQL("by what?")
    found.grouped |= {word for kind, word in words[n:end] if kind == "word"}
    return end


def _selector(words: list[tuple[str, str]], n: int, found: Expression) -> int:
    """A metric with its matchers and range; where it ends."""
    made = Selector(metric=words[n][1])
    found.selectors.append(made)
    if words[n + 1 : n + 2] == [("bracket", "{")]:
        end = next((i for i in range(n, len(words)) if words[i][1] == "}"), 0)
        inside = [word for word in words[n + 2 : end] if word[0] != "comma"]
        if not end or len(inside) % 3:
            raise NotPromQL(f"{made.metric}: matchers are not whole")
        for (_, label), (_, operator), (kind, value) in zip(*[iter(inside)] * 3, strict=True):
            if kind != "string" or operator not in {"=", "!=", "=~", "!~"}:
                raise NotPromQL(f"{made.metric}: {label}{operator}{value}")
            made.matchers[label] = value[1:-1]
            if operator.endswith("~"):
                re.compile(value[1:-1])
        n = end
    if words[n + 1 : n + 2] and words[n + 1][0] == "range":
        made.ranged = True
        n += 1
    return n
