"""Questions whose one answer stands at a chosen place among things that look alike.

`pairs`: a JSON object of random keys and values, as in Liu et al., "Lost in the middle", 2023.
`facts`: sentences of our own about towns that do not exist, so that nothing can be known before.
Both are pure functions of their seed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeAlias

from foveate.core.errors import BadOption
from foveate.ports import Message

ProbeKind: TypeAlias = Literal["pairs", "facts"]
PROBE_KINDS: tuple[ProbeKind, ...] = ("pairs", "facts")

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
