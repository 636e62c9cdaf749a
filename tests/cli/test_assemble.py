"""`foveate assemble`: every flag, and what goes where."""

from __future__ import annotations

import json

import pytest

from command_line import CHUNKS, QUERY, jsonl
from foveate.core.context_json import context_to_json
from foveate.pipeline.assembler import assemble
from foveate.providers import tokenizers
from source_tree import ROOT

KEYS = ["text", "token_count", "blocks", "citations", "trace", "metrics", "manifest"]
BLOCK = {"marker", "chunk_ids", "document_id", "source", "text", "rendition", "score", "span"}


def test_the_context_alone_is_printed_byte_for_byte(run, chunks):
    """F2: stdout holds the context and nothing else, not even a line end of its own."""
    ran = run("assemble", "--query", QUERY, "--chunks", chunks)

    assert (ran.code, ran.err) == (0, "")
    assert ran.out == assemble(QUERY, CHUNKS).text
    assert "Keep the pressure" in ran.out


def test_json_is_one_object_of_the_promised_shape(run, chunks):
    """F2: --json has the promised keys in their order, blocks and citations those of the text."""
    record = run("assemble", "--query", QUERY, "--chunks", chunks, "--json").json

    assert list(record) == KEYS
    assert all(set(block) >= BLOCK for block in record["blocks"])
    for block in record["blocks"]:
        start, end = block["span"]
        assert record["text"][start:end] == block["text"]
    assert [c["marker"] for c in record["citations"]] == [b["marker"] for b in record["blocks"]]
    assert record["token_count"] == tokenizers.load_tokenizer("cl100k_base").count(record["text"])
    assert record["trace"][0]["stage"] == "input"
    assert record["metrics"]["tokens"] == record["token_count"]
    assert "when" not in record["manifest"]


@pytest.mark.parametrize(
    "stdin",
    [
        pytest.param(b"\xef\xbb\xbf" + jsonl(CHUNKS).encode(), id="byte order mark"),
        pytest.param(jsonl(CHUNKS).replace("\n", "\r\n").encode(), id="Windows line ends"),
        pytest.param(jsonl(CHUNKS).replace("\n", "\n\n").encode(), id="blank lines"),
        pytest.param(jsonl(CHUNKS).rstrip("\n").encode(), id="no last line end"),
    ],
)
def test_what_editors_do_to_a_file_changes_nothing(run, chunks, stdin):
    """X2: a byte order mark, other line ends and blank lines are read over."""
    expected = run("assemble", "--query", QUERY, "--chunks", chunks).out

    assert run("assemble", "--query", QUERY, "--chunks", "-", stdin=stdin).out == expected


@pytest.mark.parametrize(
    ("flags", "argument"),
    [
        (["--recipe", "tight"], {"recipe": "tight"}),
        (["--budget", "45"], {"budget": 45}),
        (["--tokenizer", "simple"], {"tokenizer": "simple"}),
        (["--model", "mistral"], {"model": "mistral"}),
        (["--model", "openai:gpt-4o"], {"model": "gpt-4o"}),
        (["--model", "mistral", "--budget", "45"], {"model": "mistral", "budget": 45}),
        (["--format", "xml"], {"format": "xml"}),
        (["--order", "edges"], {"order": "edges"}),
        (["--language", "nl"], {"language": "nl"}),
        (["--principal", "staff"], {"principals": ["staff"]}),
        (["--principal", "guest", "--principal", "staff"], {"principals": ["guest", "staff"]}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_every_flag_is_the_argument_of_its_name(run, chunks, flags, argument):
    """F2: each flag does what the library's argument does, and makes a difference."""
    record = run("assemble", "--query", QUERY, "--chunks", chunks, *flags, "--json").json

    expected = context_to_json(assemble(QUERY, CHUNKS, **argument))
    plain = context_to_json(assemble(QUERY, CHUNKS))

    assert record == json.loads(json.dumps(expected))
    assert record != json.loads(json.dumps(plain))


def test_what_one_may_not_read_leaves_no_trace(run, chunks):
    """I4, F2: a restricted chunk shows in no output of a caller who may not read it."""
    flags = ["--json", "--explain", "--bundle", "b.json"]

    without = run("assemble", "--query", QUERY, "--chunks", chunks, *flags)
    bundle = (chunks.parent / "b.json").read_text(encoding="utf-8")
    allowed = run("assemble", "--query", QUERY, "--chunks", chunks, "--principal", "staff", *flags)

    for said in (without.out, without.err, bundle):
        assert "spare key" not in said
        assert "vault.md" not in said
        assert '"c5"' not in said
    assert "spare key" in allowed.out


def test_a_recipe_can_be_a_file(run, chunks, tmp_path):
    """P2, F2: what `recipes show` prints is read by --recipe and does the same."""
    shown = run("recipes", "show", "factual-qa").out
    (tmp_path / "mine.toml").write_text(shown, encoding="utf-8")
    ask = ["assemble", "--query", QUERY, "--chunks", chunks, "--json"]

    assert run(*ask, "--recipe", "mine.toml").out == run(*ask, "--recipe", "factual-qa").out


def test_explain_goes_to_stderr_and_changes_nothing(run, chunks):
    """F2, D7: --explain says the fate of every chunk on stderr; stdout is as without it."""
    ask = ["assemble", "--query", QUERY, "--chunks", chunks, "--budget", "33"]
    plain = run(*ask)

    ran = run(*ask, "--explain=all")

    assert ran.code == 0
    assert run(*ask, "--explain").out == ran.out == plain.out
    assert run(*ask, "--explain", "--json").out == run(*ask, "--json").out
    assert "4 → 3 chunks" in ran.err
    assert "the same text as c1" in ran.err
    assert "would fit with" in ran.err
    assert all(name in ran.err for name in ("c1", "c2", "c3", "c4"))
    assert max(map(len, ran.err.splitlines())) <= 80


def test_explain_reads_well(run, chunks, golden):
    """F2, D7: the whole explanation of a small case, as a person sees it."""
    ask = ["assemble", "--query", QUERY, "--chunks", chunks, "--budget", "45", "--explain"]

    golden.check_text("cli/explain.txt", run(*ask).err)
    golden.check_text("cli/explain-all.txt", run(*ask[:-1], "--explain=all").err)


def test_citations_go_to_stderr(run, chunks):
    """F2, C2: --citations says the source and place of each marker, and nothing else."""
    ask = ["assemble", "--query", QUERY, "--chunks", chunks, "--budget", "45"]

    ran = run(*ask, "--citations")

    assert ran.out == run(*ask).out
    assert ran.err.startswith("\nCitations\n  [1] boiler.md; page 4; chunk c1\n")
    assert "Trace" not in ran.err


def test_a_bundle_is_written_beside_the_context(run, chunks, tmp_path):
    """D4, F2: --bundle writes inputs, manifest and the instant; stdout is as without it."""
    ask = ["assemble", "--query", QUERY, "--chunks", chunks]

    ran = run(*ask, "--bundle", "b.json")
    bundle = json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))

    assert ran.out == run(*ask).out
    assert bundle["kind"] == "foveate-bundle"
    assert bundle["text"] == ran.out
    assert bundle["manifest"]["when"].endswith("+00:00")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.json", "chunks.jsonl"]


def test_an_unknown_model_is_a_warning_of_one_line(run, chunks):
    """B4, F2: a model that is not known gets a small window, and the user is told once."""
    ran = run("assemble", "--query", QUERY, "--chunks", chunks, "--model", "mistrall")

    assert ran.code == 0
    assert ran.out != ""
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("foveate: warning: unknown model 'mistrall'; did you mean 'mistral")
    assert ran.err.endswith("give --budget N in place of --model\n")


def test_ten_thousand_candidates_are_read(run):
    """X2: a very large set of candidates is read, and the context keeps its budget."""
    many = ({"id": str(n), "source": f"s{n % 97}.md", "text": f"Fact {n} is here.", "score": n}
            for n in range(10_000))  # fmt: skip

    ran = run(
        "assemble", "--query", "Fact 9999?", "--chunks", "-", "--recipe", "naive",
        "--budget", "300", "--json", stdin=jsonl(many).encode(),
    )  # fmt: skip

    assert ran.code == 0
    assert ran.json["token_count"] <= 300
    assert "Fact 9999 is here." in ran.json["text"]


def test_the_smoke_test_and_the_page_name_flags_that_exist(run):
    """F2: the flags of SPEC are all in the help."""
    shown = run("assemble", "--help").out

    for flag in (
        "--query Q", "--chunks FILE", "--store URL", "--recipe R", "--budget N", "--tokenizer T",
        "--model M", "--format F", "--order O", "--principal P", "--json", "--explain",
        "--bundle FILE",
    ):  # fmt: skip
        assert flag in shown
    assert (ROOT / "docs" / "cli.md").is_file()


def test_lines_without_scores_are_best_first(run, tmp_path):
    """I1: where no line has a score, the order of the lines is the score, and the trace says so."""
    plain = [{name: value for name, value in c.items() if name != "score"} for c in CHUNKS[:4]]
    path = tmp_path / "plain.jsonl"
    path.write_text(jsonl([plain[3], plain[0]]), encoding="utf-8")

    ran = run("assemble", "--query", QUERY, "--chunks", path, "--recipe", "citations", "--json")

    context = json.loads(ran.out)
    assert ran.err == ""
    assert [block["chunk_ids"] for block in context["blocks"]] == [["c4"], ["c1"]]
    assert context["trace"][0]["notes"] == {"scores_from": "the order of the list"}


def test_the_question_is_an_argument(run, chunks):
    """F2: the question is an argument of every command, and --query says the same."""
    by_argument = run("assemble", QUERY, "--chunks", chunks)
    by_option = run("assemble", "--query", QUERY, "--chunks", chunks)

    assert by_argument.code == 0
    assert by_argument.out == by_option.out


def test_images_of_candidates_are_replayed(run, tmp_path):
    """F2, U1, D4: from JSON Lines to a part of the text, and again from the bundle."""
    image = {"hash": "0" * 32, "media_type": "image/png", "width": 640, "height": 480}
    path, bundle = tmp_path / "with.jsonl", tmp_path / "b.json"
    path.write_text(jsonl([{**CHUNKS[0], "images": [image]}]))
    words = ("assemble", "--query", QUERY, "--chunks", path, "--format", "anthropic-document")
    ran = run(*words, "--budget", "2000", "--bundle", bundle)
    path.write_text(jsonl([{**CHUNKS[0], "images": [{**image, "width": 0}]}]))
    refused = run(*words)

    assert f"blake3:{'0' * 32}" in ran.out
    assert run("replay", bundle).out.strip() == "identical"
    assert refused.code == 3
    assert "images[0].width" in refused.complaint
