"""How much of what a session sends again is an identical prefix (SPEC W4).

Sessions of so many turns over the questions of one set, each turn a question with its own pool, in
the order of the file; each answer cites the blocks that hold the gold evidence. Of every turn's
document tokens that stood in an earlier request of the session, the share that is part of the
prefix identical with the request before. `python -m bench.session_reuse FILE.jsonl.gz …`
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foveate.core.chat.document_block import render_document_block
from foveate.pipeline.budget import Budget
from foveate.pipeline.options import AssembleOptions, resolve_options
from foveate.pipeline.sessions import Session, TurnRequest, proceed

KEYS = ("id", "source", "title", "sequence", "start", "text", "score")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Tokens over all turns: sent before, of which in the identical prefix; and turns by kind."""

    turns: int = 0
    known: int = 0
    prefix: int = 0
    sent: int = 0
    request_reused: int = 0
    request_sent: int = 0
    repacked: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """Of the document tokens that had been sent before, those in the identical prefix."""
        return self.prefix / self.known if self.known else 1.0


def questions(path: Path) -> Iterator[tuple[str, list[dict[str, Any]], set[str]]]:
    """(question, candidates, ids of the chunks that hold evidence) of each record."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            chunks = [
                {**{key: c[key] for key in KEYS if c.get(key) is not None},
                 "document_id": c.get("doc_id") or c.get("document_id") or c["id"]}
                for c in record["chunks"]
            ]  # fmt: skip
            gold = {chunk["id"] for chunk in record["chunks"] if chunk.get("is_gold")}
            yield record["question"], chunks, gold


def run(asked: Sequence[tuple[str, list[dict[str, Any]], set[str]]], budget: Budget) -> Figures:
    """One session."""
    session, seen = Session(), set[str]()
    known = prefix = sent = reused = fresh = 0
    reasons = []
    settled = resolve_options(AssembleOptions(recipe="agent-session"))
    for query, chunks, gold in asked:
        made = proceed(session, query, chunks, budget=budget)
        again = tuple(h for h in made.session.held if seen & set(h.block.chunk_ids))
        known += max(
            made.reuse.documents_reused,
            settled.tokenizer.count(render_document_block(again, settled.recipe).text)
            if again
            else 0,
        )
        prefix += made.reuse.documents_reused
        sent += made.context.token_count
        reused += made.reuse.request_reused
        fresh += made.reuse.request_sent
        reasons += [made.reuse.repacked] if made.reuse.repacked else []
        seen |= {own for h in made.session.held for own in h.block.chunk_ids}
        session = made.session.with_answer("Yes.", cited=_cited(made, gold))
    return Figures(
        turns=len(asked),
        known=known,
        prefix=prefix,
        sent=sent,
        request_reused=reused,
        request_sent=fresh,
        repacked=tuple(reasons),
    )


def _cited(made: TurnRequest, gold: set[str]) -> list[int]:
    return [b.marker for b in made.context.blocks if gold & set(b.chunk_ids)]


def added(figures: Iterable[Figures]) -> Figures:
    """All sessions together."""
    found = list(figures)
    return Figures(
        turns=sum(f.turns for f in found),
        known=sum(f.known for f in found),
        prefix=sum(f.prefix for f in found),
        sent=sum(f.sent for f in found),
        request_reused=sum(f.request_reused for f in found),
        request_sent=sum(f.request_sent for f in found),
        repacked=tuple(reason for f in found for reason in f.repacked),
    )


def main() -> None:
    """Print a line for each file, and one for all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--turns", type=int, default=20, help="turns of a session [20]")
    parser.add_argument("--documents", type=int, default=32_000, help="the document zone [32,000]")
    parser.add_argument("--sessions", type=int, default=3, help="sessions of each file [3]")
    args = parser.parse_args()
    budget = Budget(documents=args.documents, window=None)
    everything = []
    for path in args.files:
        known = list(questions(path))
        starts = range(0, len(known) - args.turns + 1, args.turns)[: args.sessions]
        found = [run(known[at : at + args.turns], budget) for at in starts]
        everything += found
        print(line(path.name.partition(".")[0], added(found)))
    print(line("all", added(everything)))


def line(name: str, f: Figures) -> str:
    """One set's figures."""
    reasons = {reason: f.repacked.count(reason) for reason in sorted(set(f.repacked))}
    whole = f.request_reused / (f.request_reused + f.request_sent or 1)
    paid = (f.sent - f.prefix + f.prefix // 10) / f.turns
    return (
        f"{name:12} {f.turns:4} turns, {f.sent / f.turns:7,.0f} document tokens a turn, paid as "
        f"{paid:6,.0f}; of those sent before {f.share:6.1%} are an identical prefix; of the whole "
        f"request {whole:5.1%}; repacked {reasons}"
    )


if __name__ == "__main__":
    main()
