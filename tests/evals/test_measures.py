"""The measures, against the reference implementation and against their definitions."""

from __future__ import annotations

import importlib.util
import os
import random
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.stages.order import LOST_IN_THE_MIDDLE
from foveate.evals.measures import (
    CURVE_ACCURACY,
    CURVE_CONTEXT_TOKENS,
    CURVE_PLACES,
    Measures,
    WordIndex,
    attention_weight,
    measure,
    split_words,
)
from foveate.evals.read import case_from_record
from foveate.providers import tokenizers
from golden_cases import expected, records

NAMES = {
    "tokens": "tokens",
    "evid": "recall",
    "all": "complete",
    "ans": "answer",
    "posw": "weighted",
    "redun": "redundancy",
    "util": "use",
    "over": "over",
    "cov": "covered",
}
WORDS = st.sampled_from(["the", "well", "is", "deep", "Nine", "metres", "深", "水池", "ΟΔΟΣ", "İl"])
TEXTS = st.lists(WORDS, max_size=60).map(" ".join)
CL100K = tokenizers.load_tokenizer("cl100k_base")


def ours(record: dict[str, Any], text: str, budget: int | None) -> Measures:
    """Our measures of a context for a record."""
    case = case_from_record(record)
    return measure(
        text,
        [unit.text for unit in case.evidence],
        case.answers,
        tokens=CL100K.count(text),
        budget=budget,
        dataset=case.dataset,
    )


def assert_same(theirs: dict[str, Any], found: Measures) -> None:
    """Every measure of the reference is ours, to what sums of floats leave."""
    for name, our_name in NAMES.items():
        assert getattr(found, our_name) == pytest.approx(theirs[name], abs=1e-9), our_name


def test_they_are_those_of_the_reference_on_our_own_texts():
    """E1: recall, all, answers, position, redundancy, use, over, tokens: as published."""
    by_id = {(record["dataset"], record["id"]): record for record in records()}
    rows = expected()

    for row in rows:
        found = ours(by_id[row["dataset"], row["id"]], row["context"], row["budget"])
        assert_same(row, found)

    assert len(rows) == 100
    assert len({row["dataset"] for row in rows}) == 5


def reference(folder: Path) -> ModuleType:
    """The reference implementation, loaded from the data's folder."""
    spec = importlib.util.spec_from_file_location("reference_metrics", folder / "metrics.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Recorded:
    """What the reference said of our own texts, for where it is not at hand."""

    def __init__(self) -> None:
        self.rows = {(r["dataset"], r["id"], r["context"], r["budget"]): r for r in expected()}

    def contexts(self, record: dict[str, Any]) -> list[tuple[str, int]]:
        """The contexts that were measured for a record."""
        own = (record["dataset"], record["id"])
        return [(key[2], key[3]) for key in self.rows if key[:2] == own]

    def score_one(self, record: dict[str, Any], text: str, budget: int) -> dict[str, Any]:
        """As the reference does it."""
        return self.rows[record["dataset"], record["id"], text, budget]


class Live:
    """The reference itself, asked about mangled contexts of real records."""

    def __init__(self, folder: Path) -> None:
        self.module = reference(folder)
        self.random = random.Random(3)

    def contexts(self, record: dict[str, Any]) -> list[tuple[str, int]]:
        """Cut, doubled, shuffled, in capitals."""
        text = self.module.naive_trunc(record, 1_500)
        parts = text.split("\n\n")
        self.random.shuffle(parts)
        some = self.random.sample(text.split(" "), min(200, text.count(" ") + 1))
        mangled = ["\n".join(parts), text + text[: len(text) // 3], text.upper(), " ".join(some)]
        return [(self.module.naive_trunc(record, 500), 500), (self.random.choice(mangled), 900)]

    def score_one(self, record: dict[str, Any], text: str, budget: int) -> dict[str, Any]:
        """As the reference does it."""
        return self.module.score_one(record, text, budget)


def asked() -> tuple[Recorded | Live, list[dict[str, Any]]]:
    """The reference and records for it: real ones where FOVEATE_DATA names their folder."""
    folder = os.environ.get("FOVEATE_DATA")
    if not folder:
        return Recorded(), records()
    live = Live(Path(folder))
    found = []
    for path in sorted((Path(folder) / "dev").glob("*.jsonl.gz")):
        found += live.random.sample(live.module.load(path), 12)
    return live, found


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # in what the reference imports
def test_they_are_those_of_the_reference_on_real_records(figure):
    """E1: the same figures as the reference, on real sets where their folder is named."""
    oracle, found = asked()
    compared = 0
    for record in found:
        for text, budget in oracle.contexts(record):
            theirs = oracle.score_one(record, text, budget)
            if not record["answers"]:
                theirs["ans"] = None  # without a gold answer there is nothing to find
            assert_same(theirs, ours(record, text, budget))
            compared += 1
    figure(f"measures: the same as the reference on {compared} contexts")

    assert compared >= 100


def plainly(text: str, evidence: str) -> float:
    """Recall of a unit as it is defined: words inside a run of five that the text has too."""
    have, want = split_words(text), split_words(evidence)
    length = min(5, len(want))
    if not want:
        return 0.0
    runs = {tuple(have[i : i + length]) for i in range(len(have) - length + 1)}
    hit = set()
    for i in range(len(want) - length + 1):
        if tuple(want[i : i + length]) in runs:
            hit.update(range(i, i + length))
    return len(hit) / len(want)


@given(TEXTS, TEXTS)
def test_coverage_is_its_definition(text, evidence):
    """E1: the fast way of looking runs up gives what comparing all of them gives."""
    share, place = WordIndex(text, 500).coverage(evidence)

    assert share == pytest.approx(plainly(text, evidence))
    assert (place > 0) == (share > 0)


@given(TEXTS)
def test_redundancy_is_its_definition(text):
    """E1: 1 - distinct / all runs of eight words; 0 where there is no run."""
    found = split_words(text)
    runs = [tuple(found[i : i + 8]) for i in range(len(found) - 7)]
    wanted = 1 - len(set(runs)) / len(runs) if runs else 0.0

    assert WordIndex(text, 10).redundancy() == pytest.approx(wanted)


@given(st.text(max_size=80) | TEXTS)
def test_words_are_their_definition(text):
    """E1: the quick ways through a text give the words that the plain pattern gives."""
    pattern = r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_]+"

    assert split_words(text) == [word.lower() for word in re.findall(pattern, text)]


@given(TEXTS, TEXTS, TEXTS)
def test_more_text_never_covers_less(before, text, after):
    """E1: what a text covers, it still covers inside a longer one."""
    evidence = "the well is deep Nine metres 深"
    alone, _ = WordIndex(text, 100).coverage(evidence)
    inside, _ = WordIndex(f"{before} {text} {after}", 100).coverage(evidence)

    assert inside >= alone


def test_a_verbatim_unit_is_fully_covered():
    """E1: evidence that stands in the context word by word is 1, whatever surrounds it."""
    evidence = "It must be drained before the first frost."
    found = measure(f"Old. {evidence} New.", [evidence], ["FIRST frost"], tokens=12, budget=10)

    assert (found.recall, found.complete, found.answer) == (1.0, 1.0, 1.0)
    assert (found.use, found.over) == (1.2, 1.0)


def test_free_text_answers_are_not_looked_for():
    """E1: where answers are free text, or there are none, the answer measure is unknown."""
    text = "The well is nine metres deep."
    known = measure(text, [text], ["nine metres"], tokens=7, dataset="farm").answer
    free = measure(text, [text], ["nine metres"], tokens=7, dataset="claude_docs").answer
    none = measure(text, [text], [], tokens=7, dataset="farm").answer

    assert (known, free, none) == (1.0, None, None)


def test_the_curve_is_read_at_its_own_points():
    """E1: at the length it was measured with, the published points are met exactly."""
    for place, value in zip(CURVE_PLACES, CURVE_ACCURACY, strict=True):
        assert attention_weight(place, CURVE_CONTEXT_TOKENS) == pytest.approx(
            value / max(CURVE_ACCURACY)
        )


def test_the_order_goes_by_the_curve_that_the_measure_goes_by():
    """E1, S10: at evenly spaced places, rounded to a tenth."""
    best = max(CURVE_ACCURACY)
    for n, value in enumerate(LOST_IN_THE_MIDDLE):
        read = attention_weight(n / (len(LOST_IN_THE_MIDDLE) - 1), CURVE_CONTEXT_TOKENS)
        assert round(best * read, 1) == value


@given(st.floats(-1, 2), st.integers(0, 10_000))
def test_a_short_context_dips_less(place, tokens):
    """E1: a weight is at most 1, and never lower in a shorter context."""
    assert (
        attention_weight(place, CURVE_CONTEXT_TOKENS) <= attention_weight(place, tokens // 2) <= 1
    )
