"""Reading curves measured on readers whose curve is known."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from random import Random

import pytest

from foveate import assemble
from foveate.core.errors import BadInput, BadOption, OutsideFailure, UnknownName
from foveate.core.stages.order import LOST_IN_THE_MIDDLE
from foveate.curves import curve, evenly, published
from foveate.evals.calibration.curve import fitted, to_json, wilson
from foveate.evals.calibration.probes import KINDS, probe
from foveate.evals.calibration.sweep import Sweep, measure, said
from foveate.plan import plan
from foveate.ports import Reply


@dataclass
class Reader:
    """Really reads the probe, and forgets what stands in the middle as often as it is told."""

    forgets: tuple[float, ...]
    name = "reader"

    def complete(self, messages, *, max_tokens=40, temperature=0.0, stop=(), timeout=1.0):
        """Look the answer up."""
        text = messages[-1]["content"]
        if "JSON" in text:
            rows = json.loads(text[text.index("{") : text.index("}") + 1])
            key = json.loads(re.search(r'Key: ("\w+")', text)[1])
            at, found = list(rows).index(key) / (len(rows) - 1), rows[key]
        else:
            lines = re.findall(
                r"In (\w+), the guild of (\w+) keeps its seal in the ([\w ]+)\.", text
            )
            trade, town = re.search(r"guild of (\w+) in (\w+) keep", text).groups()
            at = next(n for n, line in enumerate(lines) if line[:2] == (town, trade))
            found, at = lines[at][2], at / (len(lines) - 1)
        forgets = self.forgets[round(at * (len(self.forgets) - 1))]
        lost = Random(text).random() < forgets
        return Reply(text="I do not know." if lost else f"The answer is {found.upper()}.")

    def stream(self, messages, **options):
        """In one piece."""
        reply = self.complete(messages)
        yield reply.text
        yield reply


def test_a_dip_is_found_and_used(tmp_path):
    """E6, S10: a reader that forgets the middle gives a curve that keeps evidence away from it."""
    curves = measure(Reader((0.0, 0.7, 0.9, 0.7, 0.0)), Sweep(things=20, rounds=12))
    found = curves["all"]
    assert not found.flat
    assert min(found.heights) == found.heights[2] < 50 < found.heights[0]
    assert all(low <= p.accuracy <= high for p in found.points for low, high in [p.interval])
    assert "not flat" in said(curves)[0]
    file = tmp_path / "curve.json"
    file.write_text(json.dumps(to_json(found, model="reader", kinds=KINDS, things=20)))
    assert curve(str(file)) == found.heights
    chunks = [
        {"id": f"c{n}", "text": f"Note {n} tells of the harbour wall.", "score": 1 - n / 10}
        for n in range(5)
    ]
    made = assemble(
        "harbour wall", chunks, budget=500, recipe="citations", order=f"attention:{file}"
    )
    assert [b.chunk_ids[0] for b in made.blocks].index("c4") == 2


def test_a_flat_curve_is_called_flat():
    """E6: where places read alike it says so, and gives a curve that moves nothing."""
    curves = measure(Reader((0.4,) * 5), Sweep(things=20, rounds=12))
    assert curves["all"].flat
    assert len(set(curves["all"].heights)) == 1
    assert said(curves)[0].startswith("flat")
    assert measure(Reader((0.0,)), Sweep(things=8, rounds=2))["all"].p == 1.0


def test_a_model_that_cannot_is_said_to_be_one():
    """E6, X1: nothing right anywhere is no curve."""
    with pytest.raises(OutsideFailure, match="fewer things"):
        said(measure(Reader((1.0,)), Sweep(things=8, rounds=1)))


@pytest.mark.parametrize("kind", KINDS)
def test_probes_differ_in_the_place_alone(kind):
    """E6, D1: the same seed gives the same things; the place decides what is asked."""
    probes = [probe(kind, things=30, place=n, seed=4) for n in range(30)]
    assert probe(kind, things=30, place=3, seed=4) == probes[3]
    assert probe(kind, things=30, place=3, seed=5) != probes[3]
    heads = {p.messages[0]["content"].rsplit("\n\n", 1)[0] for p in probes}
    assert len(heads) == 1
    for n, one in enumerate(probes):
        text = one.messages[0]["content"]
        lines = [line for line in text.split("\n") if line.startswith(('"', "["))]
        assert one.answer in lines[n]


@pytest.mark.parametrize(
    "make",
    [
        lambda: probe("pairs", things=3, place=3, seed=1),
        lambda: probe("riddles", things=3, place=0, seed=1),
        lambda: probe("facts", things=10_000, place=0, seed=1),
        lambda: Sweep(places=1),
        lambda: Sweep(places=9, things=8),
        lambda: Sweep(rounds=0),
        lambda: Sweep(timeout=float("nan")),
    ],
)
def test_what_cannot_be_asked_is_refused(make):
    """E6, X2: by name."""
    with pytest.raises(BadOption):
        make()


def test_intervals_are_wilsons():
    """E6: against values worked out elsewhere (Brown, Cai, DasGupta 2001 use the same formula)."""
    low, high = wilson(8, 10)
    assert (round(low, 1), round(high, 1)) == (49.0, 94.3)
    assert wilson(0, 0) == (0.0, 100.0)
    assert wilson(0, 10)[0] == 0.0
    assert wilson(10, 10)[1] == 100.0


def test_chance_is_met_as_often_as_it_should():
    """E6: of curves that are noise, about one in twenty is called something."""
    random = Random(3)
    noise = [
        fitted([[random.random() < 0.5 for _ in range(20)] for _ in range(5)], seed)
        for seed in range(60)
    ]
    assert sum(not one.flat for one in noise) <= 8


def test_published_curves_have_their_source():
    """E6: as data, each with where it comes from; the default of `Order` is one of them."""
    assert len(published()) >= 8
    assert all(
        one.source and len(one.positions) == len(one.accuracy) for one in published().values()
    )
    for name in published():
        assert len(curve(name)) == len(published()[name].positions)
    assert [round(v, 1) for v in curve("gpt35_20")] == list(LOST_IN_THE_MIDDLE)
    assert evenly((0.0, 0.5, 1.0), (1.0, 3.0, 5.0)) == (1.0, 3.0, 5.0)


def test_a_curve_is_named_or_in_a_file(tmp_path):
    """E6, X2: what is neither is refused, with what is known or what to do."""
    with pytest.raises(UnknownName, match="gpt35_20"):
        curve("gpt35_2O")
    with pytest.raises(BadInput, match="cannot be read"):
        curve(str(tmp_path / "none.json"))
    huge = '{"kind": "foveate.curve/1", "curve": [1, 1' + "0" * 400 + "]}"
    for content in (
        huge,
        "{",
        "[]",
        '{"kind": "x", "curve": [1]}',
        '{"kind": "foveate.curve/1", "curve": ["a"]}',
    ):
        file = tmp_path / "c.json"
        file.write_text(content)
        with pytest.raises(BadInput, match=r"c\.json"):
            curve(str(file))
    with pytest.raises(BadOption, match="names no curve"):
        plan(order="attention:")
    with pytest.raises(BadOption, match="attention alone"):
        plan(order="edges:gpt35_20")
    file.write_text('{"kind": "foveate.curve/1", "curve": [1]}')
    with pytest.raises(BadOption, match="curve"):
        plan(order=f"attention:{file}")
