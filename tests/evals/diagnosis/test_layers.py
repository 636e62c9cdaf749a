"""A failure planted in each layer, and found there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from foveate.core.types import Chunk
from foveate.evals.cases import Case, Evidence
from foveate.evals.diagnosis.layers import LAYERS, MODEL
from foveate.evals.diagnosis.probe import (
    EvidenceTrail,
    Probe,
    Rankings,
    StoreReader,
    probe_case,
)
from foveate.evals.diagnosis.records import AgentSession, AgentTurn, RecordedAnswers
from foveate.evals.diagnosis.run import (
    diagnose,
    diagnosis_table,
    diagnosis_to_json,
    list_advice,
    list_lost,
)
from foveate.evals.diagnosis.verdict import decide_verdict
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.options import AssembleOptions
from foveate.ports import Document
from foveate.providers.embedders.local import HashingEmbedder
from foveate.stores import open_store

EMBEDDER = HashingEmbedder(dimensions=64)
FILLER = "The committee met on a grey morning and spoke about chairs, tea and the minutes. "
KILN = "The lower kiln fires its tiles at eleven hundred degrees for nine hours in a row."
MILL = "The paper mill by the weir takes its water from the upper sluice gate all year round."
OLD = "The night ferry to the island is suspended until further notice from the harbour."
NEW = "The night ferry to the island sails again every Friday evening at ten from pier four."
LONG = "The archive keeps the ledgers of the guild in the vaulted cellar beneath the old chapel."


def documents():
    """A kiln in a chunk, a mill cut over two, a ferry that is out of date, and much else."""
    halves = [MILL[:40], MILL[40:]]
    filler = [f"{FILLER}Note {n} is about topic {n} and its many faces. " * 2 for n in range(30)]
    return {
        "kiln.md": [KILN],
        "mill.md": halves,
        "ferry.md": [OLD],
        "archive.md": [LONG + " " + FILLER * 60],
        "noise.md": filler,
    }


@pytest.fixture
def store(tmp_path):
    """The documents in a store."""
    made = open_store(tmp_path / "s", embedder_name=EMBEDDER.name, dimensions=EMBEDDER.dimensions)
    for name, texts in documents().items():
        chunks = [
            Chunk(text=text, id=f"{name}#{n}", document_id=name, source=name, sequence=n)
            for n, text in enumerate(texts)
        ]
        vectors = EMBEDDER.embed(texts)
        made.put(Document(id=name, source=name, text=""), chunks, vectors)
    yield made
    made.close()


def case(name, question, text, doc, answers=()):
    """One question with one unit of evidence."""
    evidence = (Evidence(text=text, doc_id=doc),)
    return Case(
        id=name, dataset="own", question=question, chunks=(), evidence=evidence, answers=answers
    )


def found(store, cases, limit=5, beside=None, **options):
    """What is diagnosed, by case."""
    settled = AssembleOptions(
        recipe=options.pop("recipe", "citations"), budget=options.pop("budget", 2000)
    )
    chosen = replace(settled, limit=limit, keep=options.pop("keep", None))
    assembler = Assembler(store=store, embedder=EMBEDDER, options=chosen, **options)
    made = diagnose(cases, assembler, **(beside or {}))
    return {v.id: v for v in made.verdicts}, made


KILN_CASE = case(
    "k", "How hot does the lower kiln fire its tiles?", KILN, "kiln.md", ("eleven hundred",)
)


def test_nothing_is_lost_where_nothing_is(store):
    """E4: a question whose evidence is in its context is laid at nobody's door."""
    verdicts, made = found(store, [KILN_CASE])
    assert verdicts["k"].layer == ""
    assert sum(made.counts.values()) == 0
    assert made.figures["context assembly"]["assembled"] == 1.0
    assert list_lost(made) == list_advice(made) == []


def test_evaluation_gap(store):
    """E4: evidence that no document holds, or of a document that is nowhere, is the set's fault."""
    cases = [
        case("a", "How hot is the kiln?", "The kiln is a cold place with swans in it.", "kiln.md"),
        case("b", "How hot is the kiln?", NEW, "nowhere.md"),
    ]
    verdicts, made = found(store, cases)
    assert [v.layer for v in verdicts.values()] == ["evaluation gap"] * 2
    assert made.figures["evaluation gap"]["recall"] == 0.0


@pytest.mark.parametrize(
    ("question", "text", "layer", "held"),
    [
        (KILN_CASE.question, KILN, "", "kiln.md"),
        ("upper sluice gate all year round?", MILL, "chunking", "mill.md"),
    ],
)
def test_evidence_without_a_document_is_looked_for_in_all(store, question, text, layer, held):
    """E4: it is found where its words are, also if it is cut in two, and its layer is the same."""
    unnamed = case("u", question, text, "")
    verdicts, made = found(store, [unnamed], limit=1)
    assert verdicts["u"].layer == layer
    assert made.figures["evaluation gap"]["recall"] == 1.0

    followed = probe_case(unnamed, StoreReader(store, EMBEDDER), Assembler(store=store))
    assert {name.partition("#")[0] for name in followed.gold} == {held}


def test_evidence_that_stands_nowhere_is_the_sets_fault(store):
    """E4: without a document's name, what no document holds is an evaluation gap."""
    verdicts, _ = found(store, [case("n", "How hot is the kiln?", "Swans sleep standing up.", "")])
    assert verdicts["n"].layer == "evaluation gap"


def test_index_freshness(store):
    """E4: what the folder says by now, and the store does not, was not indexed again."""
    beside = {"current": {"ferry.md": NEW}.get}
    verdicts, made = found(
        store, [case("f", "When does the night ferry sail?", NEW, "ferry.md")], beside=beside
    )
    assert verdicts["f"].layer == "index freshness"
    assert made.figures["index freshness"]["stale"] == 1.0
    assert made.figures["evaluation gap"]["recall"] == 1.0  # the golden set is right


def test_chunking(store):
    """E4: a sentence cut in two of which only one half is found."""
    asked = case("m", "upper sluice gate all year round?", MILL, "mill.md")
    verdicts, made = found(store, [asked], limit=1)
    assert verdicts["m"].layer == "chunking"
    assert made.figures["chunking"]["under"] == 1
    assert 0.2 < made.figures["chunking"]["context_recall"] < 0.8
    assert made.figures["context assembly"]["joined"] < 0.8  # of the one candidate that is taken


class Fixed:
    """An embedder for which every question points to one text."""

    name, dimensions = EMBEDDER.name, EMBEDDER.dimensions

    def __init__(self, text):
        self._text = text

    def embed(self, texts):
        """The text's vector, for each."""
        return EMBEDDER.embed([self._text for _ in texts])


def test_embedding(store):
    """E4: found by words, lost by vectors: recall of one leg without the other."""
    settled = AssembleOptions(recipe="citations", budget=2000)
    assembler = Assembler(
        store=store,
        embedder=Fixed(FILLER + "Note 7 is about topic 7"),
        options=replace(settled, limit=1),
    )
    asked = case("e", "On note 7: how hot does the kiln fire its tiles?", KILN, "kiln.md")
    made = diagnose([asked], assembler)
    assert made.verdicts[0].layer == "embedding", made.verdicts
    gap = made.figures["embedding"]
    assert (gap["recall_words"], gap["recall_vectors"]) == (1.0, 0.0)


def test_retrieval_strategy(store):
    """E4: one leg had it on top, and together they did not: another route would have found it."""
    asked = case("s", "chairs, tea and minutes of note 3 and topic 4", KILN, "kiln.md")
    settled = AssembleOptions(recipe="citations", budget=2000)
    assembler = Assembler(store=store, embedder=Fixed(KILN), options=replace(settled, limit=1))
    made = diagnose([asked], assembler)
    assert made.verdicts[0].layer == "retrieval strategy", made.verdicts
    figures = made.figures["retrieval strategy"]
    assert figures["ndcg_routed"] == 1.0 > figures["ndcg"]


class Contrary:
    """A reranker that likes what is long and off the point."""

    name = "contrary@1"

    def rerank(self, query, texts):
        """Characters."""
        return [float(len(text)) for text in texts]


def test_reranking(store):
    """E4: among the candidates before, not among those kept."""
    verdicts, made = found(store, [KILN_CASE], reranker=Contrary(), keep=1)
    assert verdicts["k"].layer == "reranking"
    figures = made.figures["reranking"]
    assert figures["ndcg_before"] > figures["ndcg_after"] == 0.0


def test_context_assembly(store):
    """E4: it was among the candidates, and the trace says which stage let it go."""
    asked = case("c", "Where does the archive keep the ledgers of the guild?", LONG, "archive.md")
    verdicts, made = found(store, [asked], budget=60)
    assert verdicts["c"].layer == "context assembly"
    assert verdicts["c"].detail.startswith("pack: ")
    assert made.figures["context assembly"]["assembled"] < 0.8


def test_a_question_that_gets_no_context_is_lost_too(store):
    """E4: nothing found, or a budget that holds nothing, is a verdict and not the run's end."""
    tight = found(store, [KILN_CASE], budget=3)[0]["k"]
    assert (tight.layer, "smallest" in tight.detail or "budget" in tight.detail) == (
        "context assembly",
        True,
    )
    settled = AssembleOptions(recipe="citations", budget=500)
    assembler = Assembler(store=store, options=replace(settled, limit=5))
    asked = case("z", "zzz qqq", KILN, "kiln.md")
    bare = Case(id="n", dataset="own", question="kiln", chunks=(), evidence=())
    made = diagnose([asked, bare], assembler)
    assert [(v.id, v.layer) for v in made.verdicts] == [("z", "retrieval strategy")]


def test_restricted_documents_are_followed_for_who_may_read_them(store):
    """E4, X5: by their readers, the comparison with plain joining too."""
    text = "The owner's well by the orchard is nine metres deep and lined with slate."
    chunk = Chunk(text=text, id="w0", document_id="w", source="w.md", principals=("owner",))
    document = Document(id="w", source="w.md", text="", principals=("owner",))
    store.put(document, [chunk], EMBEDDER.embed([text]))
    asked = case("w", "How deep is the owner's well by the orchard?", text, "w")
    settled = AssembleOptions(recipe="citations", budget=900)
    assembler = Assembler(store=store, embedder=EMBEDDER, options=replace(settled, limit=5))
    mine = diagnose([asked], assembler, principals=("owner",))
    assert (mine.verdicts[0].layer, mine.figures["context assembly"]["joined"]) == ("", 1.0)
    assert diagnose([asked], assembler).verdicts[0].layer == "evaluation gap"


def test_agent_loop(store):
    """E4: evidence that was there and gone by the last turn; turns that bring nothing new."""
    sessions = {
        "k": (
            AgentTurn(tokens=900, chunk_ids=("kiln.md#0",)),
            AgentTurn(tokens=999, chunk_ids=("x",)),
        ),
        "r": tuple(AgentTurn(tokens=1000, chunk_ids=("kiln.md#0",)) for _ in range(5)),
    }
    sessions = {name: AgentSession(turns=turns) for name, turns in sessions.items()}
    round_ = case("r", KILN_CASE.question, KILN, "kiln.md")
    verdicts, made = found(store, [KILN_CASE, round_], beside={"sessions": sessions})
    assert (verdicts["k"].layer, verdicts["k"].detail) == (
        "agent loop",
        "there at turn 1, gone at 2",
    )
    assert verdicts["r"].detail == "4 turns and 4,000 tokens without anything new"
    assert made.figures["agent loop"] == {"iterations": 3.5, "tokens": 3449.5}


def test_answers(store):
    """E4: wrong with the evidence in front of it is the model's; right before is assembly's."""
    wrong = RecordedAnswers(answer="It is quite cold.")
    worse = RecordedAnswers(answer="It is quite cold.", baseline="At eleven hundred degrees.")
    right = RecordedAnswers(answer="Eleven hundred degrees.")
    layers = [
        found(store, [KILN_CASE], beside={"answers": {"k": said}})[0]["k"].layer
        for said in (wrong, worse, right)
    ]
    assert layers == [MODEL.name, "context assembly", ""]


def test_the_json_names_every_layer(store):
    """E4: eight layers, each with its measure and what to try, and every verdict."""
    _, made = found(store, [KILN_CASE, case("b", "How hot?", NEW, "nowhere.md")])
    record = diagnosis_to_json(made)
    assert [one["layer"] for one in record["layers"]] == [layer.name for layer in LAYERS]
    assert len(record["layers"]) == 8
    assert all(one["measure"] and one["advice"] for one in record["layers"])
    assert (record["questions"], record["lost"]) == (2, 1)
    assert list_lost(made) == [("own b", "evaluation gap: nowhere.md is not in the store")]
    assert diagnosis_table(made).rows[4][:2] == ("evaluation gap", "1")


@pytest.mark.parametrize(
    ("words", "vectors", "layer"),
    [
        (3, 60, "embedding"),
        (15, 25, "embedding"),
        (30, 150, "embedding"),
        (30, None, "embedding"),
        (30, 100, "retrieval strategy"),
        (60, 3, "retrieval strategy"),
        (None, None, "retrieval strategy"),
    ],
)
def test_where_one_leg_is_far_from_it(words, vectors, layer):
    """E4: four times further down by vectors than by words is the embedder's fault."""
    evidence = Evidence(text=KILN, doc_id="kiln.md")
    shares = {"document": 1.0, "chunk": 1.0, "pool": 0.0, "context": 0.0}
    ranks = {"words": words, "vectors": vectors, "fused": 40, "reranked": None}
    trail = EvidenceTrail(evidence=evidence, indexed=True, stale=False, **shares, **ranks)
    probe = Probe(
        case=KILN_CASE,
        trails=(trail,),
        rankings=Rankings(words=(), vectors=("x",), fused=()),
        reranked=None,
        gold=frozenset(),
    )
    assert decide_verdict(probe, limit=20).layer == layer
