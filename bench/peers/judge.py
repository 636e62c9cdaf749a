"""What is wrong with a context, by its final text alone, against the truth of the workload.

Definitions, all counts:

    over                tokens above the budget, by the real tokenizer; 0 where it is kept
    whole, trimmed      chunks that stand in the text verbatim, or without their overlapping head
    exact, near         copies beyond the first of a text
    worse               near duplicates of which only a worse ranked copy is there, although it is
                        not the fuller one: neither longer nor the carrier of a fact
    repeated            overlaps of adjacent chunks that stand in the text twice
    inversions          neighbours of one document that stand against its order, mirrors aside
    cuts                passages of more than 160 characters, of no chunk as a whole, that begin or
                        end inside a sentence where no chunk itself begins or ends
    evidence            mean over the planted facts of the share of their words that stand in the
                        text inside a matching run of five words
    ideal               share of the best distinct chunks, as many as fit, that are there

Chunks that a system shortened to sentences are no whole chunks; for those `evidence`, `over` and
`cuts` tell, the rest is about verbatim passages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bench.peers.workload import Row, Truth, Workload

HEADER = 12  # tokens, that the ideal allows a chunk for its header
SHORT = 160  # characters; below, a leftover is a header
LEAST_BODY = 100  # characters that must be left of a chunk without its overlap
LEAST_OVERLAP = 80  # characters
EDGE = 40  # characters that tell a chunk's own beginning or end
RUN = 5  # words
MIRRORED = 100

_WORD = re.compile(r"[^\W_]+")
_ENDED = re.compile(r"[.!?:;…)\]\"'”’`*_>|}]$")
_INSIDE = re.compile(r"[a-z,;]")
_FRAME = " \n\t-=#*"
_HEADER = re.compile(r"^\s*\[\d+\][^\n]*\n")
_ELLIPSIS = re.compile(r"\s*(?:\[…\]|\[\.\.\.\]|…)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A chunk in the text, and where."""

    start: int
    end: int
    row: Row
    truth: Truth


def judge(
    text: str, workload: Workload, budget: int, count: Callable[[str], int] | None = None
) -> dict[str, Any]:
    """All figures for one context."""
    pairs = list(zip(workload.rows, workload.truths, strict=True))
    whole = verbatim(text, pairs)
    trimmed = without_heads(text, pairs, {found.truth.group for found in whole})
    found = sorted((*whole, *trimmed), key=lambda one: (one.start, one.end))
    tokens = (count or cl100k)(text)
    exact, near = copies(whole)
    steps, inversions = order(found)
    groups = {one.truth.group for one in found}
    best = ideal(pairs, budget)
    return {
        "tokens": tokens,
        "over": max(0, tokens - budget),
        "used": round(tokens / budget, 4),
        "whole": len(whole),
        "trimmed": len(trimmed),
        "distinct": len(groups),
        "exact": exact,
        "near": near,
        "worse": worse(found, pairs, workload.facts),
        "repeated": repeated(text, pairs, groups),
        "inversions": inversions,
        "steps": steps,
        "cuts": cuts(text, found, workload.rows),
        "evidence": round(evidence(text, [fact["text"] for fact in workload.facts]), 4),
        "ideal": round(len(best & groups) / max(1, len(best)), 4),
    }


def cl100k(text: str) -> int:
    """The real count, by toktok."""
    from toktok import batch_count

    counts: list[int] = batch_count([text], "cl100k_base", 1)
    return counts[0]


Pairs = Sequence[tuple[Row, Truth]]


def verbatim(text: str, pairs: Pairs) -> list[Found]:
    """Every place where a whole chunk stands; of equal texts each place is one of them."""
    same: dict[str, list[tuple[Row, Truth]]] = {}
    for row, truth in pairs:
        same.setdefault(row.text.strip(), []).append((row, truth))
    found = []
    for body, owners in same.items():
        at, number = text.find(body), 0
        while at >= 0:
            row, truth = owners[min(number, len(owners) - 1)]
            found.append(Found(start=at, end=at + len(body), row=row, truth=truth))
            number += 1
            at = text.find(body, at + len(body))
    inside = sorted(found, key=lambda one: (one.start, -one.end))
    kept: list[Found] = []
    for one in inside:  # a chunk inside a longer one, its fuller copy, is not there twice
        if not kept or one.end > kept[-1].end or one.truth.group != kept[-1].truth.group:
            kept.append(one)
    return kept


def without_heads(text: str, pairs: Pairs, there: set[int]) -> list[Found]:
    """Chunks of which all but the overlapping head stands in the text."""
    found = []
    for row, truth in pairs:
        body = row.text[truth.overlap :].strip()
        if truth.overlap and truth.group not in there and len(body) >= LEAST_BODY:
            at = text.find(body)
            if at >= 0:
                found.append(Found(start=at, end=at + len(body), row=row, truth=truth))
                there.add(truth.group)
    return found


def copies(found: Sequence[Found]) -> tuple[int, int]:
    """How many exact and near copies stand beside the first of their group."""
    seen: dict[int, set[str]] = {}
    exact = near = 0
    for one in sorted(found, key=lambda one: one.start):
        body, known = one.row.text.strip(), seen.setdefault(one.truth.group, set())
        exact += body in known
        near += bool(known) and body not in known
        known.add(body)
    return exact, near


def worse(found: Sequence[Found], pairs: Pairs, facts: Sequence[dict[str, Any]]) -> int:
    """Groups of which only a worse ranked copy is there that is not the fuller one."""
    carriers = {name for fact in facts for name in fact["ids"]}
    best: dict[int, Row] = {}
    for row, truth in pairs:
        best.setdefault(truth.group, row)
    kept: dict[int, list[Row]] = {}
    for one in found:
        kept.setdefault(one.truth.group, []).append(one.row)
    return sum(
        all(
            row.text.strip() != best[group].text.strip()
            and len(_WORD.findall(row.text)) <= len(_WORD.findall(best[group].text))
            and row.id not in carriers
            for row in rows
        )
        for group, rows in kept.items()
    )


def repeated(text: str, pairs: Pairs, there: set[int]) -> int:
    """Overlaps that stand in the text more than once."""
    heads = [
        row.text[: truth.overlap].strip()
        for row, truth in pairs
        if truth.overlap >= LEAST_OVERLAP and truth.group in there
    ]
    return sum(text.count(head) > 1 for head in heads)


def order(found: Sequence[Found]) -> tuple[int, int]:
    """Steps from one chunk of a document to its next in the text, and those that lead back."""
    last: dict[str, int] = {}
    steps = back = 0
    for one in found:
        if one.row.sequence >= MIRRORED:
            continue
        if one.row.document in last:
            steps += 1
            back += one.row.start < last[one.row.document]
        last[one.row.document] = one.row.start
    return steps, back


def cuts(text: str, found: Sequence[Found], rows: Sequence[Row]) -> int:
    """Edges inside a sentence, of passages that are no whole chunk."""
    heads = {row.text.strip()[:EDGE] for row in rows}
    tails = {row.text.strip()[-EDGE:] for row in rows}
    cut = 0
    for rest in leftovers(text, found):
        for passage in _ELLIPSIS.split(_HEADER.sub("", rest)):
            body = _HEADER.sub("", passage).strip(_FRAME)
            if len(body) > SHORT:
                cut += not _ENDED.search(body) and body[-EDGE:] not in tails
                cut += bool(_INSIDE.match(body)) and body[:EDGE] not in heads
    return cut


def leftovers(text: str, found: Sequence[Found]) -> list[str]:
    """What of the text belongs to no chunk that was found; each block of it apart."""
    left, at = [], 0
    for one in found:
        if one.start > at:
            left.append(text[at : one.start])
        at = max(at, one.end)
    left.append(text[at:])
    return [block for piece in left for block in re.split(r"\n\n(?=\[\d+\])", piece)]


def evidence(text: str, facts: Sequence[str]) -> float:
    """The mean share of the facts' words that stand in the text inside a matching run."""
    words = [word.lower() for word in _WORD.findall(text)]
    runs = {tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)}
    return sum(_covered(fact, runs) for fact in facts) / max(1, len(facts))


def _covered(fact: str, runs: set[tuple[str, ...]]) -> float:
    words = [word.lower() for word in _WORD.findall(fact)]
    there = [False] * len(words)
    for i in range(len(words) - RUN + 1):
        if tuple(words[i : i + RUN]) in runs:
            there[i : i + RUN] = [True] * RUN
    return sum(there) / max(1, len(words))


def ideal(pairs: Pairs, budget: int) -> set[int]:
    """The groups that fit, best first, each by its best ranked copy."""
    fit, used, seen = set(), 0, set()
    for row, truth in pairs:
        if truth.group not in seen:
            seen.add(truth.group)
            if used + row.tokens + HEADER <= budget:
                fit.add(truth.group)
                used += row.tokens + HEADER
    return fit
