"""The large pools: each question beside the texts of all questions of its set."""

from __future__ import annotations

from typing import Any

from bench.large_pools import enlarge


def case(number: int, question: str, texts: dict[str, bool]) -> dict[str, Any]:
    """One question with these texts, and whether each holds its evidence."""
    chunks = [
        {"id": f"{number}-{n}", "doc_id": "manual", "text": text, "score": 1.0, "is_gold": gold}
        for n, (text, gold) in enumerate(texts.items())
    ]
    evidence = [{"text": text, "chunk_ids": ["gone"]} for text, gold in texts.items() if gold]
    return {"id": f"q{number}", "question": question, "chunks": chunks, "evidence": evidence}


def test_every_question_gets_the_texts_of_all_by_bm25() -> None:
    """J6: each text once, the best first, and only the question's own evidence is gold."""
    heron = "The heron nests on the north pier."
    lock = "The lock opens at dawn, and closes at dusk."
    cases = [
        case(1, "Where does the heron nest?", {heron: True, lock: False}),
        case(2, "When does the lock open?", {lock: True, "Fishing needs a licence.": False}),
    ]

    first, second = enlarge(cases, candidates=10)

    assert len(first["chunks"]) == len(second["chunks"]) == 3
    assert [chunk["text"] for chunk in first["chunks"] if chunk["is_gold"]] == [heron]
    assert [chunk["text"] for chunk in second["chunks"] if chunk["is_gold"]] == [lock]
    assert first["chunks"][0]["text"] == heron
    scores = [chunk["score"] for chunk in second["chunks"]]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > 0
    assert first["evidence"][0]["chunk_ids"] == []
    assert [len(one["chunks"]) for one in enlarge(cases, candidates=2)] == [2, 2]
