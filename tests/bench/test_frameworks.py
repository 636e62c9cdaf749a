"""The side by side of frameworks: what is judged, and that every side runs on real values."""

from __future__ import annotations

import re

import pytest
from bench.frameworks.judge import judged, marked, misled
from bench.frameworks.run import about, measured, table
from bench.frameworks.sides import FORGED, SIDES, Made, forged, places

from foveate.evals.cases import Case, Evidence, Passage
from foveate.providers import tokenizers

FIRED = "The kiln is fired twice a month, with beech and birch from the yard."
CELLAR = "Glazes are kept in the cellar, away from the frost and from the light."
CASE = Case(
    id="1",
    dataset="own",
    question="How often is the kiln fired?",
    chunks=(
        Passage(id="k", doc_id="kiln", text=FIRED, score=0.9, source="kiln.md", title="Kiln"),
        Passage(
            id="c", doc_id="cellar", text=CELLAR, score=0.4, source="cellar.md", title="Cellar"
        ),
    ),
    evidence=(Evidence(text=FIRED, doc_id="kiln", chunk_ids=("k",)),),
)
MARKS = re.compile(r"^\[(\d+)\]\n", re.MULTILINE)
TOKENIZER = tokenizers.load_tokenizer("cl100k_base")


def made(text: str) -> Made:
    """A text whose first marker is the kiln's, and whose second is the cellar's."""
    return Made(text=text, marks=MARKS, leads_to=places([{"kiln"}, {"cellar"}]))


@pytest.mark.parametrize(
    ("text", "shown", "right"),
    [
        (f"[1]\n{FIRED}\n\n[2]\n{CELLAR}", 1, 1),
        (f"[2]\n{FIRED}\n\n[1]\n{CELLAR}", 1, 0),
        (f"{FIRED}\n\n[2]\n{CELLAR}", 1, 0),
        (f"[7]\n{FIRED}", 1, 0),
        (f"[2]\n{CELLAR}", 0, 0),
    ],
)
def test_a_citation_is_right_where_its_marker_leads_to_who_says_it(text, shown, right):
    """E3, C1: evidence without a marker, or under another's, is not cited rightly."""
    found = judged(made(text), CASE, 1000, TOKENIZER, 0.0)

    assert (found.shown, found.right) == (shown, right)
    assert misled(made(text), CASE) == shown - right


def test_a_text_falls_apart_at_its_markers():
    """E3: below each marker stands what a reader credits to it."""
    assert list(marked(made("x\n[1]\na\n[2]\nb"))) == [(1, "a\n"), (2, "b")]


def test_every_side_runs_and_has_its_row():
    """E2, E3, F6: the evidence under a marker that leads to its document, and a row of figures."""
    found = measured([CASE], 200)
    lines = table([CASE], found).splitlines()

    assert list(found) == list(SIDES)
    for name, (one,) in found.items():
        assert (one.recall, one.shown, one.right) == (1.0, 1, 1)
        assert one.misled == (0 if name.endswith("foveate") else 1)
        assert one.seconds >= 0
        assert FORGED[SIDES[name]] in forged(CASE, SIDES[name]).chunks[0].text
        assert sum(line.startswith(f"| {name} |") for line in lines) == 2
    assert "1 questions, 200 tokens" in about([CASE], 200)
