"""A session over a store that changes under it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from foveate import Assembler, BadInput, Session, proceed
from foveate.pipeline.sessions import session_from_json, session_to_json
from foveate.ports import Store
from text_store import EMBEDDER, put, stored

QUERY = "When is the kiln fired?"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Three pages for everyone, one for the staff."""
    texts = {
        "kiln.md": "The kiln is fired twice a month, on Mondays.",
        "glaze.md": "The glaze is kept in the cellar, in blue tins.",
        "clay.md": "The clay is dug by Ann, who lives in the mill.",
    }
    safe = "The safe of the kiln room opens with the number of the kiln."
    with stored(tmp_path / "store", texts) as opened:
        put(opened, "safe.md", safe, "staff")
        yield opened


def turn(store: Store, session: Session, query: str, *principals: str):
    """One turn that searches the store, through JSON as a service would."""
    read = session_from_json(json.loads(json.dumps(session_to_json(session))))
    assembler = Assembler(store=store, embedder=EMBEDDER)
    return proceed(read, query, store=assembler, principals=principals)


def sources(made) -> set[str]:
    """What stands in the documents."""
    return {block.source for block in made.context.blocks}


def test_a_session_searches_its_store(store):
    """W4, T1: what the store finds is added; the same again is a prefix, whole and entire."""
    first = turn(store, Session(), QUERY)
    second = turn(store, first.session.with_answer("On Mondays [1]."), "And the kiln's glaze?")

    assert sources(first) == {"kiln.md", "glaze.md", "clay.md"}
    assert second.context.text == first.context.text
    assert second.reuse.documents_sent == 0


def test_a_document_that_is_deleted_or_changed_leaves_the_session(store):
    """W4, T5: the store is asked what is left of what was sent, in one round trip."""
    first = turn(store, Session(), QUERY).session.with_answer("By Ann [3].", cited=[])
    store.delete("clay.md")
    put(store, "kiln.md", "The kiln is fired on Fridays only.")

    made = turn(store, first, "Who digs?")

    assert sources(made) == {"kiln.md", "glaze.md"}
    assert "Mondays" not in made.context.text
    assert "Fridays" in made.context.text
    assert made.reuse.repacked == "withdrawn"


def test_a_session_ends_where_its_reader_may_read_less(store):
    """W4, X5: handed to somebody who may read less, it is refused, and nothing is named."""
    first = turn(store, Session(), QUERY, "staff")
    assert "safe.md" in sources(first)

    with pytest.raises(BadInput, match="begin a new session") as refused:
        turn(store, first.session.with_answer("See the safe."), QUERY)

    assert "safe" not in str(refused.value)


def test_the_figures_of_sessions_can_be_printed(tmp_path, capsys, monkeypatch):
    """W4: the command that measures sessions does so on a file of questions of our own."""
    from bench.session_reuse import main

    records = [
        {
            "question": f"Which number has room {n % 4}?",
            "chunks": [
                {
                    "id": f"{n % 4}-{k}",
                    "doc_id": f"room{n % 4}.md",
                    "source": f"room{n % 4}.md",
                    "sequence": k,
                    "text": f"Room {n % 4} has shelf {k}, and on it stands the number {n % 4 + k}.",
                    "score": 1 / (k + 1),
                    "is_gold": k == 0,
                }
                for k in range(3)
            ],
        }
        for n in range(8)
    ]
    path = tmp_path / "rooms.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["sessions.py", str(path), "--turns", "8"])

    main()

    assert "100.0% are an identical prefix" in capsys.readouterr().out
