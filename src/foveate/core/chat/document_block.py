"""The document block of one turn: what is added to it, or why it is written anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from foveate.core.assemble import TokenCountCache
from foveate.core.chat.append_documents import (
    DocumentBlock,
    TurnInputs,
    append_documents,
    render_document_block,
)
from foveate.core.chat.history import History
from foveate.core.chat.history_fit import Summary
from foveate.core.chat.session import FillRate, RevocationResult, Session, TokenPrices
from foveate.core.chat.turns import Turn
from foveate.core.chat.zone_demand import ChatOptions, FlexibleBudget, RequestState
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BudgetTooSmall
from foveate.core.request import Inputs
from foveate.core.zones import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPolicy:
    """How a session is kept: its system prompt, its history, its zones, its pace, its prices."""

    system: str = ""
    history: History = field(default_factory=lambda: History(slack=25))
    zones: FlexibleBudget | bool = True
    capped: bool = False
    pace: FillRate = field(default_factory=FillRate)
    prices: TokenPrices = field(default_factory=TokenPrices)


@dataclass(frozen=True, slots=True)
class TurnState:
    """One turn while it is made."""

    session: Session
    left: RevocationResult
    inputs: Inputs
    terms: SessionPolicy
    tokenizer: Tokenizer
    known: TokenCountCache
    summary: Summary | None = None

    def request_state(self, budget: Budget, going: frozenset[int] = frozenset()) -> RequestState:
        """The request, in this budget; `going`: markers that stand in the documents no longer."""
        session, terms = self.session, self.terms
        standing, before = self._sent_summary()
        talk = ChatOptions(
            turns=session.turns,
            system=terms.system,
            history=terms.history,
            zones=terms.zones,
            capped=terms.capped,
            before=before,
            summary=self.summary,
            standing=standing,
            withdrawn=self.left.turns,
            live=frozenset(h.block.marker for h in self.left.held) - going,
        )
        inputs = replace(self.inputs, budget=budget)
        return RequestState(inputs=inputs, talk=talk, tokenizer=self.tokenizer, known=self.known)

    def missing_markers(self, run: RequestState, grown: DocumentBlock) -> frozenset[int]:
        """Markers that turns cite, and that the run takes to stand where they do not."""
        cited = {entry.marker for turn in self.session.turns for entry in turn.cited}
        stays = {held.block.marker for held in grown.held}
        return (run.talk.live or frozenset()) & cited - stays

    def _sent_summary(self) -> tuple[Summary | None, tuple[Turn | None, ...]]:
        """The summary sent last, unless it covers a revoked turn, and the turns as shown."""
        told, shown = self.session.summary, self.session.shown
        if told is None or not any(n < told.turns for n in self.left.turns):
            return told, shown
        return None, (*self.session.turns[: told.turns], *shown[told.turns :])


def build_document_block(
    state: TurnState, run: RequestState, most: int, behind: int
) -> DocumentBlock:
    """The document block, extended or rewritten; `behind`: tokens of the conversation."""
    session, terms = state.session, state.terms
    base = state.left.held
    ground = TurnInputs(
        inputs=run.inputs,
        tokenizer=state.tokenizer,
        known=state.known,
        step=session.step + 1,
        markers=session.markers,
    )
    zone = max(most, 1)
    pace = terms.pace.more if base else terms.pace.first
    grown = append_documents(base, ground, most=most, added=zone * pace // 100)
    must = "withdrawn" if len(base) < len(session.held) else ""
    if grown is not None:
        grown = replace(grown, why=must)
    empty = grown is None or not (grown.best or grown.held)
    if base and (grown is None or not grown.best):
        anew = _repack(state, ground, most, zone * terms.pace.first // 100)
        if anew is not None and (grown is None or anew.best):
            return replace(anew, why=_join_reasons(must, "window"))
    elif grown is not None and 0 < len(base) < len(grown.held):
        anew = _repack(state, ground, most, zone * terms.pace.first // 100)
        if anew is not None and terms.prices.is_cheaper_enough(
            _price(state, grown, behind), _price(state, anew, behind)
        ):
            return replace(anew, why=_join_reasons(must, "cheaper"))
    if grown is None or (empty and run.inputs.candidates):
        raise BudgetTooSmall(max(most, 0), max(most, 0) + 1, what="the documents")
    return grown


def _join_reasons(*why: str) -> str:
    return ", ".join(reason for reason in why if reason)


def _repack(state: TurnState, ground: TurnInputs, most: int, fill: int) -> DocumentBlock | None:
    """The rewritten block: blocks that were found again or cited, then new ones.

    Blocks that stay keep their order and number. If not all cited ones fit, the latest stay.
    """
    old = state.left.held
    count, recipe = state.tokenizer.count, ground.inputs.recipe
    sizes = [count(render_document_block((held,), recipe)) + 8 for held in old]
    kept: set[int] = set()
    tokens = 0
    for n in _order_blocks_to_keep(state, {c.id for c in ground.inputs.candidates}):
        if tokens + sizes[n] <= fill:
            kept.add(n)
            tokens += sizes[n]
    places = _choose_places(kept, sizes, state.terms.prices, max(fill, tokens))
    base = tuple(old[n] for n in places)
    left = fill - sum(sizes[n] for n in places)
    return append_documents(base, ground, most=most, added=max(left, fill // 4))


def _order_blocks_to_keep(state: TurnState, found: set[str]) -> list[int]:
    cited = [entry.chunk_id for turn in state.session.turns for entry in turn.cited]
    latest = {own: n for n, own in enumerate(cited)}
    ranked = []
    for n, held in enumerate(state.left.held):
        ids = held.block.chunk_ids
        if found.isdisjoint(ids):
            if last := [latest[own] for own in ids if own in latest]:
                ranked.append((1, -max(last), n))
        else:
            ranked.append((0, 0, n))
    return [n for *_, n in sorted(ranked)]


def _choose_places(
    kept: set[int], sizes: Sequence[int], prices: TokenPrices, most: int
) -> list[int]:
    """The places to keep, with as much of the unchanged head as makes the request cheapest."""
    best: list[int] = sorted(kept)
    least: Fraction | None = None
    for head in range(len(sizes) + 1):
        places = [n for n in range(len(sizes)) if n < head or n in kept]
        tokens = sum(sizes[n] for n in places)
        if tokens > most:
            break
        same = next((n for n, place in enumerate(places) if place != n), len(places))
        price = prices.price(tokens, sum(sizes[:same]))
        if least is None or price < least:
            best, least = places, price
    return best


def _price(state: TurnState, grown: DocumentBlock, behind: int) -> Fraction:
    same = count_reused_tokens(state, grown)
    if grown.text == state.session.text:
        same += behind
    return state.terms.prices.price(grown.tokens + behind, same)


def count_reused_tokens(state: TurnState, grown: DocumentBlock) -> int:
    """Tokens of the block's identical prefix, up to the end of a block."""
    before = state.session
    if not before.segments:
        return 0
    if grown.text.startswith(before.text):
        return state.tokenizer.count(before.text)
    same = 0
    for old, new in zip(before.held, grown.held, strict=False):
        if old.block != new.block:
            break
        same += 1
    return (
        state.tokenizer.count(render_document_block(before.held[:same], state.inputs.recipe))
        if same
        else 0
    )


def split_segments(state: TurnState, grown: DocumentBlock) -> tuple[str, ...]:
    """The block's text in the pieces that were added, as far as they still stand there."""
    kept: list[str] = []
    at = 0
    for segment in state.session.segments:
        if not grown.text.startswith(segment, at):
            break
        kept.append(segment)
        at += len(segment)
    return (*kept, grown.text[at:]) if at < len(grown.text) else tuple(kept)
