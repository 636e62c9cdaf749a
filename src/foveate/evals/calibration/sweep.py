"""Ask a model for the same kinds of things at every place, and count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from foveate.adapters.models.asked import check_timeout
from foveate.core.errors import BadOption, OutsideFailure
from foveate.evals.calibration.curve import Curve, fitted
from foveate.evals.calibration.probes import KINDS, Kind, probe
from foveate.ports import Model

Progress = Callable[[int, int, str], None]
"""Called after each question: done, in all, what was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """`things` in a context, the answer at each of `places` even places, `rounds` times a kind."""

    kinds: tuple[Kind, ...] = KINDS
    things: int = 40
    places: int = 5
    rounds: int = 20
    timeout: float = 120.0
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse what cannot be asked."""
        if self.places < 2 or self.places > self.things:
            raise BadOption(f"places: {self.places}; give 2 to {self.things} (things)")
        if self.rounds < 1:
            raise BadOption(f"rounds: {self.rounds}; give at least 1")
        check_timeout(self.timeout)

    @property
    def questions(self) -> int:
        """How many are asked in all."""
        return len(self.kinds) * self.places * self.rounds


def measure(model: Model, sweep: Sweep, *, on_progress: Progress | None = None) -> dict[str, Curve]:
    """A curve for each kind of probe, and `all` of them together; raises `OutsideFailure`.

    Every place is asked the same questions, so that places differ by nothing else; rounds go
    around the places, so that a server that tires does so for all of them.
    """
    right: dict[str, list[list[bool]]] = {
        kind: [[] for _ in range(sweep.places)] for kind in sweep.kinds
    }
    done = 0
    for round_ in range(sweep.rounds):
        for kind in sweep.kinds:
            for number in range(sweep.places):
                at = number * (sweep.things - 1) // (sweep.places - 1)
                right[kind][number].append(_asked(model, sweep, kind, at, round_))
                done += 1
                if on_progress is not None:
                    on_progress(done, sweep.questions, f"{kind} at {at + 1}")
    curves = {kind: fitted(outcomes, sweep.seed) for kind, outcomes in right.items()}
    together = [
        [one for kind in sweep.kinds for one in right[kind][number]]
        for number in range(sweep.places)
    ]
    return {**curves, "all": fitted(together, sweep.seed)}


def _asked(model: Model, sweep: Sweep, kind: Kind, place: int, round_: int) -> bool:
    one = probe(kind, things=sweep.things, place=place, seed=sweep.seed * 100_003 + round_)
    reply = model.complete(one.messages, max_tokens=40, timeout=sweep.timeout)
    return one.answer.casefold() in reply.text.casefold()


def said(curves: dict[str, Curve]) -> Sequence[str]:
    """What one should know of the curves, in sentences."""
    found = curves["all"]
    if not any(point.right for point in found.points):
        raise OutsideFailure(
            "the model answered nothing right at any place; ask for fewer things (--things)"
        )
    if found.flat:
        return (f"flat: chance explains the differences between places (p = {found.p:.3f})",)
    low = min(found.points, key=lambda point: point.accuracy)
    high = max(found.points, key=lambda point: point.accuracy)
    best = f"{high.accuracy:.0f} % right at {high.position:.2f} of the context"
    return (f"not flat (p = {found.p:.3f}): {best}, {low.accuracy:.0f} % at {low.position:.2f}",)
