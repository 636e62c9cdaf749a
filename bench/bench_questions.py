"""What questions of chunks, and summaries of documents, do for retrieval and for contexts.

    python -m bench.bench_questions FOLDER [--summaries | --shown TOKENS]

FOLDER holds golden cases, `*.jsonl.gz`. Of each set all candidates of all cases are put into one
store, twice: as they are, and with the questions that `foveate index` takes from a chunk, its
section and its document's title. Shown is the share of the chunks with evidence among the best ten,
by words alone and by words and vectors, and the difference with its 95 % interval (paired
bootstrap over the cases). With `--summaries` the same for chunks that are indexed under their
document's summary. With `--shown` contexts of so many tokens are made instead, by `default` and
by `document-first`, with and without summaries: the share of the evidence that they hold, and
the tokens of a context. A summary is two of the document's own sentences.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

from foveate import assemble, plugins
from foveate.core.text.summary import extract_questions, summarise
from foveate.core.types import Chunk
from foveate.evals.bootstrap import interval, resampled_means
from foveate.evals.cases import Case, Passage, chunk_from_passage
from foveate.evals.measures import measure
from foveate.evals.read import read_cases
from foveate.ingest.enrich import with_questions
from foveate.ports import INDEXED_SUMMARY, Document, Embedder, Store
from foveate.stores import open_store

BEST = 10
Measured: TypeAlias = list[tuple[float, int]]


def asking(chunk: Chunk) -> Chunk:
    """The chunk with its questions."""
    return with_questions(
        chunk, extract_questions(chunk.text, title=chunk.title, section=chunk.section)
    )


def summaries_of(cases: Sequence[Case]) -> Mapping[str, str]:
    """A summary of each document, as far as the cases' candidates have its text."""
    pieces: dict[str, dict[str, Passage]] = defaultdict(dict)
    for case in cases:
        for passage in case.chunks:
            pieces[passage.doc_id or passage.id][passage.id] = passage
    count = plugins.tokenizer("cl100k_base").count
    found = {}
    for name, passages in pieces.items():
        ordered = sorted(passages.values(), key=lambda p: (p.sequence, p.start or 0, p.id))
        found[name] = summarise("\n\n".join(p.text for p in ordered), count)
    return found


def shown(cases: Sequence[Case], recipe: str, budget: int) -> tuple[Measured, Measured]:
    """Per case, recall of evidence and tokens of the context, without and with summaries."""
    summaries = summaries_of(cases)
    plain: Measured = []
    more: Measured = []
    for case in cases:
        pool = case.candidates()
        with_their = [
            replace(c, chunk=replace(c.chunk, summary=summaries[c.document_id])) for c in pool
        ]
        evidence = [unit.text for unit in case.evidence]
        for found, candidates in ((plain, pool), (more, with_their)):
            context = assemble(case.question, candidates, recipe=recipe, budget=budget)
            tokens = context.token_count
            found.append((measure(context.text, evidence, tokens=tokens).recall, tokens))
    return plain, more


def summed(chunk: Chunk, summaries: Mapping[str, str]) -> Chunk:
    """The chunk, indexed under its document's summary."""
    summary = summaries.get(chunk.document_id, "")
    return replace(chunk, metadata={**chunk.metadata, INDEXED_SUMMARY: summary})


def fill_store(
    store: Store,
    cases: Sequence[Case],
    embedder: Embedder | None,
    *,
    changed: Callable[[Chunk], Chunk] | None = None,
) -> int:
    """Put every document that the cases' candidates are of; how many chunks there are.

    `changed`: what is to be stored of a chunk in its place.
    """
    documents: dict[str, dict[str, Passage]] = {}
    taken: set[str] = set()
    for passage in (passage for case in cases for passage in case.chunks):
        if passage.id not in taken:
            taken.add(passage.id)
            documents.setdefault(passage.doc_id, {})[passage.id] = passage
    for name, passages in documents.items():
        ordered = sorted(passages.values(), key=lambda p: (p.sequence, p.start or 0, p.id))
        chunks = [
            replace(chunk_from_passage(p), document_id=name, source=p.source or name)
            for p in ordered
        ]
        chunks = [changed(chunk) for chunk in chunks] if changed is not None else chunks
        vectors = embedder.embed([chunk.text for chunk in chunks]) if embedder else None
        first = ordered[0]
        document = Document(id=name, source=first.source or name, text="", title=first.title)
        store.put(document, chunks, vectors)
    return len(taken)


def recalls(
    cases: Sequence[Case],
    embedder: Embedder,
    folder: Path,
    changed: Callable[[Chunk], Chunk] | None = None,
) -> tuple[list[float], list[float]]:
    """Per case, recall of gold chunks among the best ten, by words and by both."""
    opened = open_store(folder, embedder_name=embedder.name, dimensions=embedder.dimensions)
    with closing(opened) as store:
        fill_store(store, cases, embedder, changed=changed)
        words, both = [], []
        for case in cases:
            gold = {passage.id for passage in case.chunks if passage.is_gold}
            vector = embedder.embed([case.question])[0]
            for found, direction in ((words, None), (both, vector)):
                best = store.search(case.question, direction, limit=BEST).candidates
                found.append(len(gold & {one.id for one in best}) / len(gold))
    return words, both


def row(name: str, plain: Sequence[float], asked: Sequence[float]) -> str:
    """One line of the table."""
    import numpy as np

    pairs = np.array([plain, asked]).T
    draws = resampled_means(pairs, name)
    found = interval(float(np.mean(asked) - np.mean(plain)), draws[:, 1] - draws[:, 0])
    return (
        f"| {name} | {np.mean(plain):.3f} | {np.mean(asked):.3f} "
        f"| {found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}] |"
    )


def print_contexts(sets: Mapping[str, Sequence[Case]], budget: int) -> int:
    """The table of contexts with and without summaries."""
    print("| set, recipe | evidence | with summaries | difference | tokens | with summaries |")
    print("|---|---|---|---|---|---|", flush=True)
    for name, cases in sets.items():
        for recipe in ("default", "document-first"):
            plain, with_their = shown(cases, recipe, budget)
            line = row(f"{name}, {recipe}", [r for r, _ in plain], [r for r, _ in with_their])
            tokens = (fmean(t for _, t in found) for found in (plain, with_their))
            print(line, *(f"{mean:.0f} |" for mean in tokens), flush=True)
    return 0


def main(arguments: Sequence[str]) -> int:
    """Fill, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--summaries", action="store_true", help="index summaries, not questions")
    parser.add_argument("--shown", type=int, metavar="TOKENS", help="make contexts, not searches")
    given = parser.parse_args(arguments)
    sets: dict[str, list[Case]] = defaultdict(list)
    for case in read_cases([str(given.folder / "*.jsonl.gz")]):
        if any(passage.is_gold for passage in case.chunks):
            sets[case.dataset].append(case)
    if given.shown:
        return print_contexts(sets, given.shown)
    embedder = plugins.embedder("wordllama")
    what = "summaries" if given.summaries else "questions"
    print(f"| set, leg | recall@10 | with {what} | difference |\n|---|---|---|---|", flush=True)
    for name, cases in sets.items():
        changed = asking
        if given.summaries:
            changed = partial(summed, summaries=summaries_of(cases))
        with tempfile.TemporaryDirectory() as folder:
            plain = recalls(cases, embedder, Path(folder) / "a")
            asked = recalls(cases, embedder, Path(folder) / "b", changed)
        for leg, before, after in zip(("words", "both"), plain, asked, strict=True):
            print(row(f"{name}, {leg}", before, after), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
