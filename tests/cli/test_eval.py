"""`foveate eval`: run, thresholds; tables, files, streams and exit codes."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import CHUNKS, jsonl, on_terminal
from golden_cases import FILE, records
from source_tree import PACKAGE

BUDGETS = ("--budgets", "60,150")
WELL = "The well is nine metres deep."


@pytest.fixture
def sets(tmp_path) -> list[str]:
    """The golden cases in two files."""
    some = records()
    (tmp_path / "a.jsonl").write_text(jsonl(some[:3]), encoding="utf-8")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(jsonl(some[3:]).encode()))
    return ["a.jsonl", "b.jsonl.gz"]


def test_the_shell_may_expand_the_files(run, sets):
    """E1: --dataset takes all the files up to the next flag, wherever they stand; run is meant."""
    flags = ("--recipes", "naive,chat", *BUDGETS, "--json")
    once = run("eval", "--dataset", *sets, *flags)
    named = run("eval", "run", *flags, "--dataset", sets[0], "--dataset", sets[1])
    pattern = run("eval", *flags, "--dataset", "[ab].jsonl*")
    last = run("eval", *flags, "--dataset", *sets)

    assert once.code == 0, once.err
    assert once.json == named.json == pattern.json == last.json
    sets = [cell["dataset"] for cell in once.json["pools"]]
    assert sets == ["farm", "hof", "ferme", "shan", "chunkeval"]
    assert once.json["recipes"] == ["naive", "chat"]
    assert once.err == ""


def test_a_sentence_first_and_the_tables_on_request(run, sets):
    """E1, E2: what a person reads; with --full overall and every set, at most 100 columns."""
    flags = ("--dataset", *sets, "--recipes", "naive,tight", *BUDGETS)
    short, full = run("eval", *flags), run("eval", *flags, "--full")

    assert (short.code, full.code) == (0, 0)
    first, *rest = short.out.splitlines()
    assert re.fullmatch(
        r"tight finds \d+ of 20, naive \d+, with \d+ % fewer tokens, over 2 budgets", first
    )
    assert " ".join(rest).endswith(" All tables: --full.")
    assert [line.split()[1] for line in rest if line.startswith("| ")] == [
        "recipe",
        "naive",
        "tight",
    ]
    assert len(rest) <= 8
    assert full.out.startswith(f"{first}\n")
    assert "10 questions of 5 sets, naive, tight at 60, 150 tokens" in full.out
    assert "Evidence missed, over the same" in full.out
    assert "hof: 2 questions" in full.out
    assert "95 % bootstrap intervals" in full.out
    assert max(map(len, (short.out + full.out).splitlines())) <= 100


def test_one_question_gets_no_verdict(run, sets):
    """E1, F2: one question is counted in the singular, and no interval marks a recipe by it."""
    flags = ("--recipes", "naive,tight", "--budgets", "60", "--cases", "1")
    ran = run("eval", "--dataset", sets[0], *flags, "--full")
    _, entry = run("eval", "--dataset", sets[0], *flags, "--json").json["overall"]

    assert ran.code == 0
    assert "1 question of 1 set, naive, tight at 60 tokens" in ran.out
    assert "[" not in ran.out.partition("95 %")[2]
    assert entry["recall"]["difference"]["low"] is None
    assert entry["recall"]["verdict"] == ""


def test_evidence_that_no_candidate_holds_is_named(run):
    """E1: a word mistyped in a sheet is no fault of a recipe, so the first question is named."""
    Path("manual").mkdir()
    Path("manual/well.md").write_text(f"# Well\n\n{WELL}\n", encoding="utf-8")
    Path("asked.csv").write_text(
        f"question,evidence\nHow deep is the well?,{WELL}\nIs the well deep?,It is nine metrs.\n",
        encoding="utf-8",
    )
    run("index", "manual", "--store", "kept", "--embedder", "hashing")
    flags = ("--dataset", "asked.csv", "--store", "kept", "--recipes", "naive", "--budgets", "60")
    ran = run("eval", *flags, "--full")

    assert ran.code == 0
    assert ran.err.startswith(
        "foveate: no evidence in the candidates of 1 of 2 questions, first 'Is the well deep?' "
        "with the evidence 'It is nine metrs.'; copy it"
    )


def test_other_scores_make_sets_of_their_own(run, sets):
    """E1, J1: each variant under its own name, and a table of them."""
    flags = ("--recipes", "default", *BUDGETS, "--scores", "given,oracle", "--full")
    ran = run("eval", *flags, "--dataset", *sets)
    wrong = run("eval", "--dataset", *sets, "--scores", "orakel")

    assert ran.code == 0, ran.err
    assert "Evidence missed, by the scores of the candidates" in ran.out
    assert "| recipe  | given | oracle |" in ran.out
    assert "farm (oracle): 3 questions" in ran.out
    assert (wrong.code, "did you mean 'oracle'?" in wrong.err) == (2, True)


def test_the_folder_holds_it_all(run, sets):
    """E1, E2: results, summary, chart and page; a second run changes no byte."""
    flags = ("--dataset", *sets, "--recipes", "naive,chat", *BUDGETS, "--out", "found")
    first = run("eval", *flags)
    files = {path.name: path.read_bytes() for path in Path("found").iterdir()}
    second = run("eval", *flags, "--jobs", "2")

    assert sorted(files) == ["recall.png", "report.html", "results.jsonl", "summary.json"]
    assert first.out == second.out
    assert {path.name: path.read_bytes() for path in Path("found").iterdir()} == files
    assert len(files["results.jsonl"].splitlines()) == 10 * (1 + 2 * 2)


def test_no_plot_needs_no_extra(run, sets, monkeypatch):
    """E2: without matplotlib all else is written and shown, and the error says what to install."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    flags = ("--dataset", *sets, "--recipes", "chat", *BUDGETS, "--out", "found")
    ran = run("eval", *flags)
    quiet = run("eval", *flags, "--no-plot")

    assert ran.code == 5
    assert ran.err == ("foveate: matplotlib is not installed; run: pip install 'foveate[eval]'\n")
    assert ran.out == quiet.out
    assert (quiet.code, quiet.err) == (0, "")
    assert json.loads(Path("found/summary.json").read_text(encoding="utf-8"))["recipes"] == [
        "naive", "chat",
    ]  # fmt: skip


def test_a_gate_that_holds_is_0_and_one_that_breaks_is_6(run, sets):
    """E1: what broke it is a line on stderr; the figures are printed all the same."""
    flags = ("--dataset", *sets, "--recipes", "tight", *BUDGETS)
    plain, breaks = run("eval", *flags), run("eval", *flags, "--gate")
    holds = run("eval", "--recipes", "naive", "--budgets", "60", "--gate", *sets)

    assert (holds.code, holds.err) == (0, "")
    assert breaks.code == 6
    assert breaks.err.startswith("foveate: gate: tight recalls less than naive: -0.")
    assert breaks.out == plain.out


REFUSED = [
    ([], 2, "give the cases: --dataset FILE"),
    (["--recipes", "chat"], 2, "give the cases"),
    (["--dataset", "a.jsonl", "--recipes", "chta"], 2, "did you mean 'chat'?"),
    (["--dataset", "a.jsonl", "--budgets", "many"], 2, "'many': write numbers of tokens"),
    (["--dataset", "a.jsonl", "--budgets", "0"], 2, "must be 1 or more"),
    (["--dataset", "a.jsonl", "--jobs", "0"], 2, "--jobs"),
    (["--dataset", "a.jsonl", "--tokenizer", "cl100k"], 2, "did you mean 'cl100k_base'?"),
    (["--dataset", "none.jsonl"], 3, "none.jsonl: no such file"),
    (["--dataset", "none*"], 3, "no file matches this pattern"),
    (["--dataset", "a.jsonl", "a.jsonl"], 3, "every file once"),
    (["--dataset", "a.jsonl", "--gate", "none.toml"], 3, "none.toml: no such file"),
    (["--dataset", "a.jsonl", "--out", "a.jsonl"], 5, "a.jsonl: is no folder; name another"),
    (["--dataset", "a.jsonl", "--out", "a.jsonl/x"], 5, "a.jsonl/x: cannot be made: Not a dir"),
    (["--dataset", "other"], 3, "other: is a folder; name a file"),
    (["--dataset", "a.jsonl", "--nothing"], 2, "--nothing"),
    (["thresholds"], 2, "give one of --chunks FILE and --store URL"),
    (["thresholds", "--chunks", "none.jsonl"], 3, "none.jsonl: no such file"),
    (["thresholds", "--chunks", "a.jsonl", "--method", "jacard"], 2, "method is 'jacard'"),
    (["thresholds", "--chunks", "a.jsonl", "--thresholds", "2"], 2, "at most 1"),
    (["thresholds", "--chunks", "a.jsonl", "--thresholds", "0.9,x"], 2, "write numbers, as in"),
    (["thresholds", "--chunks", "empty.jsonl"], 3, "empty.jsonl: holds no chunks"),
]


@pytest.mark.parametrize(("words", "code", "said"), REFUSED, ids=[" ".join(r[0]) for r in REFUSED])
def test_what_cannot_be_is_refused_in_one_line(run, sets, words, code, said):
    """F2, X1: usage is 2, bad input 3; one line that says what to do, and nothing is printed."""
    Path("other").mkdir()
    Path("empty.jsonl").write_text("", encoding="utf-8")
    ran = run("eval", *words)

    assert ran.code == code
    assert said in ran.complaint


def test_help_is_of_the_command_that_is_meant(run):
    """F2: eval --help lists its commands; with a flag before it, it is run's."""
    assert "thresholds" in run("eval", "--help").out
    assert "--budgets" in run("eval", "run", "--help").out
    assert "--budgets" in run("eval", "--json", "-h").out


def test_thresholds_show_what_they_would_drop(run, chunks):
    """E5: chunks, tokens and pairs side by side, on one's own file."""
    lines = [
        *CHUNKS,
        {
            "id": "c6",
            "score": 0.1,
            "source": "old.md",
            "text": "The pump starts at one bar. Also clean its filter every spring.",
        },
    ]
    chunks.write_text(jsonl(lines), encoding="utf-8")
    ran = run("eval", "thresholds", "--chunks", chunks, "--thresholds", "0.7,0.8,0.9")

    assert (ran.code, ran.err) == (0, "")
    assert "jaccard: 6 chunks" in ran.out
    assert "c6 for c4" in ran.out
    assert "dropped  The pump starts at one bar. Also clean its filter every spring." in ran.out


def test_thresholds_as_json_over_a_file_and_a_store(run, chunks, tmp_path):
    """E5: a file and a store; the levels as one object."""
    manual = tmp_path / "manual"
    manual.mkdir()
    (manual / "a.md").write_text(f"# Well\n\n{WELL} It was dug in 1904.\n", encoding="utf-8")
    shutil.copy(manual / "a.md", manual / "b.md")
    run("index", "manual", "--store", "kept", "--embedder", "hashing")
    range_of = ("--thresholds", "0.9,0.95", "--json")
    file = run("eval", "thresholds", "--chunks", chunks, *range_of).json
    store = run("eval", "thresholds", "--store", "kept", *range_of).json
    vectors = run("eval", "thresholds", "--store", "kept", "--method", "semantic",
                  "--embedder", "hashing", *range_of).json  # fmt: skip

    assert [level["threshold"] for level in file["levels"]] == [0.95, 0.9]
    assert file["levels"][0]["dropped"] == 1
    assert (store["levels"][0]["chunks"], store["levels"][0]["dropped"]) == (2, 1)
    assert vectors["levels"][0]["dropped"] == 1


def test_it_runs_as_a_program_under_another_hash_seed(tmp_path):
    """E1, D1: another process, another hash seed: the same bytes."""
    words = ["eval", "--dataset", str(FILE), "--recipes", "tight", "--budgets", "60", "--json"]
    outs = [
        subprocess.run(
            [sys.executable, "-m", "foveate", *words],
            capture_output=True,
            check=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(PACKAGE.parent)},
        ).stdout
        for seed in ("1", "2")
    ]

    assert outs[0] == outs[1]
    assert json.loads(outs[0])["baseline"] == "naive"


def test_the_bar_is_shown_on_a_terminal_alone(tmp_path):
    """E1: progress goes to a terminal's stderr, and the tables stay clean."""
    words = ["eval", "--dataset", str(FILE), "--recipes", "chat", "--budgets", "60"]
    out, shown = on_terminal(tmp_path, *words)

    assert "30/30" in shown
    assert "\x1b" not in out
    assert "30/30" not in out
