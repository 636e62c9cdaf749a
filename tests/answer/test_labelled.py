"""The check of answers beside what people say of them, in four languages."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from bench.labelled_answers import judged, main

from foveate.answer.figures import missing_numbers, number_spellings

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    ("folder", "answers", "accused", "found"), [("labelled", 200, 4, 66), ("unseen", 96, 4, 29)]
)
def test_labels_by_hand_are_met(folder: str, answers: int, accused: int, found: int) -> None:
    """C3: few right answers are accused, most wrong ones near their source are found."""
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


@pytest.mark.parametrize(
    ("claim", "source", "missing"),
    [
        ("It closes on Friday.", "It closes on Monday.", ("friday",)),
        ("Le marché a lieu le jeudi.", "Le marché a lieu le mercredi.", ("jeudi",)),
        ("They lapse on 31 May.", "They lapse on 31 March.", ("may",)),
        ("You may come in March 3.", "Come on 3 Mar.", ()),
        ("17 March 2024", "2024-03-17", ()),
        ("On 2024-03-17.", "On 17 March 2024.", ()),
        ("Am 17.03.2024.", "Am 17. März 2024.", ()),
        ("On 3/17/2024.", "On March 17, 2024.", ()),
        ("On 2024-04-17.", "On 17 March 2024.", ("4",)),
        ("On 2024-03-18.", "On 17 March 2024.", ("3", "18")),
        ("Use version 2.12.4.", "Use 4 pumps of 12 in 2 rooms.", ("2124",)),
        ("Op de tweede verdieping.", "Op de derde verdieping.", ("tweede",)),
        ("The first thing is to call.", "Call the office.", ()),
        ("In 14 days.", "In two weeks.", ()),
        ("Nach 36 Monaten.", "Nach drei Jahren.", ()),
        ("It is 1500 m long.", "It is 1.5 km long.", ()),
        ("It is 1500 m long.", "It is 15 km long.", ("1500",)),
        ("Until 9 in the evening.", "Until 21:00.", ()),
        ("50 % is paid back.", "Half of it is paid back.", ()),
        ("They lapse on 31 May.", "They may lapse on 31 March.", ("may",)),
        ("They lapse on 1 May.", "They lapse at the beginning of May.", ("1",)),
        ("Il dure 75 minutes.", "Il dure une heure et quart.", ()),
        ("It takes 90 minutes.", "It takes an hour and a half.", ()),
        ("Het duurt 90 minuten.", "Het duurt anderhalf uur.", ()),
        ("Es dauert 150 Minuten.", "Es dauert zweieinhalb Stunden.", ()),
        ("Es dauert 140 Minuten.", "Es dauert zweieinhalb Stunden.", ("140",)),
        ("Ab 6:30 Uhr.", "Ab halb sieben.", ()),
        ("Ab halb acht.", "Ab 6:30 Uhr.", ("7",)),
        ("It takes 1,320 minutes.", "It takes 1.5 hours and 20 min.", ("1320",)),
        ("It takes 1.5 hours.", "It takes 1.5 hours and 20 min.", ()),
        ("Nach 1.500 Stunden.", "Nach 1.500 Stunden 10 Minuten warten.", ()),
        ("Après 1 500 heures.", "Après 1 500 heures 10 minutes.", ()),
        ("At 10:30.", "At 10:30 h 5 min remain.", ()),
        ("It takes 2.5 hours.", "It takes 2.5 hours and a half.", ()),
        ("It takes 0.5 hours.", "It takes 3.5 and a half hours.", ("0.5",)),
        ("Het duurt 45 minuten.", "Het duurt drie kwartier.", ()),
        ("Het duurt 15 minuten.", "Het duurt een kwartier.", ()),
        ("Het duurt 15 minuten.", "Het duurt drie kwartier.", ("15",)),
        ("Il dure 15 minutes.", "Il dure trois quarts d'heure.", ("15",)),
        ("Het duurt 15 minuten.", "Het duurt 2,5 kwartier.", ("15",)),
        ("Um 9:15.", "Um Viertel nach neun.", ()),
        ("Boek ten minste 3 dagen vooraf.", "Minstens drie dagen vooraf.", ()),
    ],
)
def test_days_months_ranks_and_quantities(
    claim: str, source: str, missing: tuple[str, ...]
) -> None:
    """C3: another day is a fault, another unit for the same quantity is none."""
    assert missing_numbers(claim, number_spellings(source)) == missing
