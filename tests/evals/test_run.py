"""An evaluation's run: the same rows whatever the way there, nothing stale, nothing dropped."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace

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
from foveate.core.stages.order import Order
from foveate.core.stages.pack import Pack
from foveate.core.types import Step
from foveate.evals import rows as rows_module
from foveate.evals import worker
from foveate.evals.read import read_cases
from foveate.evals.run import run
from foveate.evals.trials import WHOLE_POOL, build_setting
from foveate.pipeline.assembler import assemble
from foveate.providers.embedders.local import HashingEmbedder
from golden_cases import FILE, cases

BUDGETS = (60, 150)


def made(recipes=("naive", "chat"), budgets=BUDGETS, **options):
    """What is tried."""
    return build_setting(recipes, budgets, **options)[0]


@pytest.fixture
def counted(monkeypatch) -> Counter[str]:
    """How often each recipe was assembled."""
    calls: Counter[str] = Counter()
    real = worker.Assembler.assemble

    def counting(self, *args, **options):
        calls[self.options.recipe.name] += 1
        return real(self, *args, **options)

    monkeypatch.setattr(worker.Assembler, "assemble", counting)
    return calls


def test_every_case_meets_every_trial_in_order(counted):
    """E1: case by case; the whole pool, then each recipe at each budget."""
    found = run(cases(), made())
    trials = [(WHOLE_POOL, 0), ("naive", 60), ("naive", 150), ("chat", 60), ("chat", 150)]

    assert [(r.dataset, r.id, r.recipe, r.budget) for r in found] == [
        (c.dataset, c.id, *trial) for c in cases() for trial in trials
    ]
    assert counted == {"naive": 20, "chat": 20}
    assert len({row.key for row in found}) == len(found)


def test_a_row_is_what_assembling_gives():
    """E1: the rows measure the very contexts that users get."""
    case = cases()[1]
    found = {(r.recipe, r.budget): r for r in run([case], made())}
    context = assemble(case.question, case.candidates(), budget=150, recipe="chat")

    assert found["chat", 150].measures.tokens == context.token_count
    assert found[WHOLE_POOL, 0].measures.recall == 1.0
    assert found["chat", 150].measures.recall >= found["chat", 60].measures.recall


def test_processes_make_the_same_rows(tmp_path):
    """E1, D1: two processes give the rows and the file that one gives."""
    one = run(cases(), made(), results=tmp_path / "one.jsonl")
    two = run(cases(), made(), results=tmp_path / "two.jsonl", jobs=2)

    assert one == two
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_a_run_goes_on_where_it_was_stopped(tmp_path, counted):
    """E1: after a kill in the middle of a line only what is missing is assembled."""
    path = tmp_path / "results.jsonl"
    whole = run(cases(), made(), results=path)
    data = path.read_bytes()
    lines = data.split(b"\n")
    path.write_bytes(b"\n".join(lines[:22]) + b"\n" + lines[22][:40])
    counted.clear()
    again = run(cases(), made(), results=path)

    assert again == whole
    assert path.read_bytes() == data
    assert counted == {"naive": 20 - 8 - 1, "chat": 20 - 8}
    counted.clear()
    assert run(cases(), made(), results=path) == whole
    assert counted == {}


def test_another_model_of_the_same_name_uses_no_row(tmp_path, counted, monkeypatch):
    """E1: the vectors of some texts are in the key: a changed model file is another model."""
    path = tmp_path / "results.jsonl"
    run(cases(), made(embedder="hashing"), results=path)
    counted.clear()
    run(cases(), made(embedder="hashing"), results=path)
    assert counted == {}

    embed = HashingEmbedder.embed
    monkeypatch.setattr(HashingEmbedder, "embed", lambda self, texts: -embed(self, texts))
    run(cases(), made(embedder="hashing"), results=path)

    assert counted == {"naive": 20, "chat": 20}


def test_a_model_that_varies_is_known_by_its_name(monkeypatch):
    """E1: no request is made only to tell a model whose vectors are never the same."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    one, other = (made(embedder=f"openai:{name}").vectors for name in ("a", "b"))

    assert (one, other) == ("openai:a", "openai:b")


def test_another_budget_or_recipe_adds_only_its_own_rows(tmp_path, counted):
    """E1: what is there is used again; the new trial alone is run."""
    path = tmp_path / "results.jsonl"
    run(cases(), made(), results=path)
    counted.clear()
    run(cases(), made(("naive", "chat", "citations"), (60, 150)), results=path)

    assert counted == {"citations": 20}


def changed_case():
    """The golden cases, the first with another question."""
    first, *rest = cases()
    return [replace(first, question="Which valve?", hash="other"), *rest]


STALE = {
    "another record": (lambda: (changed_case(), made()), {"naive": 2, "chat": 2}),
    "another tokenizer": (lambda: (cases(), made(tokenizer="simple")), {"naive": 20, "chat": 20}),
    "another embedder": (lambda: (cases(), made(embedder="hashing")), {"naive": 20, "chat": 20}),
}


@pytest.mark.parametrize("name", STALE)
def test_a_stale_row_is_never_used(tmp_path, counted, name):
    """E1: a row counts only for the record, tokenizer and embedder it was made with."""
    path = tmp_path / "results.jsonl"
    run(cases(), made(), results=path)
    counted.clear()
    found, tried = STALE[name][0]()
    run(found, tried, results=path)

    assert counted == STALE[name][1]


def test_a_recipe_that_changed_under_its_name_is_run_again(tmp_path, counted):
    """E1: the recipe counts as it is spelled, not as it is called."""
    one = Recipe(name="mine", stages=(Pack(policy="greedy"),), format=Minimal())
    other = replace(one, stages=(*one.stages, Order(by="edges")))
    path = tmp_path / "results.jsonl"
    run(cases(), made((one,)), results=path)
    counted.clear()
    run(cases(), made((other,)), results=path)

    assert counted == {"mine": 20}


def test_other_code_makes_every_row_stale(tmp_path, counted, monkeypatch):
    """E1: rows of another version of the code are not used."""
    path = tmp_path / "results.jsonl"
    run(cases()[:2], made(), results=path)
    counted.clear()
    monkeypatch.setattr("foveate.evals.trials.code_hash", lambda: "another")
    run(cases()[:2], made(), results=path)

    assert counted == {"naive": 4, "chat": 4}


def test_a_record_is_known_by_its_line(tmp_path, counted):
    """E1: a changed score in the file is a changed record."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[0])
    path = tmp_path / "cases.jsonl"
    path.write_text(lines[0], encoding="utf-8")
    run(read_cases([str(path)]), made(), results=tmp_path / "results.jsonl")
    record["chunks"][0]["score"] += 1
    path.write_text(json.dumps(record), encoding="utf-8")
    counted.clear()
    run(read_cases([str(path)]), made(), results=tmp_path / "results.jsonl")

    assert counted == {"naive": 2, "chat": 2}


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
    assert {row.measures.recall for row in found} == {0.0}
    assert {row.measures.tokens for row in found} == {0}
    assert all("at least 99" in row.failed for row in found)


def test_a_fault_stops_the_run_and_keeps_what_was_made(tmp_path):
    """E1, X1: a stage that breaks its law is no measurement; earlier rows are kept."""

    @dataclass(frozen=True)
    class BreaksLater:
        """Works on the first sets alone."""

        def __call__(self, candidates, request) -> Step:
            return (
                breaks(candidates, request)
                if "Hof" in request.query
                else Step(candidates=candidates)
            )

    recipe = Recipe(name="odd", stages=(BreaksLater(),), format=Minimal())
    path = tmp_path / "results.jsonl"
    with pytest.raises(StageBroke):
        run(cases(), made((recipe,), (4_000,)), results=path)

    kept = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {row["dataset"] for row in kept} == {"farm"}
    assert len(kept) == 9


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
    made_rows = worker.Worker(made((recipe,), (4_000,), embedder="hashing"))
    case = cases()[0]
    made_rows((case, tuple(range(len(made_rows.trials)))))

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


def test_rows_survive_the_file(tmp_path):
    """E1: a row read back is the row that was written; what is no row is passed over."""
    path = tmp_path / "results.jsonl"
    found = run(cases()[:1], made())
    rows_module.replace_rows(path, found)
    path.write_bytes(b'{"key": 3}\nnonsense\n\n' + path.read_bytes())

    assert tuple(rows_module.load_rows(path).values()) == found
    assert rows_module.load_rows(tmp_path / "none.jsonl") == {}
