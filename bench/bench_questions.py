"""What indexing chunks under the questions that they answer does for retrieval.

    python -m bench.bench_questions FOLDER

FOLDER holds golden cases, `*.jsonl.gz`. Of each set all candidates of all cases are put into one
store, twice: as they are, and with the questions that `foveate index` takes from a chunk, its
section and its document's title. Shown is the share of the chunks with evidence among the best ten,
by words alone and by words and vectors, and the difference with its 95 % interval (paired
bootstrap over the cases).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from foveate import plugins
from foveate.core.text.summary import extract_questions
from foveate.core.types import Chunk
from foveate.evals.bootstrap import interval, resampled_means
from foveate.evals.cases import Case
from foveate.evals.diagnosis.pools import fill_store
from foveate.evals.read import read_cases
from foveate.ingest.enrich import with_questions
from foveate.ports import Embedder
from foveate.stores import open_store

BEST = 10


def asking(chunk: Chunk) -> Chunk:
    """The chunk with its questions."""
    return with_questions(
        chunk, extract_questions(chunk.text, title=chunk.title, section=chunk.section)
    )


def recalls(
    cases: Sequence[Case], embedder: Embedder, folder: Path, *, questions: bool
) -> tuple[list[float], list[float]]:
    """Per case, recall of gold chunks among the best ten, by words and by both."""
    opened = open_store(folder, embedder_name=embedder.name, dimensions=embedder.dimensions)
    with closing(opened) as store:
        fill_store(store, cases, embedder, changed=asking if questions else None)
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


def main(arguments: Sequence[str]) -> int:
    """Fill, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    given = parser.parse_args(arguments)
    sets: dict[str, list[Case]] = defaultdict(list)
    for case in read_cases([str(given.folder / "*.jsonl.gz")]):
        if any(passage.is_gold for passage in case.chunks):
            sets[case.dataset].append(case)
    embedder = plugins.embedder("wordllama")
    print("| set, leg | recall@10 | with questions | difference |\n|---|---|---|---|", flush=True)
    for name, cases in sets.items():
        with tempfile.TemporaryDirectory() as folder:
            plain = recalls(cases, embedder, Path(folder) / "a", questions=False)
            asked = recalls(cases, embedder, Path(folder) / "b", questions=True)
        for leg, before, after in zip(("words", "both"), plain, asked, strict=True):
            print(row(f"{name}, {leg}", before, after), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
