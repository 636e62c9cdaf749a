"""Golden cases are read strictly, and what is wrong is said with file, line and field."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path

import pytest

from foveate.core.errors import BadInput
from foveate.evals.read import case_from_record, read_cases
from golden_cases import FILE, cases, records


def written(path: Path, found: list[object]) -> str:
    """The records as a file of JSON Lines."""
    path.write_text("".join(json.dumps(r) + "\n" for r in found), encoding="utf-8")
    return str(path)


def test_a_case_is_what_its_record_says():
    """E1: every key of the record is in the case; candidates carry what assembling reads."""
    record, case = records()[1], cases()[1]
    candidate = case.candidates()[0]

    assert (case.id, case.dataset, case.question) == ("q2", "farm", record["question"])
    assert [unit.text for unit in case.evidence] == [e["text"] for e in record["evidence"]]
    assert case.evidence[0].chunk_ids == tuple(record["evidence"][0]["chunk_ids"])
    assert any(p.is_gold for p in case.chunks)
    first = record["chunks"][0]
    assert candidate.chunk.document_id == first["doc_id"]
    assert candidate.chunk.start == first["start"]
    assert candidate.chunk.end == first["start"] + len(first["text"])
    assert (candidate.score, candidate.chunk.title) == (first["score"], first["title"])


def test_packed_and_plain_files_and_patterns_are_read_in_order(tmp_path):
    """E1: several files, packed or not, by name or pattern, in the order given."""
    some = records()
    written(tmp_path / "a.jsonl", some[5:7])
    (tmp_path / "b.jsonl.gz").write_bytes(
        gzip.compress("\n\n".join(json.dumps(r) for r in some[:2]).encode())
    )
    (tmp_path / "c.jsonl").write_bytes(gzip.compress(json.dumps(some[3]).encode()))
    found = read_cases([str(tmp_path / "c.jsonl"), str(tmp_path / "[ab].*")])

    assert [case.id for case in found] == ["q1", "q1", "q2", "q1", "q2"]
    assert [case.dataset for case in found] == ["hof", "ferme", "ferme", "farm", "farm"]


def test_offsets_that_contradict_each_other_are_not_believed():
    """E1: two beginnings of one document with different texts: neither has an offset."""
    record = records()[0]
    one, other = record["chunks"][:2]
    other.update(doc_id=one["doc_id"], start=0)
    one["start"] = 0
    found = case_from_record(record).candidates()

    assert [c.chunk.start for c in found[:2]] == [None, None]
    assert all(c.chunk.start is not None for c in found if c.document_id != one["doc_id"])


def test_two_cuts_of_one_beginning_are_believed():
    """E1: a short and a long chunk that begin a document alike are both where they say."""
    record = records()[0]
    one, other = record["chunks"] = record["chunks"][:2]
    other.update(doc_id=one["doc_id"], start=0, text=one["text"][:30])
    one["start"] = 0

    assert [c.chunk.start for c in case_from_record(record).candidates()] == [0, 0]


def test_unknown_keys_are_passed_over_and_optional_ones_may_be_missing():
    """E1: what other tools add does no harm; titles, places and gold marks may be absent."""
    record = records()[0]
    record["difficulty"] = "hard"
    for chunk in record["chunks"]:
        chunk["bm25"] = 1.5
        for name in ("source", "title", "sequence", "start", "is_gold"):
            del chunk[name]
    case = case_from_record(record)

    assert case.chunks[0].title == ""
    assert case.candidates()[0].chunk.start is None


def broken(change) -> list[object]:
    """The golden records with the second one changed."""
    found = copy.deepcopy(records()[:3])
    change(found[1])
    return found


BROKEN = {
    "no id": (lambda r: r.pop("id"), "line 2: field 'id': is missing"),
    "no dataset": (lambda r: r.pop("dataset"), "field 'dataset': is missing"),
    "no question": (lambda r: r.pop("question"), "field 'question': is missing"),
    "blank question": (lambda r: r.update(question=" "), "field 'question': is blank"),
    "no answers": (lambda r: r.pop("answers"), "field 'answers': is missing"),
    "one answer": (lambda r: r.update(answers="x"), "field 'answers': must be a list, not str"),
    "odd answer": (lambda r: r.update(answers=[1]), "field 'answers[0]': must be a string"),
    "no chunks": (lambda r: r.update(chunks=[]), "field 'chunks': is empty"),
    "no evidence": (lambda r: r.update(evidence=[]), "field 'evidence': is empty"),
    "chunk no object": (lambda r: r["chunks"].append(7), "must be an object, not int"),
    "no text": (lambda r: r["chunks"][2].pop("text"), "field 'chunks[2].text': is missing"),
    "null text": (lambda r: r["chunks"][2].update(text=None), "must be a string, not null"),
    "no doc_id": (lambda r: r["chunks"][0].pop("doc_id"), "field 'chunks[0].doc_id'"),
    "score a word": (lambda r: r["chunks"][1].update(score="9"), "must be a finite number"),
    "score nan": (lambda r: r["chunks"][1].update(score=float("nan")), "finite number"),
    "start below 0": (lambda r: r["chunks"][1].update(start=-1), "whole number of 0 or more"),
    "gold a word": (lambda r: r["chunks"][1].update(is_gold="no"), "must be true or false"),
    "same chunk": (
        lambda r: r["chunks"][3].update(id=r["chunks"][0]["id"]),
        "field 'chunks[3].id': two chunks have the id",
    ),
    "evidence blank": (lambda r: r["evidence"][0].update(text=""), "'evidence[0].text': is blank"),
    "surrogate": (lambda r: r.update(question="\ud800"), "lone surrogate"),
    "same id": (lambda r: r.update(id="q1"), "give every question its own id"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_in_a_record_is_said_with_its_place(tmp_path, name):
    """E1, X2: a missing key, a wrong type, a contradiction: file, line, field, what to do."""
    change, said = BROKEN[name]
    path = written(tmp_path / "cases.jsonl", broken(change))

    with pytest.raises(BadInput) as caught:
        read_cases([path])

    assert str(caught.value).startswith(f"{path}: line 2: ")
    assert said in str(caught.value)


FILES = {
    "empty.jsonl": (b"", "holds no cases; give one JSON object a line"),
    "blank.jsonl": (b"\n  \n", "holds no cases"),
    "plain.jsonl.gz": (b"{}\n", "not gzip, though its name says so"),
    "torn.jsonl.gz": (gzip.compress(FILE.read_bytes())[:900], "broken gzip"),
    "flipped.jsonl.gz": (gzip.compress(b"{}\n" * 99)[:12] + b"\xff" * 20, "broken gzip"),
    "bent.jsonl.gz": (gzip.compress(b"\n")[:-8] + b"\x00" * 8, "broken gzip"),
    "list.jsonl": (b"[]\n", "line 1: a case is an object, not list"),
    "words.jsonl": (b"no json\n", "line 1: not JSON"),
    "twice.jsonl": (b'{"id": 1, "id": 2}\n', "comes twice"),
    "latin.jsonl": (b'{"id": "\xe9"}\n', "line 1: not UTF-8"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_used_says_why(tmp_path, name):
    """E1, X2: empty, torn, not gzip, not JSON, not UTF-8: the file and what to do."""
    content, said = FILES[name]
    (tmp_path / name).write_bytes(content)

    with pytest.raises(BadInput) as caught:
        read_cases([str(tmp_path / name)])

    assert str(caught.value).startswith(str(tmp_path / name))
    assert said in str(caught.value)


def test_files_that_are_not_there_say_so(tmp_path):
    """E1, X2: no such file, a folder, a pattern that matches nothing, no file at all."""
    for names, said in (
        ([str(tmp_path / "no.jsonl")], "no such file"),
        ([str(tmp_path)], "is a folder; name a file"),
        ([str(tmp_path / "*.jsonl")], "no file matches this pattern"),
        ([], "no file is named"),
        ([str(FILE), str(FILE)], "every file once"),
    ):
        with pytest.raises(BadInput, match=said):
            read_cases(names)
