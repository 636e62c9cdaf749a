"""What other systems get wrong, one row each: the acceptance list, as far as the core goes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from foveate.core.errors import BudgetTooSmall
from foveate.core.recipes import builtin_recipes
from foveate.core.stages.pack import Pack
from foveate.core.types import Candidate, Chunk
from foveate.core.zones import Budget
from foveate.pipeline.assembler import assemble
from foveate.testing.fakes import request

LONG = (
    "The ferry crosses the strait four times a day in summer and twice in winter. "
    "It carries ninety cars and six hundred people, and it has never missed a crossing."
)


def test_a_query_over_its_zone_is_refused() -> None:
    """W2, B1: as `converse` does; the error names the size that would do, and nothing is cut."""
    long = "word " * 1_500
    with pytest.raises(BudgetTooSmall, match="the query, which is never cut") as caught:
        assemble(long, [{"text": "The mill."}])
    enough = Budget(query=caught.value.needed)

    assert assemble(long, [{"text": "The mill."}], budget=enough).text
    assert assemble(long, [{"text": "The mill."}], budget=100).text


def test_a_history_over_its_zone_is_refused() -> None:
    """W1, B1: `assemble` shortens no history, and does not let it take other zones."""
    history = [("user", "word " * 9_000)]
    with pytest.raises(BudgetTooSmall, match="the history") as caught:
        assemble("Which mill?", [{"text": "The mill."}], messages=history)
    enough = Budget(conversation=caught.value.needed)

    assert assemble("Which mill?", [{"text": "The mill."}], messages=history, budget=enough).text


@pytest.mark.parametrize("order", ["edges", "bookend", "attention", "relevance"])
def test_a_grouped_context_names_each_document_once(order: str) -> None:
    """R1: whatever the order of the best, the texts of a document stand under one heading."""
    pool = [
        {"text": f"{LONG} {d}{n}", "source": f"{d}.md", "document_id": d, "score": 1 - n / 9 - k}
        for k, d in ((0, "a"), (0.05, "b"), (0.01, "c"))
        for n in range(3)
    ]
    context = assemble("q", pool, recipe="citations", format="grouped", order=order, budget=900)
    headings = [line for line in context.text.split("\n") if line.startswith("## ")]

    assert len(context.blocks) == 9
    assert sorted(headings) == ["## a.md", "## b.md", "## c.md"]


SCRIPT = """
import json, random, sys
from foveate import assemble
from foveate.core.context_json import context_to_json
rows = json.load(open(sys.argv[1]))
random.Random(int(sys.argv[2])).shuffle(rows)
for recipe in sys.argv[3:]:
    context = assemble("Which recipe trusts the score?", rows, recipe=recipe, budget=400)
    print(json.dumps(context_to_json(context)))
"""


def test_same_bytes_over_hash_seeds_and_shuffles(tmp_path: Path) -> None:
    """D1: hash seeds, thread counts, input orders and vector instructions change no byte."""
    texts = (
        (Path(__file__).parents[2] / "docs" / "choose-a-recipe.md").read_text("utf-8").split("\n\n")
    )
    rows = [
        {
            "id": f"c{n}",
            "text": f"{texts[n % len(texts)]} Part {n % 9} of the log, {n}.",
            "score": (n * 7 % 5) / 5,
            "source": f"{n % 4}.md",
            "document_id": f"{n % 4}",
            "sequence": n,
            "embedding": [n % 3 + 0.25, n % 5 - 1.5, 0.5],
        }
        for n in range(30)
    ]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows))
    outputs = set()
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    fast = " ".join(name for name in __cpu_dispatch__ if __cpu_features__[name])
    for seed, threads, slow in (("0", "1", ""), ("1", "2", ""), ("4242", "4", fast)):
        env = {
            **os.environ,
            "NPY_DISABLE_CPU_FEATURES": slow,
            "PYTHONHASHSEED": seed,
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
        }
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(path), seed, *builtin_recipes()],
            env=env,
            capture_output=True,
            check=True,
        )
        outputs.add(done.stdout)

    assert len(outputs) == 1
    assert outputs.pop().count(b"\n") == len(builtin_recipes())


def test_threads_share_nothing() -> None:
    """D1: requests on several threads at once give what each gives alone."""
    from concurrent.futures import ThreadPoolExecutor

    pools = [[{"text": f"{LONG} {k} {n}", "score": n} for n in range(12)] for k in range(8)]

    def text(pool: list[dict[str, object]]) -> str:
        return assemble("q", pool, budget=300).text

    alone = [text(pool) for pool in pools]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(text, pools))

    assert together == alone


def test_ten_thousand_candidates() -> None:
    """X2: ten thousand candidates are a large request, not a failure; each has its fate."""
    pool = [
        {"text": f"{LONG} Entry {n} of the log.", "score": n / 10_000, "source": f"{n % 200}.md"}
        for n in range(10_000)
    ]
    context = assemble("Who crosses?", pool, recipe="citations", budget=2000)
    left = {d.chunk_id for s in context.trace for d in s.decisions if d.action != "changed"}

    assert context.token_count <= 2000
    assert len(left) >= 10_000 - len(context.blocks)


def test_a_five_megabyte_chunk() -> None:
    """X2: a huge chunk is refused, cut or shortened by the recipe; nothing blows up."""
    pool = [{"text": "The ferry crosses. " * 260_000, "score": 1.0}]
    cut = assemble("q", pool, recipe="local-llm", budget=300)
    extract = assemble("ferry", pool, recipe="default", budget=300_000)

    assert cut.blocks[0].rendition == "truncated"
    assert cut.token_count <= 300
    assert extract.token_count <= 300_000
    assert assemble("q", pool, recipe="citations", budget=300).blocks[0].rendition == "truncated"
    with pytest.raises(BudgetTooSmall, match="needs"):
        assemble("q", pool, recipe="agent-session", budget=300)


@pytest.mark.parametrize("policy", ["greedy", "value"])
def test_packing_looks_at_each_candidate_a_few_times(policy: str) -> None:
    """S9: the work of packing grows with the number of candidates, not with its square."""
    counted = []

    def frame(candidate: Candidate, place: str) -> str:
        counted.append(candidate.id)
        return ""

    def work(n: int) -> int:
        counted.clear()
        pool = tuple(
            Candidate(chunk=Chunk(text=f"word {i}", id=f"c{i}"), score=i) for i in range(n)
        )
        Pack(policy=policy)(
            pool, request(frame=frame, budget=Budget(documents=n // 3, window=None))
        )
        return len(counted)

    assert work(2000) <= 2.5 * work(1000)
