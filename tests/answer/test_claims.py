"""Which sentence of an answer a marker stands by, and what finding that takes."""

from __future__ import annotations

import pytest

from foveate import assemble
from foveate.answer import bracket_names
from foveate.answer.check import check_answer
from foveate.answer.claims import sentences_from_pieces
from foveate.core.text.citation_markers import scan_markers

FOUND = [
    {"text": "The museum opens at nine.", "source": "museum.md", "score": 0.9},
    {"text": "The ferry leaves every 30 minutes.", "source": "ferry.md", "score": 0.8},
]
CONTEXT = assemble("When?", FOUND, budget=300, recipe="citations")
OPENS, LEAVES = "The museum opens at nine.", "The ferry leaves every 30 minutes."


@pytest.mark.parametrize(
    "answer",
    [
        f"{OPENS} [1] {LEAVES} [2]",
        f"{OPENS[:-1]} [1]. {LEAVES[:-1]} [2].",
        f"{OPENS}\n[1]\n\n{LEAVES}\n[2]",
        f"{OPENS}\n\n[1]\n\n{LEAVES}\n\n[2]",
        f"- {OPENS}\n  [1]\n- {LEAVES}\n  [2]",
        f"[1] {OPENS}\n[2] {LEAVES}",
        f"[1]\n{OPENS}\n\n[2]\n{LEAVES}",
        f"{OPENS}\n[1]\n{LEAVES}\n[2]",
    ],
)
def test_a_marker_stands_by_its_sentence(answer):
    """C3: behind it, before it, on a line of its own below it or right above it."""
    checked = check_answer(answer, CONTEXT)
    assert [claim.markers for claim in checked.claims] == [(1,), (2,)]
    assert checked.no_fault_found


def test_two_markers_on_lines_of_their_own():
    """C3: both go with the text above them."""
    checked = check_answer(f"{OPENS}\n[1]\n[2]\n\n{LEAVES} [2]", CONTEXT)
    assert [claim.markers for claim in checked.claims] == [(1, 2), (2,)]


def test_what_stands_in_the_sources_is_looked_up_once(monkeypatch):
    """C3: whether a bracket is a source's own is no search through all texts for each of them."""
    read, brackets_in = [], bracket_names.find_brackets
    monkeypatch.setattr(
        bracket_names, "find_brackets", lambda text: read.append(text) or brackets_in(text)
    )
    checked = check_answer(" ".join(f"It rains [{n}]." for n in range(50, 90)), CONTEXT)

    assert len(checked.dangling) == 40
    assert len(read) == len(CONTEXT.blocks)


@pytest.mark.parametrize(
    ("answer", "claimed"),
    [
        ("The pump starts at one bar [1].\n\n[1]: pump.md", 1),
        ("The pump starts at one bar [^1].\n\n[^1]: pump.md\n", 1),
        ("It starts [1] and stops at two bar [2].\n\n- [1] pump.md\n- [2] stop.md", 1),
        ("It starts [1] and stops [2].\n\n[1] Pump manual, page 4\n[2] en/stop.md, page 2", 1),
        ("It starts at one bar [1].\n- [1] stops at two bar\n- [1] costs 40 euros", 3),
        ("[1] The pump starts at one bar.", 1),
        ("It starts at one bar.\n\n[1] The pump stops at two bar.", 2),
        ("| pump | bar |\n|---|---|\n| start | one [1] |", 1),
    ],
)
def test_lists_of_sources_and_names_of_columns_claim_nothing(answer, claimed):
    """C3: without a heading, too; a sentence behind a marker is a claim."""
    sentences = sentences_from_pieces(list(scan_markers(answer)))

    assert sum(one.is_claim for one in sentences) == claimed
