"""The check of answers beside what people say of them, in four languages."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from bench.labelled_answers import judged, main

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    ("folder", "answers", "accused", "found"), [("labelled", 200, 23, 12), ("unseen", 96, 5, 5)]
)
def test_labels_by_hand_are_met(folder: str, answers: int, accused: int, found: int) -> None:
    """C3: as many right answers are accused, and wrong ones found, as docs/answers.md says."""
    given = list(judged(HERE / folder))
    right = [one for one in given if one.right]
    wrong = [one for one in given if not one.right]

    assert (len(given), len(right)) == (answers, answers // 2)
    assert sum(bool(one.faults) for one in right) <= accused
    assert sum(bool(one.faults) for one in wrong) >= found


def test_the_command_prints_a_row_a_language(capsys: pytest.CaptureFixture[str]) -> None:
    """C3: and each mistake where they are asked for."""
    assert main([str(HERE / "unseen"), "--list"]) == 0

    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[1] for row in rows[2:7]] == ["de", "en", "fr", "nl", "all"]
    assert {row.split()[0] for row in rows[7:]} == {"accused", "missed"}


def write_spans(folder: Path) -> None:
    """Two answers, one of them with a span that a person marked, in RAGTruth's two files."""
    passages = "passage 1:The mill was built in 1880.\n\npassage 2:It is open on Mondays.\n\n"
    source = {"source_id": "7", "source_info": {"question": "When?", "passages": passages}}
    said = "The mill was built in 1880. It is open on Fridays."
    mark = {"start": said.index("Fridays"), "end": said.index("Fridays") + 7}
    answers = [
        {"source_id": "7", "split": "test", "quality": "good", "labels": [mark], "response": said},
        {"source_id": "7", "split": "train", "quality": "good", "labels": [], "response": said},
        {"source_id": "7", "split": "test", "quality": "truncated", "labels": [], "response": said},
    ]
    (folder / "source_info.jsonl").write_text(json.dumps(source) + "\n", encoding="utf-8")
    with gzip.open(folder / "response.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in answers)


def test_spans_that_people_marked_are_read(tmp_path: Path) -> None:
    """C3: a sentence is wrong where a span is in it, and needs no marker to be checked."""
    write_spans(tmp_path)

    found = list(judged(tmp_path))

    assert [(one.right, bool(one.faults)) for one in found] == [(True, False), (False, True)]


def test_spans_marked_by_people_are_found_more_often_than_right_sentences_are_accused(
    tmp_path: Path,
) -> None:
    """C3: on labels of others, where FOVEATE_DATA has them under `answers`; else on two of ours."""
    folder = Path(os.environ.get("FOVEATE_DATA", "")) / "answers"
    if not [*folder.glob("response.jsonl*")]:
        folder = tmp_path
        write_spans(folder)
    shares = {True: [0, 0], False: [0, 0]}
    for one in judged(folder):
        shares[one.right][0] += bool(one.faults)
        shares[one.right][1] += 1

    accused, found = (accused / most for accused, most in (shares[True], shares[False]))
    assert found > accused
