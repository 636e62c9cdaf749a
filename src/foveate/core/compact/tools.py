"""Tools on demand: which definitions are sent whole, and what `find_tools` says of the others.

The choice is made at the first request of a list and stays, so that what is sent keeps its bytes.
It is made again only at a request before which a tool was called, or found by `find_tools`, that
was not sent. All requests are read off the list, so no state is kept beside it.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

from foveate.core.compact.entries import Entry, Json, ToolCall
from foveate.core.compact.ledger_text import one_line
from foveate.core.compact.tool_forms import (
    FIND_TOOLS,
    ToolDefinition,
    find_tools_definition,
    read_definitions,
    without_definitions,
    write_definitions,
)
from foveate.core.compact.tool_search import FOUND, ToolSearch
from foveate.core.errors import BudgetTooSmall, StageBroke
from foveate.core.fuse import rrf
from foveate.core.json_text import compact_json
from foveate.core.text.sentences import sentence_spans
from foveate.core.types import Action, Decision, Number

HEAD = (
    "Gives the full definitions of tools that are named here only. Before you use one of them, "
    "call this with its name, or with what it should do."
)
REST = "And {n} more: say what they should do."
LINE_WORDS = (24, 12, 6, 3, 0)
"""Words of a description's first sentence on a line, from the longest lines to names alone."""
LINE_SHARE, NAME_SHARE = 0.15, 0.6
"""The parts of the free room that lines, or names alone, may take before tools are chosen."""
COMMA_TOKENS = 2
"""More than what stands between two definitions of one entry."""
LONGEST_NAME, LONGEST_READ = 80, 2_000
"""Characters of a name on a line; of a description, and of each end of a text of the last turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentTools:
    """The entries as they are sent, their tokens, and one decision for each tool that came."""

    tools: tuple[Json, ...]
    token_count: int
    decisions: tuple[Decision, ...]


def choose_tools(
    tools: Sequence[Json],
    entries: Sequence[Entry],
    *,
    budget: int | None,
    query: str,
    count: Callable[[str], int],
) -> SentTools:
    """The definitions that fit `budget` tokens, in their order, with `find_tools` for the others.

    Without a budget, all as they came, and no decisions. Tools that were called are sent whole,
    then those that `find_tools` found, then what fits the last turns, `query` and the instructions
    best. Raises `BadInput`, and `BudgetTooSmall` where those that were called do not fit.
    """
    if budget is None:
        tokens = sum(count(compact_json(tool)) for tool in tools)
        return SentTools(tools=tuple(tools), token_count=tokens, decisions=())
    choice = _Choice(tools=tools, budget=budget, query=query, count=count)
    if choice.whole > budget:
        choice.check_room({call.name for entry in entries for call in entry.calls})
        for start, end in pairwise([0, *_requests(entries)]):
            if choice.is_missing(entries[start:end]) or not start:
                choice.choose(entries[:end])
    return choice.sent()


def _requests(entries: Sequence[Entry]) -> Iterator[int]:
    """How many entries stood in the list whenever the model was asked, the last time included."""
    for n, entry in enumerate(entries):
        if n and entry.role == "assistant" and entries[n - 1].role != "assistant":
            yield n
    yield len(entries)


@dataclass(slots=True, kw_only=True)
class _Choice:
    """What is sent, by the requests so far.

    `reasons`: of each tool that is sent whole. `described`: what `find_tools` says, where not all
    are sent. `listed`: the tools that it names. `heads`: words of each one's first sentence.
    """

    tools: Sequence[Json]
    budget: int
    query: str
    count: Callable[[str], int]
    known: list[ToolDefinition] = field(init=False)
    definitions: list[ToolDefinition] = field(init=False)
    search: ToolSearch = field(init=False)
    tokens: dict[str, int] = field(init=False)
    whole: int = field(init=False)
    carried: int = field(init=False)
    heads: dict[str, list[str]] = field(init=False)
    called: dict[str, None] = field(default_factory=dict)
    found: list[list[str]] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    described: str = ""
    listed: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.known = read_definitions(self.tools)
        self.definitions = [one for one in self.known if one.name != FIND_TOOLS]
        self.tokens = {one.name: self._part(one, one.value) for one in self.definitions}
        self.whole = self._size(self.tools)
        self.carried = self._size(without_definitions(self.tools, self.known))
        choosable = self.definitions if self.whole > self.budget else ()
        self.search = ToolSearch(choosable)
        self.heads = {one.name: _first_sentence(one.description) for one in choosable}

    def _part(self, like: ToolDefinition, value: Json) -> int:
        """Tokens of a definition, at the most, where it is one of several in an entry."""
        return self.count(compact_json(value)) + (COMMA_TOKENS if like.slot >= 0 else 0)

    def _size(self, tools: Iterable[Json]) -> int:
        return sum(self.count(compact_json(tool)) for tool in tools)

    def _write(self) -> list[Json]:
        return write_definitions(self.tools, self.known, self.reasons, self.described)

    def check_room(self, called: Collection[str]) -> None:
        """Raise `BudgetTooSmall` unless the tools that were called fit, beside a short note."""
        self.reasons = {name: "tool_called" for name in self.tokens if name in called}
        needed = min(self.whole, self._list((), 0)) if self.definitions else self.whole
        if needed > self.budget:
            what = "the list of tools that were called, with find_tools for the others,"
            what = what if self.definitions else "the list of tools"
            raise BudgetTooSmall(self.budget, needed, what=what)

    def is_missing(self, entries: Iterable[Entry]) -> bool:
        """Note what was called and found in these entries; whether any of it was not sent."""
        missing = False
        for call in (call for entry in entries for call in entry.calls):
            names = [call.name] if call.name in self.tokens else []
            if call.name == FIND_TOOLS:
                names = [one.name for one in self.search.find(_query_of(call), FOUND)]
                self.found.insert(0, names)
            else:
                self.called.update(dict.fromkeys(names))
            missing |= any(name not in self.reasons for name in names)
        return missing

    def choose(self, entries: Sequence[Entry]) -> None:
        """Choose what is sent behind these entries."""
        self.reasons = dict.fromkeys(self.called, "tool_called")
        bare = self._list((), 0)
        self._take([names[0] for names in self.found if names], self.budget - bare)
        bare, ranked = self._list((), 0), self._rank(entries)
        if not self._add_lines(ranked, bare + int((self.budget - bare) * LINE_SHARE)):
            self._add_names(ranked, bare + int((self.budget - bare) * NAME_SHARE))
        self._take([*chain.from_iterable(self.found), *ranked], self.budget - self._tokens())
        while not (self._add_lines(ranked, self.budget) or self._add_names(ranked, self.budget)):
            self.reasons.popitem()

    def _take(self, names: Iterable[str], room: int) -> None:
        """Choose those that fit the room, in this order."""
        found = set(chain.from_iterable(self.found))
        for name in names:
            if name not in self.reasons and self.tokens[name] <= room:
                room -= self.tokens[name]
                self.reasons[name] = "tool_found" if name in found else "tool_likely"

    def _rank(self, entries: Sequence[Entry]) -> list[str]:
        """The tools, by what entries say for them and what they take.

        The last turn, the turns before and the instructions each rank them by words, and count
        alike, because the scores of long and short texts cannot be compared.
        """
        asked = max((n for n, e in enumerate(entries) if e.role == "user"), default=0)
        last = [self.query, *chain.from_iterable(map(_texts, entries[asked:]))]
        earlier = [entry.said for entry in entries[:asked] if entry.role != "system"]
        system = [entry.said for entry in entries if entry.role == "system"]
        worth = dict(rrf([self.search.rank("\n".join(said)) for said in (last, earlier, system)]))
        names = [one.name for one in self.definitions]
        order = sorted(
            range(len(names)), key=lambda n: (-worth.get(n, 0.0) / self.tokens[names[n]], n)
        )
        return [names[n] for n in order]

    def _add_lines(self, ranked: Sequence[str], most: int) -> bool:
        """Name the others by the longest lines with which all that is sent takes `most` tokens."""
        rest = [name for name in ranked if name not in self.reasons]
        return any(self._list(rest, words) <= most for words in LINE_WORDS)

    def _add_names(self, ranked: Sequence[str], most: int) -> bool:
        """Name as many of the others as fit, the likely ones."""
        rest = [name for name in ranked if name not in self.reasons]
        fits = bisect_right(range(len(rest)), most, key=lambda n: self._list(rest[:n], 0))
        return self._list(rest[: max(0, fits - 1)], 0) <= most

    def _list(self, names: Collection[str], words: int) -> int:
        """Describe the others by lines for these; the tokens of all that is sent then."""
        self.listed = frozenset(names)
        known = [one.name for one in self.definitions if one.name in self.listed]
        lines = [_line(name, self.heads[name], words) for name in known]
        text = "\n".join(f"- {line}" for line in lines) if words else ", ".join(lines)
        unnamed = len(self.definitions) - len(self.reasons) - len(lines)
        rest = REST.format(n=unnamed) if unnamed else ""
        self.described = "\n".join(filter(None, [HEAD, text, rest]))
        return self._tokens()

    def _tokens(self) -> int:
        """Tokens of all that is sent, at the most."""
        added = find_tools_definition(self.tools, self.known, self.described)
        tokens = sum(map(self.tokens.__getitem__, self.reasons))
        return self.carried + tokens + self._part(self.known[0], added)

    def sent(self) -> SentTools:
        """What is sent behind the last entry."""
        whole = not self.described
        tools = list(self.tools) if whole else self._write()
        if whole:
            self.reasons = dict.fromkeys(self.tokens, "tool_kept")
        tokens = self._size(tools)
        if tokens > self.budget:
            raise StageBroke(f"compact: {tokens} tokens of tools are over {self.budget}")
        return SentTools(
            tools=tuple(tools),
            token_count=tokens,
            decisions=tuple(map(self._decision, self.definitions)),
        )

    def _decision(self, one: ToolDefinition) -> Decision:
        action: Action = "dropped"
        reason, tokens = self.reasons.get(one.name, ""), self.tokens[one.name]
        if reason:
            action = "kept"
        elif one.name in self.listed:
            action, reason = "changed", "tool_listed"
        numbers: dict[str, Number] = {"tokens": tokens, "shown": tokens if action == "kept" else 0}
        return Decision(
            chunk_id=f"tool {one.name}",
            action=action,
            reason=reason or "tool_unlisted",
            numbers=numbers,
        )


def _texts(entry: Entry) -> Iterator[str]:
    """What an entry says, calls and gives back, long texts by their ends."""
    for text in (
        entry.said,
        *(call.name for call in entry.calls),
        *(r.text for r in entry.results),
    ):
        both = len(text) > 2 * LONGEST_READ
        yield f"{text[:LONGEST_READ]}\n{text[-LONGEST_READ:]}" if both else text


def _query_of(call: ToolCall) -> str:
    """What a call of `find_tools` looks for."""
    try:
        given = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return ""
    query = given.get("query") if isinstance(given, dict) else None
    return query if isinstance(query, str) else ""


def _first_sentence(text: str) -> list[str]:
    """Its words."""
    read = one_line(text[:LONGEST_READ])
    spans = sentence_spans(read)
    return read[slice(*spans[0])].split() if spans else []


def _line(name: str, sentence: Sequence[str], words: int) -> str:
    """A tool in a line: its name, and the first words of what it does."""
    name, more = one_line(name)[:LONGEST_NAME], " …" if len(sentence) > words else ""
    said = " ".join(sentence[:words]).rstrip(".")
    return f"{name}: {said}{more}" if said else name
