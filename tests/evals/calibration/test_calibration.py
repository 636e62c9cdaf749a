"""Reading curves measured on readers whose curve is known."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from random import Random

import pytest

from foveate import assemble
from foveate.core.errors import BadInput, BadOption, ExternalError, MissingExtra, UnknownName
from foveate.core.stages.order import LOST_IN_THE_MIDDLE
from foveate.evals.calibration.curve import curve_to_json, fit_curve, wilson_interval
from foveate.evals.calibration.sweep import (
    PROBE_KINDS,
    Sweep,
    build_probe,
    describe_result,
    run_sweep,
)
from foveate.pipeline.curves import load_curve, load_published_curves, resample_evenly
from foveate.ports import Reply
from resolving import resolve


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
    measured = run_sweep(Reader((0.0, 0.7, 0.9, 0.7, 0.0)), Sweep(things=21, rounds=12))
    found = measured.curves["all"]
    assert not found.is_flat
    assert min(found.heights) == found.heights[2] < 50 < found.heights[0]
    assert all(low <= p.accuracy <= high for p in found.points for low, high in [p.interval])
    assert "not flat" in describe_result(measured)[0]
    file = tmp_path / "curve.json"
    file.write_text(json.dumps(curve_to_json(found, model="reader", kinds=PROBE_KINDS, things=21)))
    assert load_curve(str(file)) == found.heights
    chunks = [
        {"id": f"c{n}", "text": f"Note {n} tells of the harbour wall.", "score": 1 - n / 10}
        for n in range(5)
    ]
    made = assemble(
        "harbour wall", chunks, budget=500, recipe="citations", order=f"attention:{file}"
    )
    assert [b.chunk_ids[0] for b in made.blocks].index("c4") == 2


def test_places_are_where_the_answers_stood():
    """E6: among few things they are not even; the curve is, along straight lines between them."""
    sweep = Sweep(things=4, places=3, rounds=20, kinds=("facts",))
    measured = run_sweep(Reader((0.0, 1.0, 0.0, 0.0)), sweep)
    found = measured.curves["all"]

    assert [sweep.things_before(number) for number in range(3)] == [0, 1, 3]
    assert [point.position for point in found.points] == [0.0, 1 / 3, 1.0]
    assert [point.accuracy for point in found.points] == [100.0, 0.0, 100.0]
    assert found.heights == (100.0, 25.0, 100.0)
    record = curve_to_json(found, model="reader", kinds=PROBE_KINDS, things=4)
    assert [point["position"] for point in record["points"]] == [0.0, 1 / 3, 1.0]


def test_a_flat_curve_is_called_flat():
    """E6: where places read alike it says so, and gives a curve that moves nothing."""
    measured = run_sweep(Reader((0.4,) * 5), Sweep(things=20, rounds=12))
    assert measured.curves["all"].is_flat
    assert len(set(measured.curves["all"].heights)) == 1
    (verdict,) = describe_result(measured)
    assert verdict.startswith("flat")
    assert run_sweep(Reader((0.0,)), Sweep(things=8, rounds=2)).curves["all"].p == 1.0


def test_a_model_that_cannot_is_said_to_be_one():
    """E6, X1: nothing right anywhere is no curve."""
    with pytest.raises(ExternalError, match="fewer things"):
        describe_result(run_sweep(Reader((1.0,)), Sweep(things=8, rounds=1)))


class Faulty(Reader):
    """A reader that says nothing, or fails, at the calls that it is told."""

    def __init__(self, *, mute=lambda call: False, fails=lambda call: False, finish="stop"):
        super().__init__((0.0,))
        self.mute, self.fails, self.finish, self.calls = mute, fails, finish, 0

    def complete(self, messages, **options):
        """Counts its calls."""
        self.calls += 1
        if self.fails(self.calls):
            raise ExternalError(f"the pump stopped at call {self.calls}")
        if self.mute(self.calls):
            return Reply(text=" ", finish=self.finish)
        return super().complete(messages)


@pytest.mark.parametrize(
    ("finish", "advice"), [("length", "more --max-tokens"), ("stop", "another model")]
)
def test_a_model_that_says_nothing(finish, advice):
    """E6, X1: empty answers are called that, with what may help; fewer things would not."""
    with pytest.raises(ExternalError, match=f"empty answers to 20 of 20 .*{advice}") as caught:
        describe_result(
            run_sweep(Faulty(mute=lambda call: True, finish=finish), Sweep(things=8, rounds=2))
        )
    assert "--things" not in str(caught.value)

    measured = run_sweep(Faulty(mute=lambda call: call == 3, finish=finish), Sweep(rounds=2))
    (_, beside) = describe_result(measured)
    assert (measured.answers, measured.empty, measured.cut) == (20, 1, finish == "length")
    assert "empty answers to 1 of 20" in beside
    assert sum(point.right for point in measured.curves["all"].points) == 19


def test_a_question_that_fails_is_asked_once_more():
    """E6, X3: one failure costs nothing; two of the same question cost that question alone."""
    model = Faulty(fails=lambda call: call == 4)
    assert run_sweep(model, Sweep(rounds=2)).failures == []
    assert model.calls == 21

    measured = run_sweep(Faulty(fails=lambda call: call in (4, 5)), Sweep(rounds=2))
    (_, beside) = describe_result(measured)
    assert (measured.answers, measured.failures) == (19, ["the pump stopped at call 5"])
    assert beside.startswith("1 of 20 questions failed")
    assert sum(point.asked for point in measured.curves["all"].points) == 19


def test_a_model_that_mostly_fails_is_given_up():
    """E6, X3: soon, with what went wrong; and where a place has no answer there is no curve."""
    dead = Faulty(fails=lambda call: True)
    with pytest.raises(ExternalError, match="pump stopped at call 4; given up: 2 of 2 questions"):
        run_sweep(dead, Sweep(rounds=20))
    assert dead.calls == 4

    dies = Faulty(fails=lambda call: call > 30)
    with pytest.raises(ExternalError, match="given up: 5 of 35 questions failed"):
        run_sweep(dies, Sweep(rounds=20))

    with pytest.raises(ExternalError, match=r"pairs at one place failed, .*--rounds"):
        run_sweep(Faulty(fails=lambda call: call in (4, 5)), Sweep(rounds=1))


def test_a_package_that_is_missing_is_no_failed_question():
    """E6, X1: it is said at once."""

    class Bare(Reader):
        def complete(self, messages, **options):
            raise MissingExtra("openai", "openai")

    with pytest.raises(MissingExtra):
        run_sweep(Bare((0.0,)), Sweep())


@pytest.mark.parametrize("kind", PROBE_KINDS)
def test_probes_differ_in_the_place_alone(kind):
    """E6, D1: the same seed gives the same things; the place decides what is asked."""
    probes = [build_probe(kind, things=30, place=n, seed=4) for n in range(30)]
    assert build_probe(kind, things=30, place=3, seed=4) == probes[3]
    assert build_probe(kind, things=30, place=3, seed=5) != probes[3]
    heads = {p.messages[0]["content"].rsplit("\n\n", 1)[0] for p in probes}
    assert len(heads) == 1
    for n, one in enumerate(probes):
        text = one.messages[0]["content"]
        lines = [line for line in text.split("\n") if line.startswith(('"', "["))]
        assert one.answer in lines[n]


@pytest.mark.parametrize(
    "make",
    [
        lambda: build_probe("pairs", things=3, place=3, seed=1),
        lambda: build_probe("riddles", things=3, place=0, seed=1),
        lambda: build_probe("facts", things=10_000, place=0, seed=1),
        lambda: Sweep(places=1),
        lambda: Sweep(places=9, things=8),
        lambda: Sweep(rounds=0),
        lambda: Sweep(max_tokens=0),
        lambda: Sweep(timeout=float("nan")),
    ],
)
def test_what_cannot_be_asked_is_refused(make):
    """E6, X2: by name."""
    with pytest.raises(BadOption):
        make()


def test_intervals_are_wilsons():
    """E6: against values worked out elsewhere (Brown, Cai, DasGupta 2001 use the same formula)."""
    low, high = wilson_interval(8, 10)
    assert (round(low, 1), round(high, 1)) == (49.0, 94.3)
    assert wilson_interval(0, 0) == (0.0, 100.0)
    assert wilson_interval(0, 10)[0] == 0.0
    assert wilson_interval(10, 10)[1] == 100.0


def test_chance_is_met_as_often_as_it_should():
    """E6: of curves that are noise, about one in twenty is called something."""
    random = Random(3)
    noise = [
        fit_curve([[random.random() < 0.5 for _ in range(20)] for _ in range(5)], seed)
        for seed in range(60)
    ]
    assert sum(not one.is_flat for one in noise) <= 8


def test_published_curves_have_their_source():
    """E6: as data, each with where it comes from; the default of `Order` is one of them."""
    assert len(load_published_curves()) >= 8
    assert all(
        one.source and len(one.positions) == len(one.accuracy)
        for one in load_published_curves().values()
    )
    for name in load_published_curves():
        assert len(load_curve(name)) == len(load_published_curves()[name].positions)
    assert [round(v, 1) for v in load_curve("gpt35_20")] == list(LOST_IN_THE_MIDDLE)
    assert resample_evenly((0.0, 0.5, 1.0), (1.0, 3.0, 5.0)) == (1.0, 3.0, 5.0)


def test_a_curve_is_named_or_in_a_file(tmp_path):
    """E6, X2: what is neither is refused, with what is known or what to do."""
    with pytest.raises(UnknownName, match="gpt35_20"):
        load_curve("gpt35_2O")
    with pytest.raises(BadInput, match="no such file"):
        load_curve(str(tmp_path / "none.json"))
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
            load_curve(str(file))
    with pytest.raises(BadOption, match="names no curve"):
        resolve(order="attention:")
    with pytest.raises(BadOption, match="attention alone"):
        resolve(order="edges:gpt35_20")
    file.write_text('{"kind": "foveate.curve/1", "curve": [1]}')
    with pytest.raises(BadOption, match="curve"):
        resolve(order=f"attention:{file}")
