"""A message list that fits its budget, with a decision for each message and its manifest.

What stays is given back as the object that came. The sum kept within the budget is that of texts,
arguments and other parts as they are sent, each counted by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from foveate._version import __version__
from foveate.core.compact.entries import BRIDGE, Entry, EntryRole, Json, MessageForm, Result
from foveate.core.compact.forms import check_messages, message_form
from foveate.core.compact.measured import MeasuredList
from foveate.core.compact.packing import Packing
from foveate.core.compact.repacking import default_slack, repack_points
from foveate.core.compact.results import ResultsView
from foveate.core.compact.shorten import result_handle
from foveate.core.compact.tools import choose_tools
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput, BadOption, BudgetTooSmall, StageBroke
from foveate.core.json_text import compact_json
from foveate.core.seal import content_hash
from foveate.core.types import Decision, Number

SCHEMA = 1
RESULT_REASONS = {"repeated": "result_repeated", "superseded": "result_superseded"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactOptions:
    """What decides a compaction beside the messages and the tokenizer; counts are tokens.

    `query`: what results are shortened for; empty: the question before each. `pinned`: places of
    messages that stay verbatim, from the end where negative. `form`: the provider's spelling, None
    to recognise it. `slack`: freed when something must leave, so that what is sent keeps its bytes
    for a while; None: nothing in rooms up to 4,096 tokens, up to two fifths of larger ones.
    `frame`: taken by the provider's own around each message. `tools_budget`: of the budget, what
    tool definitions may take; None: all are sent.
    """

    budget: int
    query: str = ""
    pinned: tuple[int, ...] = ()
    form: str | None = None
    slack: int | None = None
    frame: int = 0
    tools_budget: int | None = None

    def __post_init__(self) -> None:
        for name in ("budget", "frame", "slack", "tools_budget"):
            value = getattr(self, name)
            least = 1 if name.endswith("budget") else 0
            if value is not None and (type(value) is not int or value < least):
                raise BadOption(f"compact: {name} is {value!r}; it must be {least} or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactManifest:
    """What a list was made of, by hash; equal inputs and options give an equal manifest."""

    schema: int = SCHEMA
    version: str = __version__
    form: str
    inputs_hash: str
    options_hash: str
    tokenizer_fingerprint: str
    output_hash: str
    token_count: int
    tools_hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """The list that is sent, and what became of each message.

    `places[i]`: where message i stood in the list that came, -1 for the ledger and for what takes
    the turn of the other side between two messages, so that roles take turns as they did.
    `token_count`: of the messages; `tools_token_count`: of the `tools` as they are sent, within the
    same budget. `tool_decisions`: one for each tool, where there is a budget for them.
    `originals`: by handle, the texts that left or were shortened. `notes`: figures, among them
    `repacked` (1: bytes that were sent before may have changed now) and `resent`, the tokens behind
    the first that did.
    """

    messages: list[Json]
    places: tuple[int, ...]
    token_count: int
    tools_token_count: int
    decisions: tuple[Decision, ...]
    ledger: str
    originals: Mapping[str, str]
    notes: Mapping[str, Number]
    form: str
    options: CompactOptions
    tokenizer: str
    tokenizer_fingerprint: str
    source: tuple[Json, ...] = field(repr=False)
    tools: tuple[Json, ...] = field(default=(), repr=False)
    source_tools: tuple[Json, ...] = field(default=(), repr=False)
    tool_decisions: tuple[Decision, ...] = field(default=(), repr=False)

    @property
    def changed(self) -> bool:
        """Whether anything left or was shortened."""
        return any(decision.action != "kept" for decision in self.decisions)

    @property
    def manifest(self) -> CompactManifest:
        """The hashes of inputs, options and output."""
        inputs = compact_json([self.source, self.source_tools])
        on_demand = self.options.tools_budget is not None
        return CompactManifest(
            form=self.form,
            inputs_hash=content_hash(inputs),
            options_hash=content_hash(repr(self.options)),
            tokenizer_fingerprint=self.tokenizer_fingerprint,
            output_hash=content_hash(compact_json(self.messages)),
            token_count=self.token_count,
            tools_hash=content_hash(compact_json(self.tools)) if on_demand else "",
        )


def compact_messages(
    messages: Sequence[Json],
    options: CompactOptions,
    *,
    tokenizer: Tokenizer,
    count: Callable[[str], int],
    tools: Sequence[Json] = (),
) -> Compacted:
    """The messages in at most `options.budget` tokens, the tools included.

    `count` is `tokenizer.count`, or the same with a memory.

    Pure: the same arguments give the same bytes. Raises `BadInput`, `BadOption`, `UnknownName`, or
    `BudgetTooSmall` with the smallest budget that does.
    """
    source = tuple(check_messages(messages))
    form = message_form(source, options.form)
    measured = MeasuredList(
        entries=form.parse(source),
        count=count,
        pinned=_pinned_places(options.pinned, len(source)),
        frame=options.frame,
    )
    sent = choose_tools(
        tools, measured.entries, budget=options.tools_budget, query=options.query, count=count
    )
    tool_tokens = sent.token_count
    room = options.budget - tool_tokens
    result = _Result(
        messages=source, form=form, measured=measured, tool_tokens=tool_tokens, options=options
    )
    if measured.total > room:
        try:
            result.fit(room)
        except BudgetTooSmall as error:
            needed = min(error.needed, measured.total) + tool_tokens
            raise BudgetTooSmall(options.budget, needed, what=_subject(tools)) from None
    decisions = tuple(result.decisions())
    _check_books(measured.entries, decisions)
    listed = list(result.listed())
    return Compacted(
        messages=[message for _, message in listed],
        places=tuple(place for place, _ in listed),
        token_count=result.token_count(),
        tools_token_count=tool_tokens,
        decisions=decisions,
        ledger=result.ledger,
        originals=result.originals(),
        notes=result.notes(),
        form=form.name,
        options=options,
        tokenizer=tokenizer.name,
        tokenizer_fingerprint=tokenizer.fingerprint,
        source=source,
        tools=sent.tools,
        source_tools=tuple(tools),
        tool_decisions=sent.decisions,
    )


def _subject(tools: Sequence[Json]) -> str:
    what = "the last step with what is pinned (its results already shortened)"
    return f"{what} and the tools" if tools else what


def _pinned_places(pinned: Sequence[int], size: int) -> frozenset[int]:
    for place in pinned:
        if type(place) is not int or not -size <= place < size:
            raise BadOption(f"pinned: there is no message {place!r} in a list of {size}")
    return frozenset(place % size for place in pinned)


@dataclass(slots=True, kw_only=True)
class _Result:
    """A list and how it is packed; `packing` None: it is sent as it came.

    `stays`: entries that stay, in order, with the texts in place of results.
    """

    messages: Sequence[Json]
    form: MessageForm
    measured: MeasuredList
    tool_tokens: int
    options: CompactOptions
    packing: Packing | None = None
    points: list[int] = field(default_factory=list)
    stays: list[tuple[Entry, dict[int, str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.stays = [(entry, {}) for entry in self.measured.entries]

    def fit(self, room: int) -> None:
        """Pack the list; raises `BadInput` or `BudgetTooSmall`."""
        if not self.messages:
            raise BudgetTooSmall(room, 0)
        if all(group.orphan for group in self.measured.groups):
            what = "hold only calls without results and results without calls; give both of each"
            raise BadInput(what, field="messages")
        slack = default_slack(room) if self.options.slack is None else self.options.slack
        slack = max(0, min(slack, room * 9 // 10))
        self.points = repack_points(self.measured.sizes, room, slack)
        self._pack(room, slack)
        if self.token_count() > room:
            raise StageBroke(f"compact: {self.token_count()} tokens are over {room}")

    def _pack(self, room: int, slack: int) -> None:
        groups, point = self.measured.groups, self.points[-1]
        view = ResultsView(
            measured=self.measured,
            room=room,
            points=self.points,
            target=room - slack,
            query=self.options.query,
        )
        self.packing = Packing(
            measured=self.measured,
            view=view,
            room=room,
            target=room - slack,
            point=point,
            last=max((n for n in range(point + 1) if not groups[n].orphan), default=point),
        )
        self.packing.pack()
        self.stays = [
            (entry, self._texts(entry))
            for n, group in enumerate(self.measured.groups)
            if n in self.packing.stays
            for entry in group.entries
        ]

    @property
    def ledger(self) -> str:
        """The text of the ledger; empty: there is none."""
        return self.packing.ledger.text if self.packing else ""

    def _texts(self, entry: Entry) -> dict[int, str]:
        if self.packing is None:
            return {}
        return self.packing.view.texts(entry)

    def listed(self) -> Iterator[tuple[int, Json]]:
        """The list as it is sent, with places: leading instructions, the ledger, the rest."""
        source, form, bridges = self.messages, self.form, self._bridges()
        waiting = self.ledger
        for entry, texts in self.stays:
            if waiting and (entry.role != "system" or entry.calls):
                yield -1, form.note(waiting, "user")
                waiting = ""
            if side := bridges.get(entry.index):
                yield -1, form.note(BRIDGE, side)
            message = source[entry.index]
            yield entry.index, form.rewrite(message, texts) if texts else message
        if waiting:
            yield -1, form.note(waiting, "user")

    def _bridges(self) -> Mapping[int, EntryRole]:
        return self.packing.bridges(ledger=bool(self.ledger)) if self.packing else {}

    def token_count(self) -> int:
        """Tokens of the list as it is sent."""
        if self.packing is None:
            return self.measured.total
        total = sum(self.packing.view.entry_tokens(entry) for entry, _ in self.stays)
        total += len(self._bridges()) * self.packing.bridge_tokens
        return total + (self.packing.ledger.tokens + self.options.frame if self.ledger else 0)

    def decisions(self) -> Iterator[Decision]:
        """One for each message, and one for each result that is a block of a message."""
        for n, group in enumerate(self.measured.groups):
            for entry in group.entries:
                own = [result for result in entry.results if result.slot < 0]
                name = f"message {entry.index + 1}"
                yield self._decision(name, n, entry, own[0] if own else None)
                for result in entry.results:
                    if result.slot >= 0:
                        yield self._decision(f"{name}, block {result.slot + 1}", n, entry, result)

    def _decision(self, name: str, n: int, entry: Entry, result: Result | None) -> Decision:
        measured, packing = self.measured, self.packing
        tokens = measured.lead_tokens(entry)
        if result is not None:
            tokens = measured.result_tokens(result)
        numbers: dict[str, Number] = {"tokens": tokens, "shown": tokens}
        if result is None and entry.results:
            numbers["results"] = len(entry.results)
        if kinds := entry.kinds if result is None else result.kinds:
            numbers["carries"] = ", ".join(dict.fromkeys(kinds))
        if packing is not None and n not in packing.stays:
            reason = "message_orphaned" if measured.groups[n].orphan else "message_left_out"
            numbers.update(shown=0, **packing.named_values(entry, result))
            return Decision(chunk_id=name, action="dropped", reason=reason, numbers=numbers)
        shown = packing.view.show(entry, result) if packing and result else None
        if shown is not None and result is not None:
            tokens = shown.tokens + result.extra
            numbers.update(shown=tokens, handle=result_handle(result.text))
            reason = RESULT_REASONS.get(shown.form, "result_shortened")
            return Decision(chunk_id=name, action="changed", reason=reason, numbers=numbers)
        reason = "message_pinned" if measured.sizes[n].must else "message_kept"
        return Decision(chunk_id=name, action="kept", reason=reason, numbers=numbers)

    def originals(self) -> dict[str, str]:
        """By handle, the texts of results that left or are shown otherwise."""
        if self.packing is None:
            return {}
        found = {}
        for n, group in enumerate(self.measured.groups):
            for entry in group.entries:
                texts = self._texts(entry)
                for result in entry.results:
                    if n not in self.packing.stays or result.slot in texts:
                        found[result_handle(result.text)] = result.text
        return found

    def notes(self) -> dict[str, Number]:
        """Figures of the list as a whole."""
        tokens = self.token_count()
        notes: dict[str, Number] = {"before": self.measured.total, "after": tokens}
        if self.packing is None:
            return notes
        ledger = self.packing.ledger
        lead = sum(
            self.measured.tokens[entry.index] for entry, _ in self.stays if entry.role == "system"
        )
        now = self.packing.point == len(self.measured.groups) - 1
        return {
            **notes,
            "ledger_tokens": ledger.tokens,
            "values": ledger.values,
            "values_named": len(ledger.named),
            "repackings": len(self.points),
            "repacked": int(now),
            "resent": tokens - lead if now else 0,
        }


def _check_books(entries: Sequence[Entry], decisions: Sequence[Decision]) -> None:
    """Raise `StageBroke` unless every message and every block of a result has one decision."""
    names = [f"message {entry.index + 1}" for entry in entries]
    names += [
        f"message {entry.index + 1}, block {result.slot + 1}"
        for entry in entries
        for result in entry.results
        if result.slot >= 0
    ]
    if sorted(names) != sorted(decision.chunk_id for decision in decisions):
        raise StageBroke("compact: a message has no decision, or two")
