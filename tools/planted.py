"""A failure planted in each layer of a retrieval pipeline, on golden cases, and found by diagnosis.

    python -m tools.planted CASES.jsonl.gz --out build/planted --each 4

Takes questions that lose nothing as they are, spoils one thing for each, and writes what `foveate
diagnose` reads: cases, a store, the folder of documents as they are now, answers, sessions. The
command for it is printed. A reranker has no name to give on the command line, so its failures are
diagnosed here, by the same function. The table says what was planted and what was named; a
question whose planted fault cost it nothing is counted as unharmed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from shutil import rmtree

from foveate import plugins
from foveate.core.types import Chunk
from foveate.evals.cases import Case, Passage
from foveate.evals.diagnosis.layers import LAYERS, MODEL, RERANKING
from foveate.evals.diagnosis.probe import evidence_share
from foveate.evals.diagnosis.run import Diagnosis, DiagnosisInputs, diagnose
from foveate.evals.diagnosis.verdict import AgentTurn, RecordedAnswers
from foveate.evals.read import read_cases
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.options import AssembleOptions
from foveate.ports import Document, Embedder, Reranker, Store
from foveate.stores import open_store

RECIPE, BUDGET, LIMIT = "citations", 3_000, 8
NAMES = [*(layer.name for layer in LAYERS), MODEL]
PART = 9  # words of evidence that a spoiled chunk holds


@dataclass(slots=True)
class Shelf:
    """Documents as they are indexed: their chunks, and vectors that are not their texts' own."""

    chunks: dict[str, list[Chunk]]
    vectors: dict[str, str] = field(default_factory=dict)
    now: dict[str, str] = field(default_factory=dict)
    demoted: set[str] = field(default_factory=set)
    said: dict[str, RecordedAnswers] = field(default_factory=dict)
    sessions: dict[str, tuple[AgentTurn, ...]] = field(default_factory=dict)

    def gold(self, case: Case) -> Chunk:
        """The chunk that holds the case's evidence."""
        evidence = case.evidence[0]
        chunks = self.chunks[evidence.doc_id]
        return max(chunks, key=lambda chunk: evidence_share(evidence.text, [chunk.text]))

    def put(self, old: Chunk, *new: Chunk) -> None:
        """Other chunks in the place of one."""
        chunks = self.chunks[old.document_id]
        at = next(n for n, chunk in enumerate(chunks) if chunk.id == old.id)
        chunks[at : at + 1] = list(new)

    def elsewhere(self, case: Case, tokens: int) -> str:
        """So many words of documents that the case does not ask about."""
        mine = case.evidence[0].doc_id
        texts = (c.text for name in sorted(self.chunks) if name != mine for c in self.chunks[name])
        words: list[str] = []
        for text in texts:
            words += text.split()
            if len(words) >= tokens:
                break
        return " ".join(words[:tokens])


def shelf_of(cases: Sequence[Case]) -> Shelf:
    """The candidates of all cases as documents, each passage once, without offsets."""
    found: dict[str, dict[str, Passage]] = {}
    for case in cases:
        for passage in case.chunks:
            found.setdefault(passage.doc_id, {})[passage.id] = passage
    ordered = {
        name: sorted(passages.values(), key=lambda p: (p.sequence, p.id))
        for name, passages in found.items()
    }
    return Shelf({n: [_chunk(n, p, k) for k, p in enumerate(ps)] for n, ps in ordered.items()})


def _chunk(name: str, passage: Passage, sequence: int) -> Chunk:
    return Chunk(
        id=passage.id,
        document_id=name,
        source=name,
        title=passage.title,
        text=passage.text,
        sequence=sequence,
    )


# --- one fault a layer -------------------------------------------------------------------------


def evaluation_gap(case: Case, shelf: Shelf) -> Case:
    """The golden set names evidence that no document holds: its words stand in another order."""
    (evidence,) = case.evidence
    words = " ".join(reversed(evidence.text.split()))
    return replace(case, evidence=(replace(evidence, text=words),))


def index_freshness(case: Case, shelf: Shelf) -> Case:
    """The document says it by now, and was not indexed since."""
    chunk, text = shelf.gold(case), case.evidence[0].text
    shelf.put(chunk, replace(chunk, text=chunk.text.replace(text, "")))
    return case


def chunking(case: Case, shelf: Shelf) -> Case:
    """The evidence is spread over chunks of other matter, a few words in each."""
    chunk, words = shelf.gold(case), case.evidence[0].text.split()
    other = shelf.elsewhere(case, 60 * len(words)).split()
    parts = [words[n : n + PART] for n in range(0, len(words), PART)]
    new = [
        replace(chunk, id=f"{chunk.id}/{n}", text=" ".join([*other[60 * n : 60 * n + 60], *part]))
        for n, part in enumerate(parts)
    ]
    shelf.put(chunk, *new)
    return case


def embedding(case: Case, shelf: Shelf) -> Case:
    """The chunk's vector is that of another text."""
    shelf.vectors[shelf.gold(case).id] = shelf.elsewhere(case, 200)
    return case


def retrieval_strategy(case: Case, shelf: Shelf) -> Case:
    """What was found by its words and its meaning stands amid much else: both legs rank it low."""
    chunk = shelf.gold(case)
    around = shelf.elsewhere(case, 500)
    shelf.put(chunk, replace(chunk, text=f"{around} {case.evidence[0].text} {around}"))
    return case


def reranking(case: Case, shelf: Shelf) -> Case:
    """The reranker puts it last."""
    shelf.demoted.add(shelf.gold(case).text)
    return case


def context_assembly(case: Case, shelf: Shelf) -> Case:
    """The chunk asks it again and again before it says it, and is larger than the whole budget."""
    chunk = shelf.gold(case)
    more = [f"{n}. {case.question}" for n in range(BUDGET // 8)]
    shelf.put(chunk, replace(chunk, text="\n".join([*more, chunk.text])))
    return case


def agent_loop(case: Case, shelf: Shelf) -> Case:
    """An agent had it, and went on without it."""
    gold = shelf.gold(case).id
    others = [c.id for c in shelf.chunks[case.evidence[0].doc_id] if c.id != gold]
    turns = [
        AgentTurn(tokens=900, chunk_ids=(gold,)),
        AgentTurn(tokens=1_100, chunk_ids=tuple(others[:2])),
    ]
    shelf.sessions[case.id] = tuple(turns)
    return case


def model(case: Case, shelf: Shelf) -> Case:
    """The evidence is read, and something else is answered."""
    wrong = "That cannot be said."
    shelf.said[case.id] = RecordedAnswers(answer=wrong, baseline=wrong)
    return replace(case, answers=case.answers or (case.evidence[0].text,))


FAULTS: dict[str, Callable[[Case, Shelf], Case]] = {
    fault.__name__.replace("_", " "): fault
    for fault in (
        evaluation_gap,
        index_freshness,
        chunking,
        embedding,
        retrieval_strategy,
        reranking,
        agent_loop,
        context_assembly,
        model,
    )
}


class Demoting:
    """A reranker that leaves the order as it is, but for some texts, which it puts last."""

    name = "demoting@1"

    def __init__(self, texts: set[str]) -> None:
        self._texts = texts

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Higher for what came first."""
        return [-1e3 * (text in self._texts) - n for n, text in enumerate(texts)]


# --- the run ------------------------------------------------------------------------------------


def filled(folder: Path, shelf: Shelf, embedder: Embedder) -> Store:
    """The store with what the shelf holds; the documents in order, so that it is the same again."""
    store = open_store(folder, embedder_name=embedder.name, dimensions=embedder.dimensions)
    for name, chunks in sorted(shelf.chunks.items()):
        placed = [replace(chunk, sequence=n) for n, chunk in enumerate(chunks)]
        vectors = embedder.embed([shelf.vectors.get(c.id, c.text) for c in placed])
        store.put(Document(id=name, source=name, text=""), placed, vectors)
    return store


def followed(
    cases: Sequence[Case],
    store: Store,
    embedder: Embedder,
    beside: DiagnosisInputs,
    *,
    reranker: Reranker | None = None,
    keep: int | None = None,
) -> Diagnosis:
    """The cases, diagnosed as `foveate diagnose` does."""
    chosen = AssembleOptions(recipe=RECIPE, budget=BUDGET, limit=LIMIT, keep=keep)
    assembler = Assembler(store=store, embedder=embedder, options=chosen, reranker=reranker)
    return diagnose(cases, assembler, beside=beside)


def clean(cases: Sequence[Case], shelf: Shelf, found: Diagnosis) -> Iterator[Case]:
    """Cases that lose nothing, each with evidence that one chunk alone holds, and its own chunk."""
    lost = {verdict.id for verdict in found.verdicts if verdict.layer}
    taken: set[str] = set()
    for case in cases:
        if case.id in lost or len(case.evidence) != 1:
            continue
        evidence = case.evidence[0]
        chunks = shelf.chunks.get(evidence.doc_id, [])
        holding = [c.id for c in chunks if evidence_share(evidence.text, [c.text]) >= 0.3]
        long = len(evidence.text.split()) >= PART + 3
        whole = evidence.text in (shelf.gold(case).text if chunks else "")
        if len(holding) == 1 and long and whole and holding[0] not in taken:
            taken.add(holding[0])
            yield case


def named(case: Case) -> Case:
    """The case with document ids as an index of a folder gives them."""
    evidence = [replace(e, doc_id=f"documents/{e.doc_id}.txt") for e in case.evidence]
    passages = [replace(p, doc_id=f"documents/{p.doc_id}.txt") for p in case.chunks]
    return replace(case, evidence=tuple(evidence), chunks=tuple(passages))


def planted(
    cases: Sequence[Case], out: Path, embedder: Embedder, each: int
) -> list[tuple[str, str]]:
    """What was planted and what was named, for every question; and the files of the diagnosis."""
    cases = [named(case) for case in cases]
    shelf = shelf_of(cases)
    texts = {name: "\n\n".join(c.text for c in cs) for name, cs in shelf.chunks.items()}
    with closing(filled(out / "whole", shelf, embedder)) as store:
        sound = list(clean(cases, shelf, followed(cases, store, embedder, DiagnosisInputs())))
    faults = {name: sound[n * each : (n + 1) * each] for n, name in enumerate(FAULTS)}
    short = [name for name, some in faults.items() if len(some) < each]
    if short:
        raise SystemExit(f"{len(sound)} questions lose nothing; {each * len(FAULTS)} are needed")
    spoiled = {n: [FAULTS[n](case, shelf) for case in some] for n, some in faults.items()}
    beside = DiagnosisInputs(current=texts.get, answers=shelf.said, sessions=shelf.sessions)
    with closing(filled(out / "store", shelf, embedder)) as store:
        asked = [case for n, some in spoiled.items() if n != RERANKING.name for case in some]
        found = followed(asked, store, embedder, beside)
        last = Demoting(shelf.demoted)
        again = followed(
            spoiled[RERANKING.name], store, embedder, beside, reranker=last, keep=LIMIT - 1
        )
    write(out, asked, texts, beside)
    layers = {v.id: v.layer for v in (*found.verdicts, *again.verdicts)}
    return [(name, layers[case.id]) for name, some in spoiled.items() for case in some]


def write(out: Path, cases: Sequence[Case], texts: dict[str, str], beside: DiagnosisInputs) -> None:
    """The files that the command reads."""
    for name, text in texts.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    said = [{"id": name, **asdict(one)} for name, one in beside.answers.items()]
    turns = [{"id": n, "turns": [asdict(t) for t in ts]} for n, ts in beside.sessions.items()]
    rows = [
        {
            "id": case.id,
            "dataset": case.dataset,
            "question": case.question,
            "answers": list(case.answers),
            "evidence": [{"doc_id": e.doc_id, "text": e.text} for e in case.evidence],
        }
        for case in cases
    ]
    for file, records in (("cases", rows), ("answers", said), ("sessions", turns)):
        lines = "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
        (out / f"{file}.jsonl").write_text(lines, encoding="utf-8")


def table(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Planted in rows, named in words."""
    lines = [
        "| planted | questions | named right | unharmed | named otherwise |",
        "|---|---|---|---|---|",
    ]
    for name in FAULTS:
        verdicts = Counter(layer for planted, layer in pairs if planted == name)
        right, none = verdicts.pop(name, 0), verdicts.pop("", 0)
        other = ", ".join(f"{layer} {count}" for layer, count in verdicts.most_common())
        lines.append(f"| {name} | {right + none + verdicts.total()} | {right} | {none} | {other} |")
    return lines


def main() -> None:
    """Plant, diagnose, say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--out", type=Path, default=Path("build/planted"))
    parser.add_argument("--each", type=int, default=4, help="questions a layer")
    parser.add_argument("--embedder", default="wordllama")
    asked = parser.parse_args()
    rmtree(asked.out, ignore_errors=True)
    pairs = planted(
        read_cases(asked.cases), asked.out, plugins.embedder(asked.embedder), asked.each
    )
    sys.stdout.write("\n".join(table(pairs)) + "\n\n")
    out = asked.out
    sys.stdout.write(
        f"foveate diagnose --dataset {out}/cases.jsonl --store {out}/store "
        f"--folder {out}/documents --answers {out}/answers.jsonl --sessions {out}/sessions.jsonl "
        f"--recipe {RECIPE} --budget {BUDGET} --limit {LIMIT}\n"
    )


if __name__ == "__main__":
    main()
