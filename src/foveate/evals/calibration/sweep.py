"""Asks a model for facts at every place of a context, and counts right answers.

Probes: `pairs` (a JSON object of random keys, as in Liu et al., "Lost in the middle", 2023) and
`facts` (sentences about invented towns), pure functions of their seed. An empty answer is wrong and
counted apart; a failed question is asked once more, then left out and counted; a model that fails
mostly is given up.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal, TypeAlias

from foveate.core.errors import BadOption, ExternalError, MissingExtra
from foveate.evals.calibration.curve import Curve, fit_curve
from foveate.evals.cases import Progress
from foveate.ports import Message, Model, Reply
from foveate.providers.chat.request import check_timeout

ProbeKind: TypeAlias = Literal["pairs", "facts"]
PROBE_KINDS: tuple[ProbeKind, ...] = ("pairs", "facts")
Outcomes: TypeAlias = dict[str, list[list[bool]]]
"""Which answers were right, by kind of probe and place."""

_NAME_STARTS = (
    "Ash Birk Cald Dun Elm Fen Gar Holt Ing Kel Lang Mul Nor Oak Pen Rad Sel Thorn Ul Wex"
)
_NAME_ENDINGS = "bridge by combe dale den field ford gate ham mere port stead stow ton wick worth"
_TRADES = "bakers coopers dyers farriers glaziers masons millers potters saddlers tanners weavers"
_PLACES = (
    "blue cupboard; bell tower; cedar chest; copper kettle; dovecote; flour bin; garden well; "
    "glass cabinet; hollow oak; lamp room; linen press; old safe; organ loft; red wagon; "
    "salt cellar; stone vault; tea caddy; tin trunk; town clock; wine cave"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A question and the words that its answer must have."""

    messages: tuple[Message, ...]
    answer: str


def build_probe(kind: ProbeKind, *, things: int, place: int, seed: int) -> Probe:
    """A probe with its answer at `place` (from 0) among so many things; raises `BadOption`."""
    if not 0 <= place < things:
        raise BadOption(f"place {place} is not among {things}")
    random = Random(f"{kind} {things} {seed}")  # noqa: S311  # texts, not secrets
    if kind == "pairs":
        return _build_pairs_probe(random, things, place)
    if kind == "facts":
        return _build_facts_probe(random, things, place)
    raise BadOption(f"no probe is called {kind!r}; there are {', '.join(PROBE_KINDS)}")


def _build_pairs_probe(random: Random, things: int, place: int) -> Probe:
    keys = [f"{random.getrandbits(48):012x}" for _ in range(2 * things)]
    rows = dict(zip(keys[:things], keys[things:], strict=True))
    key = keys[place]
    asked = (
        "Extract the value of the given key from the JSON object below. "
        "Answer with the value alone.\n\n"
        f"{json.dumps(rows, indent=0)}\n\nKey: {json.dumps(key)}\nThe value is:"
    )
    return Probe(messages=({"role": "user", "content": asked},), answer=rows[key])


def _build_facts_probe(random: Random, things: int, place: int) -> Probe:
    towns = [first + last for first in _NAME_STARTS.split() for last in _NAME_ENDINGS.split()]
    guilds = [(town, trade) for town in towns for trade in _TRADES.split()]
    if things > len(guilds):
        raise BadOption(f"there are {len(guilds)} facts at the most, not {things}")
    chosen = random.sample(guilds, things)
    places = [random.choice(_PLACES.split("; ")) for _ in chosen]
    lines = [
        f"[{n}] In {town}, the guild of {trade} keeps its seal in the {where}."
        for n, ((town, trade), where) in enumerate(zip(chosen, places, strict=True), 1)
    ]
    town, trade = chosen[place]
    asked = (
        "Answer from these notes alone, in a few words.\n\n"
        + "\n".join(lines)
        + f"\n\nWhere does the guild of {trade} in {town} keep its seal?"
    )
    return Probe(messages=({"role": "user", "content": asked},), answer=places[place])


_MIN_FAILURES = 2
"""Failed questions before a model may be given up."""
_MAX_FAILURES_IN_A_ROW = 5
"""Failed questions after which a server is taken to be gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """`things` in a context, the answer at each of `places` even places, `rounds` times a kind.

    `max_tokens` and `timeout` (seconds) are for one answer.
    """

    kinds: tuple[ProbeKind, ...] = PROBE_KINDS
    things: int = 40
    places: int = 5
    rounds: int = 20
    timeout: float = 120.0
    max_tokens: int = 40
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse what cannot be asked."""
        if self.places < 2 or self.places > self.things:
            raise BadOption(f"places: {self.places}; give 2 to {self.things} (things)")
        if self.rounds < 1:
            raise BadOption(f"rounds: {self.rounds}; give at least 1")
        if self.max_tokens < 1:
            raise BadOption(f"max_tokens: {self.max_tokens}; give at least 1")
        check_timeout(self.timeout)

    def things_before(self, number: int) -> int:
        """How many things come before the answer at place `number`."""
        return number * (self.things - 1) // (self.places - 1)

    @property
    def positions(self) -> list[float]:
        """The places as they are, from 0 to 1: among few things they are not quite even."""
        return [self.things_before(number) / (self.things - 1) for number in range(self.places)]

    @property
    def questions(self) -> int:
        """How many are asked in all."""
        return len(self.kinds) * self.places * self.rounds


@dataclass(slots=True, kw_only=True)
class SweepResult:
    """A curve for each kind of probe, and `all` together, once every question was asked.

    `answers`: received; `empty`: blank ones, `cut`: blank because their limit was spent.
    `failures`: reasons, one a question without an answer.
    """

    curves: dict[str, Curve] = field(default_factory=dict)
    answers: int = 0
    empty: int = 0
    cut: int = 0
    failures: list[str] = field(default_factory=list)
    _failures_in_a_row: int = 0

    def add_reply(self, reply: Reply, answer: str) -> bool:
        """Count a reply; whether it is right."""
        silent = not reply.text.strip()
        self._failures_in_a_row = 0
        self.answers += 1
        self.empty += silent
        self.cut += silent and reply.finish == "length"
        return answer.casefold() in reply.text.casefold()

    def add_failure(self, error: ExternalError) -> None:
        """Count a question without an answer; raises if most fail, or the last ones."""
        self.failures.append(str(error))
        self._failures_in_a_row += 1
        mostly = len(self.failures) >= _MIN_FAILURES and len(self.failures) > self.answers
        if mostly or self._failures_in_a_row >= _MAX_FAILURES_IN_A_ROW:
            asked = len(self.failures) + self.answers
            raise ExternalError(
                f"{error}; given up: {len(self.failures)} of {asked} questions failed, each twice"
            )


def run_sweep(model: Model, sweep: Sweep, *, on_progress: Progress | None = None) -> SweepResult:
    """The curves; raises `ExternalError` if most questions fail, or all of a place.

    Every place gets the same questions; rounds go through all places, so that a slowing server
    affects all alike.
    """
    found, done = SweepResult(), 0
    right: Outcomes = {kind: [[] for _ in range(sweep.places)] for kind in sweep.kinds}
    for round_ in range(sweep.rounds):
        for kind in sweep.kinds:
            for number in range(sweep.places):
                at = sweep.things_before(number)
                one = build_probe(
                    kind, things=sweep.things, place=at, seed=sweep.seed * 100_003 + round_
                )
                reply = _ask_with_retry(model, sweep, one)
                if isinstance(reply, Reply):
                    right[kind][number].append(found.add_reply(reply, one.answer))
                else:
                    found.add_failure(reply)
                done += 1
                if on_progress is not None:
                    on_progress(done, sweep.questions, f"{kind} at {at + 1}")
    found.curves = _fit_curves(right, sweep, found.failures)
    return found


def _ask_with_retry(model: Model, sweep: Sweep, one: Probe) -> Reply | ExternalError:
    """The answer, of two attempts, or the reason why there is none."""
    for attempt in (1, 2):
        try:
            return model.complete(one.messages, max_tokens=sweep.max_tokens, timeout=sweep.timeout)
        except MissingExtra:
            raise
        except ExternalError as error:
            if attempt == 2:
                return error
    raise AssertionError


def _fit_curves(right: Outcomes, sweep: Sweep, failures: Sequence[str]) -> dict[str, Curve]:
    for kind, places in right.items():
        if not all(places):
            raise ExternalError(
                f"every question of {kind} at one place failed, the last with: "
                f"{failures[-1]}; ask more often (--rounds)"
            )
    together = [
        [one for kind in sweep.kinds for one in right[kind][number]]
        for number in range(sweep.places)
    ]
    at = sweep.positions
    curves = {kind: fit_curve(outcomes, sweep.seed, at) for kind, outcomes in right.items()}
    return {**curves, "all": fit_curve(together, sweep.seed, at)}


def describe_result(measured: SweepResult) -> Sequence[str]:
    """The curves' main results as sentences; raises if there are none."""
    found = measured.curves["all"]
    if not any(point.right for point in found.points):
        raise ExternalError(_describe_no_right_answer(measured))
    return (_describe_shape(found), *_describe_caveats(measured))


def _describe_shape(found: Curve) -> str:
    if found.is_flat:
        return f"flat: chance explains the differences between places ({_format_p_value(found.p)})"
    low = min(found.points, key=lambda point: point.accuracy)
    high = max(found.points, key=lambda point: point.accuracy)
    best = f"{high.accuracy:.0f} % right at {high.position:.2f} of the context"
    return (
        f"not flat ({_format_p_value(found.p)}): {best}, {low.accuracy:.0f} % at {low.position:.2f}"
    )


def _describe_no_right_answer(measured: SweepResult) -> str:
    if 2 * measured.empty <= measured.answers:
        return "the model answered nothing right at any place; ask for fewer things (--things)"
    return f"{_describe_empty_answers(measured)}; without other answers there is no curve"


def _describe_empty_answers(measured: SweepResult) -> str:
    told = f"the model gave empty answers to {measured.empty} of {measured.answers} questions"
    if measured.cut:
        return f"{told}, its limit spent on {measured.cut}; give it more --max-tokens"
    return f"{told}; ask another model, or look at what its server does"


def _describe_caveats(measured: SweepResult) -> Sequence[str]:
    found = [f"{_describe_empty_answers(measured)}; they count as wrong"] if measured.empty else []
    if measured.failures:
        asked = measured.answers + len(measured.failures)
        found.append(
            f"{len(measured.failures)} of {asked} questions failed, each twice, and are left out; "
            f"the last: {measured.failures[-1]}"
        )
    return found


def _format_p_value(p: float) -> str:
    return f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"
