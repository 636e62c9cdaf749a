"""Enrichment: summaries and questions, of whose words they are, and who gets to see them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from foveate.core.errors import BadOption, ExternalError
from foveate.core.types import Chunk
from foveate.ingest import Enrich, Report, ingest
from foveate.ingest.enrich import enrich_document
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.options import AssembleOptions
from foveate.ports import QUESTIONS, Document, Message, Reply, Store
from foveate.providers.embedders import load_embedder
from foveate.providers.tokenizers.simple import Simple
from foveate.stores import open_store

BOTH = Enrich(summaries=True, questions=True)
OPENS = "Above its pressure the safety valve opens by itself."
PAGE = f"""# Boiler

The boiler heats the water of the house. {OPENS}

## How do I reset it?

Press the red button for 3 seconds.

## Opening pressure

The safety valve of the boiler opens at 4 bar, the one of the water of the house at 6.
"""


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A page, one that brings its own summary, and one without prose."""
    root = tmp_path / "docs"
    root.mkdir()
    (root / "boiler.md").write_text(PAGE)
    (root / "own.md").write_text("---\nsummary: Mine.\ntitle: Own\n---\n\n" + PAGE)
    (root / "table.csv").write_text("part,price\nvalve,3\n")
    return root


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """The embedded store, empty."""
    embedder = load_embedder("hashing")
    opened = open_store(tmp_path / "store", embedder_name=embedder.name, dimensions=256)
    yield opened
    opened.close()


def _run(docs: Path, store: Store, **options: Any) -> Report:
    return ingest(docs, store, load_embedder("hashing"), Simple(), size=40, overlap=0, **options)


def _chunks(store: Store, document: str) -> list[Chunk]:
    return store.neighbours([(document, 0)], 99)


def _asked(chunks: Sequence[Chunk]) -> list[list[str]]:
    return [list(chunk.metadata.get(QUESTIONS, ())) for chunk in chunks]


def test_off_unless_asked_for(docs: Path, store: Store) -> None:
    """T3: without it there is neither; a document's own summary is there all the same."""
    report = _run(docs, store)
    assert (report.summarised, report.questions) == (0, 0)
    assert {chunk.summary for chunk in _chunks(store, "docs/boiler.md")} == {""}
    assert {chunk.summary for chunk in _chunks(store, "docs/own.md")} == {"Mine."}
    assert not any(map(any, _asked(_chunks(store, "docs/boiler.md"))))


def test_summaries_and_questions_are_of_the_document(docs: Path, store: Store) -> None:
    """T3: its own sentences and headings, each question with the chunk that answers it."""
    report = _run(docs, store, enrich=BOTH)
    chunks = _chunks(store, "docs/boiler.md")
    assert {chunk.summary for chunk in chunks} == {
        f"The boiler heats the water of the house. {OPENS}"
    }
    by_question = {each: chunk.text for chunk in chunks for each in chunk.metadata[QUESTIONS]}
    assert "3 seconds" in by_question["How do I reset it?"]
    assert "4 bar" in by_question["Boiler: Opening pressure?"]
    assert {chunk.summary for chunk in _chunks(store, "docs/own.md")} == {"Mine."}
    assert report.summarised == 2  # the row of the table is a sentence too
    assert report.questions == sum(
        len(each)
        for name in ("boiler.md", "own.md", "table.csv")
        for each in _asked(_chunks(store, f"docs/{name}"))
    )


def test_other_enrichment_writes_again(docs: Path, store: Store) -> None:
    """T2, T3, D3: what would be described otherwise is not taken for unchanged."""
    _run(docs, store)
    bare = store.state_root()
    assert _run(docs, store, enrich=BOTH).updated == 3
    assert store.state_root() != bare
    assert _run(docs, store, enrich=BOTH).unchanged == 3
    assert _run(docs, store).updated == 3
    assert store.state_root() == bare


def test_questions_find_their_chunk(docs: Path, store: Store) -> None:
    """T3, T4: the title is no word of the last chunk, yet asking under it finds it first."""
    query = "boiler opening pressure"
    _run(docs, store)
    before = store.search(query, None).candidates
    _run(docs, store, enrich=BOTH)
    after = store.search(query, None).candidates
    assert "4 bar" in after[0].chunk.text
    place = [c.chunk.content_hash for c in before].index(after[0].chunk.content_hash)
    assert place >= 0


def test_the_summary_is_shown_once_and_goes_first(docs: Path, store: Store) -> None:
    """R2: before the document's first block, counted, and left out where the budget is tight."""
    _run(docs, store, enrich=BOTH)
    assembler = Assembler(store=store, options=AssembleOptions(recipe="citations", budget=400))
    text = assembler.assemble("When does the safety valve open?").text
    assert text.count("[Page context: The boiler heats the water of the house.") == 1
    tight = Assembler(store=store, options=AssembleOptions(recipe="citations", budget=45))
    assert "Page context" not in tight.assemble("When does the safety valve open?").text


def _piece(number: int, text: str, start: int, **options: Any) -> Chunk:
    return Chunk(
        id=f"d#{number}",
        document_id="d",
        sequence=number,
        text=text,
        start=start,
        end=start + len(text),
        **options,
    )


def test_what_is_for_fewer_readers_stays_with_them() -> None:
    """T3, X5: it is in no summary; its questions are kept with it alone."""
    open_ = "The boiler heats the water for all the rooms. The boiler heats the house."
    closed = "The boiler heats a secret water tank of the house. Where is the secret tank?"
    document = Document(id="d", source="d", text=f"{closed}\n{open_}", principals=("all", "few"))
    chunks = [
        _piece(0, closed, 0, principals=("few",)),
        _piece(1, open_, len(closed) + 1, principals=("all", "few")),
    ]
    whole, described = enrich_document(document, chunks, BOTH, Simple())
    assert whole.summary
    assert "secret" not in whole.summary
    assert all("secret" not in chunk.summary for chunk in described)
    assert _asked(described) == [["Where is the secret tank?"], []]
    unplaced = [Chunk(id="d#0", document_id="d", text=closed, principals=("few",)), chunks[1]]
    assert enrich_document(document, unplaced, BOTH, Simple())[0].summary == ""


def test_bounds_that_leave_nothing_are_refused(docs: Path, store: Store) -> None:
    """X1: a summary of no token is none, and a model that has none to write is not asked."""
    with pytest.raises(BadOption, match="tokens is 0"):
        Enrich(tokens=0)
    with pytest.raises(BadOption, match="a model writes summaries"):
        _run(docs, store, enrich=Enrich(questions=True), model=Ruled())


class Ruled:
    """A model by rules: it really reads its prompt, and answers by what stands there.

    Its summary is the longest sentence. `refuses`: what it does instead, by a word in the prompt.
    """

    name = "ruled:1"

    def __init__(self, refuses: dict[str, str] | None = None) -> None:
        self.refuses = refuses or {}
        self.prompts: list[str] = []
        self._lock = Lock()

    def complete(self, messages: Sequence[Message], **options: Any) -> Reply:
        """Lines as the prompt wants them."""
        prompt = messages[-1]["content"]
        with self._lock:
            self.prompts.append(prompt)
        for word, answer in self.refuses.items():
            if word in prompt:
                if answer == "down":
                    raise ExternalError("the model is down; start it")
                return Reply(text=answer)
        text = prompt.partition("\n\nTitle: ")[2].partition("\n\n")[2]
        longest = max([text[:30], *re.findall(r"[^.#\n]+\.", text)], key=len)
        return Reply(text=f"SUMMARY: {longest.strip()}")

    def stream(self, messages: Sequence[Message], **options: Any) -> Iterator[str | Reply]:
        """All at once."""
        yield self.complete(messages, **options)


def test_a_model_writes_summaries(docs: Path, store: Store) -> None:
    """T3: its summary is kept; questions are those of the headings."""
    model = Ruled()
    report = _run(docs, store, enrich=BOTH, model=model)
    assert report.without_model == ()
    chunks = _chunks(store, "docs/boiler.md")
    assert {chunk.summary for chunk in chunks} == {
        "The safety valve of the boiler opens at 4 bar, the one of the water of the house at 6."
    }
    assert "Boiler: Opening pressure?" in _asked(chunks)[-1]
    assert {chunk.summary for chunk in _chunks(store, "docs/own.md")} == {"Mine."}
    assert len(model.prompts) == 2
    assert _run(docs, store, enrich=BOTH, model=model).unchanged == 3
    assert len(model.prompts) == 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("down", "the model is down; start it"),
        ("I cannot do that.", "the answer has no summary"),
        ("SUMMARY: It opens at 9 bar.", "the summary says 9, which the document"),
        (f"SUMMARY: {'boiler ' * 300}", "tokens, more than 80"),
    ],
)
def test_a_model_that_fails_leaves_the_extractive_ones(
    docs: Path, store: Store, answer: str, reason: str
) -> None:
    """T3, X3: it is asked twice, what it writes is not used, the report says why; asked again."""
    model = Ruled({"boiler": answer, "Boiler": answer})
    (docs / "own.md").unlink()
    report = _run(docs, store, enrich=BOTH, model=model)
    assert [each.path for each in report.without_model] == ["docs/boiler.md"]
    assert reason in report.without_model[0].reason
    assert report.added == 2
    assert sum("oiler" in prompt for prompt in model.prompts) == 2
    (summary,) = {chunk.summary for chunk in _chunks(store, "docs/boiler.md")}
    assert summary.startswith("The boiler heats the water of the house.")
    model.refuses.clear()
    again = _run(docs, store, enrich=BOTH, model=model)
    assert (again.updated, again.unchanged, again.without_model) == (1, 1, ())


def test_the_model_sees_no_more_than_all_readers_do() -> None:
    """T3, X5: chunks for fewer readers are not in its prompt."""
    from foveate.ingest.document_task import PreparedDocument
    from foveate.ingest.model_enrichment import ModelEnricher

    model = Ruled()
    document = Document(id="d", source="d", text="Open one. Secret two.")
    part = PreparedDocument(
        document=document,
        chunks=(_piece(0, "Open one.", 0), _piece(1, "Secret two.", 10, principals=("few",))),
        counts=(3, 3),
    )
    ((found, why),) = ModelEnricher(model=model, tokenizer=Simple(), tokens=80).describe([part])
    assert why == ""
    assert "Secret" not in model.prompts[0]
    assert found.document.summary == "Open one."
