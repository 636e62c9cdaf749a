"""A text's signature for a threshold, asked for from several threads."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from random import Random

from foveate.core.stages.dedup.near import DedupNear
from foveate.core.stages.dedup.resolve_duplicates import Threshold
from foveate.core.stages.dedup.signature import signature
from foveate.core.text.profile import Profile
from foveate.testing.fakes import candidate, request


def test_threads_with_other_thresholds_change_nothing(monkeypatch):
    """D1: runs at several thresholds at once, over the same texts, give what each gives alone."""
    monkeypatch.setattr("foveate.core.stages.dedup.candidate_pairs.TEXTS", 0)
    dice = Random(2)
    texts = []
    for _ in range(30):
        base = [f"w{dice.randrange(3000)}" for _ in range(80)]
        for copies in range(3):
            copy = list(base)
            for place in dice.sample(range(80), 3 * copies):
                copy.insert(place, "also")
            texts.append(" ".join(copy))
    candidates = tuple(candidate(text, 1.0, id=f"c{n:03}") for n, text in enumerate(texts))

    def left(threshold):
        step = DedupNear(method="containment", threshold=threshold)(candidates, request())
        return [(d.chunk_id, d.by) for d in step.decisions if d.action == "merged"]

    thresholds = [0.5, 0.8, 0.97]
    alone = [left(threshold) for threshold in thresholds]
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(3) as threads:
            together = list(threads.map(left, thresholds * 10))
    finally:
        sys.setswitchinterval(switch)

    assert together == alone * 10
    assert len({len(gone) for gone in alone}) > 1


def test_a_signature_is_not_changed_by_another_threshold():
    """D1: what one run holds stays as it is when another asks for the same text."""
    known, text = Profile(), " ".join(f"w{n}" for n in range(100))
    low = signature(known, text, Threshold(0.5))
    held = (low.depth, low.low.tolist())
    high = signature(known, text, Threshold(0.97))

    assert (low.depth, low.low.tolist()) == held
    assert (high.depth, high.low.tolist()) != held
    again = signature(known, text, Threshold(0.5))
    assert (again.depth, again.low.tolist()) == held
