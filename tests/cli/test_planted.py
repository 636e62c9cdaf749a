"""Failures planted by `tools.planted`, in documents of our own, are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tools.planted import FAULTS, planted, table

from foveate import plugins
from foveate.evals.cases import Case, Evidence, Passage

WORDS = "amber birch cedar dune elm fern gorse heath iris juniper kelp larch moss nettle oak"
GOODS = "anvils barrels candles drapes easels flutes globes hinges inks jars"
CERTAIN = ("evaluation gap", "index freshness", "agent loop", "model", "reranking")
"""Nothing but what was planted can be the matter."""


def fact(n: int) -> str:
    """What one document says, and no other."""
    place, other = WORDS.split()[n % 15], WORDS.split()[(n * 7 + 3) % 15]
    goods, more = GOODS.split()[n % 10], GOODS.split()[(n * 3 + 1) % 10]
    return (
        f"The {place} works number {n} sells {goods} to the {other} yard every {n + 2} days and "
        f"keeps its own {more} in shed {n * 11} behind the mill."
    )


def cases() -> list[Case]:
    """A question about each of forty documents, whose candidates are those of all."""
    filler = "Rain fell on the road and the carts went slowly past the gate. "
    passages = tuple(
        Passage(
            id=f"d{n}#{k}",
            doc_id=f"d{n}",
            text=fact(n) if k == 1 else f"{filler * 3}Page {k} of book {n}.",
            score=1.0,
            sequence=k,
        )
        for n in range(40)
        for k in range(3)
    )
    return [
        Case(
            id=f"q{n}",
            dataset="own",
            question=f"To whom sells works number {n}, and what does it keep in shed {n * 11}?",
            chunks=passages,
            evidence=(Evidence(text=fact(n), doc_id=f"d{n}"),),
        )
        for n in range(40)
    ]


def test_each_layer_is_named(tmp_path: Path, run) -> None:
    """E4: what was planted is what is named; and the command says the same of the files."""
    pairs = planted(cases(), tmp_path / "out", plugins.embedder("hashing"), 2)

    named = {name: [layer for what, layer in pairs if what == name] for name in FAULTS}
    assert [name for name, found in named.items() if len(found) == 2] == list(FAULTS)
    for name in CERTAIN:
        assert set(named[name]) <= {name, ""}
        assert name in named[name]
    harmed = [(what, layer) for what, layer in pairs if layer]
    right = sum(what == layer for what, layer in harmed)
    assert right >= 0.8 * len(harmed) >= 12
    assert len(table(pairs)) == 2 + len(FAULTS)

    files = [f"--{name}={tmp_path}/out/{name}.jsonl" for name in ("answers", "sessions")]
    ran = run(
        *("diagnose", "--dataset", tmp_path / "out" / "cases.jsonl", "--store"),
        *(tmp_path / "out" / "store", "--folder", tmp_path / "out" / "documents", *files),
        *("--recipe", "citations", "--budget", 3000, "--limit", 8, "--json"),
    )
    assert ran.code == 0, ran.err
    said = [one["layer"] for one in json.loads(ran.out)["verdicts"]]
    assert said == [layer for what, layer in pairs if what != "reranking"]


def test_too_few_questions(tmp_path: Path) -> None:
    """E4: where not enough lose nothing there is nothing to plant in."""
    with pytest.raises(SystemExit, match="questions lose nothing; 9 are needed"):
        planted(cases()[:4], tmp_path / "out", plugins.embedder("hashing"), 1)
