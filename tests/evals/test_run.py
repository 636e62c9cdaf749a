"""An evaluation's run: the same rows whatever the way there, nothing stale, nothing dropped."""

from __future__ import annotations

import json
from collections import Counter

import pytest

import fleet_tasks
from foveate.core.errors import (
    BadInput,
    BadOption,
    BudgetTooSmall,
    ExternalError,
    StageBroke,
    UnknownName,
)
from foveate.core.formats.minimal import Minimal
from foveate.core.request import Recipe
from foveate.core.types import Step
from foveate.evals import run as run_module
from foveate.evals.rows import write_rows
from foveate.evals.run import run
from foveate.evals.trials import WHOLE_POOL, build_setting
from foveate.pipeline.assembler import assemble
from golden_cases import cases

BUDGETS = (60, 150)


def made(recipes=("naive", "chat"), budgets=BUDGETS, **options):
    """What is tried."""
    return build_setting(recipes, budgets, **options)[0]


@pytest.fixture
def counted(monkeypatch) -> Counter[str]:
    """How often each recipe was assembled."""
    calls: Counter[str] = Counter()
    real = run_module.Assembler.assemble

    def counting(self, *args, **options):
        calls[self.options.recipe.name] += 1
        return real(self, *args, **options)

    monkeypatch.setattr(run_module.Assembler, "assemble", counting)
    return calls


def test_every_case_meets_every_trial_in_order(counted):
    """E1: case by case; the whole pool, then each recipe at each budget."""
    found = run(cases(), made())
    trials = [(WHOLE_POOL, 0), ("naive", 60), ("naive", 150), ("chat", 60), ("chat", 150)]

    assert [(r.dataset, r.id, r.recipe, r.budget) for r in found] == [
        (c.dataset, c.id, *trial) for c in cases() for trial in trials
    ]
    assert counted == {"naive": 20, "chat": 20}


def test_a_row_is_what_assembling_gives():
    """E1: the rows measure the very contexts that users get."""
    case = cases()[1]
    found = {(r.recipe, r.budget): r for r in run([case], made())}
    context = assemble(case.question, case.candidates(), budget=150, recipe="chat")

    assert found["chat", 150].measures["tokens"] == context.token_count
    assert found[WHOLE_POOL, 0].measures["recall"] == 1.0
    assert found["chat", 150].measures["recall"] >= found["chat", 60].measures["recall"]


def test_processes_make_the_same_rows():
    """E1, D1: two processes give the rows that one gives."""
    assert run(cases(), made()) == run(cases(), made(), jobs=2)


def test_a_row_is_one_flat_line(tmp_path):
    """E1: the file has a line of JSON for each row, the measures beside the names."""
    path = tmp_path / "results.jsonl"
    found = run(cases()[:1], made())
    write_rows(path, found)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    assert [(line["recipe"], line["budget"], line["recall"]) for line in lines] == [
        (row.recipe, row.budget, row.measures["recall"]) for row in found
    ]


def refuses(candidates, request) -> Step:
    """A stage to which nothing fits."""
    raise BudgetTooSmall(10, 99)


def breaks(candidates, request) -> Step:
    """A stage that loses everything without a word."""
    return Step(candidates=())


def test_a_case_to_which_nothing_fits_counts_as_empty():
    """E1, B1: no context is an empty context, with its reason; it is not left out."""
    recipe = Recipe(name="never", stages=(refuses,), format=Minimal())
    found = [row for row in run(cases(), made((recipe,))) if row.recipe == "never"]

    assert len(found) == 20
    assert {row.measures["recall"] for row in found} == {0.0}
    assert {row.measures["tokens"] for row in found} == {0}
    assert all("at least 99" in row.failed for row in found)


def test_a_fault_stops_the_run():
    """E1, X1: a stage that breaks its law is no measurement."""
    recipe = Recipe(name="odd", stages=(breaks,), format=Minimal())
    with pytest.raises(StageBroke):
        run(cases()[:1], made((recipe,), (4_000,)))


def test_a_recipe_that_cannot_travel_needs_one_process():
    """E1: what cannot be sent to another process is refused with what to do."""
    recipe = Recipe(
        name="local", stages=(lambda candidates, request: Step(candidates=candidates),),
        format=Minimal(),
    )  # fmt: skip
    with pytest.raises(BadOption, match="use one process"):
        run(cases(), made((recipe,)), jobs=2)


def test_a_case_that_ends_two_processes_ends_the_run():
    """E1, X3: the error names the case and how its process ended."""
    recipe = Recipe(name="deadly", stages=(fleet_tasks.kill_process,), format=Minimal())
    with pytest.raises(ExternalError, match="case .* of farm: .*twice .SIGKILL."):
        run(cases(), made((recipe,)), jobs=2)


def test_progress_counts_rows():
    """E1: the bar is told of every case, up to all rows."""
    told = []
    run(cases()[:3], made(), on_progress=lambda *said: told.append(said))

    assert told == [(5, 15, "farm"), (10, 15, "farm"), (15, 15, "farm")]


def test_vectors_are_given_where_an_embedder_is_named():
    """E1: with an embedder every candidate has its vector, and the query too."""
    seen = []

    def looks(candidates, request) -> Step:
        seen.append((request.query_embedding, [c.chunk.embedding for c in candidates]))
        return Step(candidates=candidates)

    recipe = Recipe(name="looks", stages=(looks,), format=Minimal())
    made_rows = run_module.Worker(made((recipe,), (4_000,), embedder="hashing"))
    case = cases()[0]
    made_rows(case)

    assert seen[-1][0] is not None
    assert all(vector is not None for vector in seen[-1][1])


REFUSED = {
    "no recipe": (((), BUDGETS), BadOption, "no recipe is named"),
    "no budget": ((("naive",), ()), BadOption, "no budget is given"),
    "unknown": ((("defualt",), BUDGETS), UnknownName, "did you mean 'default'"),
    "twice": ((("chat", "chat"), BUDGETS), BadOption, "'chat' comes twice"),
    "budget twice": ((("chat",), (9, 9)), BadOption, "a budget comes twice"),
    "budget 0": ((("chat",), (0,)), BadOption, "must be 1 or more"),
    "no file": ((("no.toml",), BUDGETS), BadInput, "no such file"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_tried_is_refused_before_any_work(name):
    """E1, X1: recipes and budgets that cannot be are said at once."""
    (recipes, budgets), error, said = REFUSED[name]

    with pytest.raises(error, match=said):
        build_setting(recipes, budgets)


def test_the_baseline_is_always_there(tmp_path):
    """E1: naive runs first where it is not named; a file with a taken name goes by its path."""
    path = tmp_path / "chat.toml"
    path.write_text('name = "chat"\nformat = "minimal"\nstages = ["pack"]\n', encoding="utf-8")
    tried, baseline = build_setting(("chat", str(path)), (9,))

    assert baseline == "naive"
    assert [label for label, _ in tried.recipes] == ["naive", "chat", str(path)]
    assert build_setting(("chat", "naive"), (9,), baseline="chat")[1] == "chat"
