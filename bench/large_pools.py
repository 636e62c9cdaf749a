"""Question sets whose candidates are the best 1,000 texts of all questions of the set, by BM25.

    python -m bench.large_pools SET.jsonl.gz … --out FOLDER [--candidates N]

writes each set to FOLDER, for `foveate eval --dataset FOLDER/*.jsonl`.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from foveate.core.text.terms import document_terms, query_terms
from foveate.stores.scoring import bm25, damping, group_terms, saturation

CANDIDATES = 1_000

Record = dict[str, Any]


def enlarge(cases: list[Record], candidates: int) -> list[Record]:
    """The cases with the best texts of all of them, the question's own marked as gold as before."""
    texts: dict[tuple[str, str], Record] = {}
    for case in cases:
        for chunk in case["chunks"]:
            texts.setdefault((chunk["doc_id"], chunk["text"]), chunk)
    chunks = [{**chunk, "id": f"t{n}"} for n, chunk in enumerate(texts.values())]
    score = _scorer([chunk["text"] for chunk in chunks])
    found = []
    for case in cases:
        gold = {(c["doc_id"], c["text"]): c for c in case["chunks"] if c.get("is_gold")}
        scores = score(case["question"])
        own: list[Record] = []
        for n in np.argsort(-scores, kind="stable")[:candidates].tolist():
            known = gold.get((chunks[n]["doc_id"], chunks[n]["text"]), {})
            spans = known.get("gold_spans", [])
            marks = {"is_gold": bool(known), "gold_spans": spans, "score": round(scores[n], 4)}
            own.append({**chunks[n], **marks})
        evidence = [{**e, "chunk_ids": []} for e in case["evidence"]]
        found.append({**case, "chunks": own, "evidence": evidence})
    return found


def _scorer(texts: list[str]) -> Callable[[str], Any]:
    """The BM25 of each text for a question."""
    rows = [document_terms(text) for text in texts]
    terms, at, owners, counts = group_terms(rows)
    numbers = {term: n for n, term in enumerate(terms)}
    lengths = np.array([len(row) for row in rows])
    about = damping(lengths, total=len(rows), words=int(lengths.sum()))
    parts = saturation(counts, about[owners])

    def score(question: str) -> Any:
        asked = [numbers[term] for term in query_terms(question) if term in numbers]
        places = [(owners[at == n], parts[at == n]) for n in asked]
        return bm25(places, rows=len(rows), total=len(rows))

    return score


def main() -> None:
    """Write each set with its large pools."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--candidates", type=int, default=CANDIDATES)
    parser.add_argument("--cases", type=int, default=60, help="of each set")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for path in options.sets:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            cases = list(map(json.loads, file))
        large = enlarge(cases, options.candidates)[: options.cases]
        target = options.out / path.name.removesuffix(".gz")
        target.write_text("".join(json.dumps(case) + "\n" for case in large), encoding="utf-8")
        print(f"{target}: {len(large)} questions, {len(large[0]['chunks'])} candidates each")


if __name__ == "__main__":
    main()
