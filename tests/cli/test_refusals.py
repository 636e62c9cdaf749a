"""What the program refuses: one line on stderr that says what to do, and a stable exit code."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from command_line import CHUNKS, QUERY, jsonl
from foveate.cli import assemble_run
from source_tree import PACKAGE

ASK = ["assemble", "--query", QUERY]
USAGE = [
    (["Again?", "--chunks", "chunks.jsonl"], "give the question once"),
    (["--chunks", "chunks.jsonl", "--store", "s"], "give either --chunks FILE or --store URL"),
    (["--chunks", "chunks.jsonl", "--recipe", "defualt"], "did you mean 'default'?"),
    (["--chunks", "chunks.jsonl", "--format", "numberd"], "did you mean 'numbered'?"),
    (["--chunks", "chunks.jsonl", "--order", "edge"], "order"),
    (["--chunks", "chunks.jsonl", "--tokenizer", "cl100k_bas"], "did you mean 'cl100k_base'?"),
    (["--chunks", "chunks.jsonl", "--compressor", "nobody:x"], "unknown model 'nobody:x'"),
    (["--chunks", "chunks.jsonl", "--budget", "0"], "it must be 1 or more"),
    (["--chunks", "chunks.jsonl", "--budget", "many"], "whole number of tokens, such as 4000; see"),
    (["--chunks", "chunks.jsonl", "--limit", "many"], "'--limit': must be a whole number; see"),
    (["--chunks", "chunks.jsonl", "--language", "german"], "code of the language, such as de"),
    (["--chunks", "chunks.jsonl", "--budgt", "9"], "--budget"),
    (["--chunks", "chunks.jsonl", "--tokenizer", "simple", "--model", "mistral"], "not both"),
    (["--chunks", "chunks.jsonl", "--model", "mistral", "--budget", "99999"], "at the most"),
    (["--store", "postgress://here"], "unknown store"),
]


@pytest.mark.parametrize(("flags", "said"), USAGE, ids=[" ".join(f) or "none" for f, _ in USAGE])
def test_wrong_usage_is_2(run, chunks, flags, said):
    """F2, X1: a flag, an option or a name that cannot be is exit code 2 and one line."""
    ran = run(*ASK, *flags)

    assert ran.code == 2
    assert said in ran.complaint


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["assmble"], "assmble"),
        (["assemble"], "give the question, in quotes; see foveate assemble --help"),
        (["ask", "What", "is", "this?"], "too many words: is this?; put the question in quotes"),
        (["search", "What", "is", "this?"], "put the question in quotes, a store behind --store"),
        (["assemble", "Why?", "chunks.jsonl"], "candidates behind --chunks FILE, a store behind"),
        (["eval", "--dataset", "a", "--budgets", "lots"], "numbers of tokens, such as 500,1000"),
        (
            ["keys", "create"],
            "No such command 'create'; known: add, list, revoke; see foveate keys",
        ),
        (["keys", "revoke", "abc"], "unknown key 'abc'; known: none"),
        (
            ["store", "stats", "here"],
            "too many words: here; put a store behind --store, as in --store here; see",
        ),
        (["plugins", "here"], "too many words: here; see foveate plugins --help"),
        (["--nothing"], "--nothing"),
        (["recipes"], "Missing command"),
        (["recipes", "show"], "NAME"),
        (["recipes", "show", "naiv"], "did you mean 'naive'?"),
        (["replay"], "FILE"),
        (["search", "--query", "q", "--limit", "0"], "--limit"),
        (["index"], "PATH"),
        (["assemble-batch", "--in", "a"], "--out"),
        (["assemble-batch", "--in", "a", "--out", "-", "--json"], "stdout"),
    ],
    ids=" ".join,
)
def test_commands_that_do_not_exist_are_2(run, words, said):
    """F2: a mistake in the words is one line that leads to --help."""
    ran = run(*words)

    assert ran.code == 2
    assert said in ran.complaint


FILES = {
    "folder": (None, "is a folder"),
    "missing": (None, "no such file"),
    "binary": (b'{"text": "a\0b"}\n', "line 1: not JSON"),
    "latin-1": (jsonl(CHUNKS[:2]).encode() + b'{"text": "\xe9t\xe9"}\n', "line 3: not UTF-8"),
    "utf-16": ('{"text": "a"}\n'.encode("utf-16"), "line 1: "),
    "not json": (jsonl(CHUNKS[:1]).encode() + b"{'text': 'single'}\n", "line 2: not JSON"),
    "an array": (json.dumps(CHUNKS, indent=1).encode(), "line 1: not JSON"),
    "NaN": (b'{"text": "a", "score": NaN}\n', "line 1, field 'score'"),
    "one id twice": (b'{"id": 1, "text": "a"}\n{"id": 1, "text": "b"}\n', "line 2, field 'id'"),
}


@pytest.mark.parametrize("what", FILES)
def test_a_bad_file_is_3(run, tmp_path, what):
    """X2, I3: a file that cannot be used is exit code 3, naming file, line and field."""
    content, said = FILES[what]
    path = tmp_path / "bad.jsonl"
    if what == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)

    ran = run(*ASK, "--chunks", "bad.jsonl")

    assert ran.code == 3
    assert ran.complaint.startswith("bad.jsonl")
    assert said in ran.complaint
    assert len(ran.complaint) < 1_100


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--chunks", "manual"], "is a folder; name a file; documents are indexed first: foveate"),
        (["--chunks", "manual/a.md"], "documents are indexed first: foveate index manual/a.md"),
        (["--store", "manual"], "but other files; to search these, index them: foveate index man"),
        (["--store", "manual/a.md"], "which is a file; a store is a folder that foveate index"),
    ],
    ids=" ".join,
)
def test_documents_in_the_place_of_candidates_or_a_store_are_indexed_first(
    run, tmp_path, flags, said
):
    """F2, X2: whoever names the documents themselves reads which command takes them."""
    (tmp_path / "manual").mkdir()
    (tmp_path / "manual" / "a.md").write_text("Keep the pressure low.", encoding="utf-8")

    ran = run(*ASK, *flags)

    assert ran.code == 3
    assert said in ran.complaint


@pytest.mark.parametrize("query", [" ", "\udcff"], ids=["blank", "no UTF-8"])
def test_a_query_of_nothing_is_3(run, chunks, query):
    """X2: it is refused before anything is done."""
    ran = run("assemble", "--query", query, "--chunks", chunks)

    assert ran.code == 3
    assert "query" in ran.complaint


@pytest.mark.parametrize("content", [b"", b"\n \n", jsonl(CHUNKS[4:]).encode()])
def test_nothing_to_read_is_an_empty_context(run, content):
    """X2, I4: no candidates, or only what others may read: nothing on stdout, why on stderr."""
    ran = run(*ASK, "--chunks", "-", stdin=content)

    assert (ran.code, ran.out) == (0, "")
    assert "the context is empty: the retriever found nothing that may be read" in ran.err
    assert "vault" not in ran.err


def test_an_identifier_that_is_in_no_text_is_said_on_stderr(run, chunks):
    """F2: the context has other texts, and the reader is told that none is about it."""
    ran = run("assemble", "--query", "Where does ORD-99999 stand?", "--chunks", chunks)

    assert ran.code == 0
    assert ran.out
    assert "ORD-99999 is in none of the texts" in ran.err


def test_a_record_asked_for_that_does_not_fit_is_said_on_stderr(run):
    """F2: another record stands in its place, and the reader is told that it is not the one."""
    reports = {"RX-2048": "The valve of the mill was put back. " * 20, "RX-2049": "It leaks."}
    records = [
        {"id": call, "score": 1.0, "text": json.dumps({"call": call, "report": report})}
        for call, report in reports.items()
    ]
    asked = ("assemble", "--query", "What happened in RX-2048?", "--budget", "60")
    ran = run(*asked, "--chunks", "-", stdin=jsonl(records).encode())

    assert ran.code == 0
    assert "RX-2049" in ran.out
    assert "RX-2048 was found, but does not fit; " in ran.err


def test_a_budget_too_small_is_4_and_says_what_would_do(run, chunks):
    """B1, F2, X1: exit code 4 names the smallest budget that would do, and it does."""
    ran = run(*ASK, "--chunks", chunks, "--budget", "3")
    needed = int(ran.complaint.rpartition(" ")[2])

    assert ran.code == 4
    assert run(*ASK, "--chunks", chunks, "--budget", needed).code == 0
    assert run(*ASK, "--chunks", chunks, "--budget", needed - 1).code == 4


def test_a_failure_outside_is_5(run, chunks):
    """F2, X1, X2: what cannot be written is exit code 5, and then nothing is printed."""
    ran = run(*ASK, "--chunks", chunks, "--bundle", "no/such/b.json")
    full = run("assemble-batch", "--in", chunks, "--out", "/dev/full/x")

    assert (ran.code, full.code) == (5, 5)
    assert ran.complaint == "no/such/b.json: there is no folder no/such; make it first"
    assert "cannot be written" in full.complaint


def test_a_fault_of_ours_is_1_and_one_line(run, chunks, monkeypatch):
    """F2, X1: an exception nobody expected is one line, with the way to its traceback."""

    def fail(*_: object) -> None:
        raise KeyError("lost\nand\x1b[31m found")

    monkeypatch.setattr(assemble_run, "load_compressor", fail)

    ran = run(*ASK, "--chunks", chunks)
    monkeypatch.setenv("FOVEATE_DEBUG", "1")
    shown = run(*ASK, "--chunks", chunks)

    assert ran.code == 1
    assert "KeyError" in ran.complaint
    assert "FOVEATE_DEBUG=1" in ran.complaint
    assert "\x1b" not in ran.complaint
    assert shown.code == 1
    assert "Traceback" in shown.err


def test_a_stage_that_breaks_a_law_is_1(run, chunks, monkeypatch):
    """X1, S12: a stage that loses a candidate is named, on one line."""
    monkeypatch.setattr("foveate.core.stages.pack.why_left_out", lambda *_: [])

    ran = run(*ASK, "--chunks", chunks, "--budget", "45")

    assert ran.code == 1
    assert "stage pack" in ran.complaint


def test_an_interruption_is_130(run, chunks, monkeypatch):
    """F2: Ctrl-C ends with what a shell expects, and no traceback."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(assemble_run, "load_compressor", interrupt)

    ran = run(*ASK, "--chunks", chunks)

    assert (ran.code, ran.out, ran.err) == (130, "", "")


def test_a_reader_that_leaves_is_not_an_error(tmp_path):
    """F2: a closed pipe ends the program quietly, as other programs end."""
    (tmp_path / "c.jsonl").write_text(jsonl(CHUNKS), encoding="utf-8")
    started = subprocess.Popen(
        [sys.executable, "-m", "foveate", *ASK, "--chunks", "c.jsonl", "--json"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(PACKAGE.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert started.stdout is not None
    started.stdout.close()
    assert started.stderr is not None
    said = started.stderr.read()
    started.stderr.close()

    assert started.wait() == 128 + signal.SIGPIPE
    assert said == b""


def test_the_locale_decides_nothing(tmp_path):
    """D1, F2: the real program prints the same UTF-8 bytes in any locale and hash seed."""
    line = jsonl([{"id": "a", "text": "Ünïcode 中文 🙂 is the right pressure in every locale."}])
    outs = set()
    for seed, extra in enumerate(({"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}, {})):
        done = subprocess.run(
            [sys.executable, "-m", "foveate", *ASK, "--chunks", "-", "--json"],
            cwd=tmp_path,
            input=line.encode(),
            capture_output=True,
            check=True,
            env={"PYTHONPATH": str(PACKAGE.parent), "PYTHONHASHSEED": str(seed), **extra},
        )
        assert done.stderr == b""
        outs.add(done.stdout)

    assert len(outs) == 1
    assert "中文 🙂".encode() in outs.pop()
