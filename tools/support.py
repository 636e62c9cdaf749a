"""How well an answer's faults are found, on sentences of golden evidence with faults planted.

    python -m tools.support FOLDER --cases 40

FOLDER holds `*.jsonl.gz` of golden cases. Every claim is a sentence of a case's evidence that its
context shows: as it stands, or reworded by rule (a third of its other words gone, clauses turned
round), citing the block it is from. Then one thing is made wrong. No model writes here: rewordings
are mechanical, so the figures say what holds for answers that stay near the words of their source.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from foveate import Context, assemble, check_answer
from foveate.core.text.sentences import sentence_spans
from foveate.core.text.terms import query_terms
from foveate.evals.cases import Case
from foveate.evals.read import read_cases

FAULTS = {
    "true": None,
    "reworded": None,
    "swapped": "other_source",
    "foreign": "unsupported",
    "number": "unsupported_figures",
    "range": "dangling",
    "left out": "dangling",
    "no marker": "uncited",
    "altered quotation": "altered_quotation",
    "stitched quotation": "stitched_quotation",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """One answer of one sentence, and what is wrong with it."""

    kind: str
    answer: str


def planted(case: Case, context: Context, foreign: str, random: Random) -> Iterator[Planted]:
    """One answer of each kind that the context allows."""
    found = _evident(case, context)
    if not found:
        return
    marker, sentence, beside = random.choice(found)
    others = [c.marker for c in context.citations if sentence not in _shown(context, c.marker)]
    yield Planted(kind="true", answer=f"{sentence} [{marker}]")
    yield Planted(kind="reworded", answer=f"{_reworded(sentence, random)} [{marker}]")
    yield Planted(kind="no marker", answer=sentence)
    yield Planted(kind="range", answer=f"{sentence} [{len(context.citations) + 3}]")
    shown = {name for block in context.blocks for name in block.chunk_ids}
    gone = [passage.id for passage in case.chunks if passage.id not in shown]
    if gone and not re.search(r"[\[\]\n]", gone[0]):
        yield Planted(kind="left out", answer=f"{sentence} [{random.choice(gone)}]")
    if others:
        yield Planted(kind="swapped", answer=f"{sentence} [{random.choice(others)}]")
    yield Planted(kind="foreign", answer=f"{foreign} [{marker}]")
    if changed := _other_number(sentence):
        yield Planted(kind="number", answer=f"{changed} [{marker}]")
    words = sentence.split()
    if len(words) >= 8:
        cut = [*words[: len(words) // 2], "never", *words[len(words) // 2 + 1 :]]
        yield Planted(kind="altered quotation", answer=_quoted(" ".join(cut), marker))
        if beside:
            parts = [*beside.split()[-5:], *words[:5]]
            yield Planted(kind="stitched quotation", answer=_quoted(" ".join(parts), marker))


def _quoted(words: str, marker: int) -> str:
    return '"' + re.sub(r"[\"“”„\n]", "", words) + f'" [{marker}]'


def _evident(case: Case, context: Context) -> list[tuple[int, str, str]]:
    """(marker, a sentence of the evidence that the block shows, a later one of the block)."""
    found = []
    gold = " ".join(evidence.text for evidence in case.evidence)
    for block in context.blocks:
        sentences = [block.text[a:b] for a, b in sentence_spans(block.text)]
        for number, sentence in enumerate(sentences):
            plain = re.sub(r"\s+", " ", re.sub(r"[\[\]【】`\"“”„]", "", sentence)).strip()
            if sentence in gold and 40 <= len(plain) <= 400 and len(query_terms(plain)) >= 5:
                later = [s for s in sentences[number + 2 :] if len(s.split()) > 6]
                found.append((block.marker, plain, later[0] if later else ""))
    return found


def _shown(context: Context, marker: int) -> str:
    return " ".join(block.text for block in context.blocks if block.marker == marker)


def _reworded(sentence: str, random: Random) -> str:
    clauses = re.split(r",\s+", sentence.rstrip(".!"))
    words = " ".join([*clauses[1:], clauses[0]]).split()
    return " ".join(word for word in words if not word.islower() or random.random() > 1 / 3) + "."


def _other_number(sentence: str) -> str:
    found = re.search(r"(?<![\w.,-])\d{2,4}(?![\w.,-])", sentence)
    if found is None:
        return ""
    value = str(int(found[0]) + 7)
    return "" if value in sentence else sentence[: found.start()] + value + sentence[found.end() :]


def tried(
    cases: Sequence[Case], budget: int, seed: int
) -> dict[str, dict[str, list[tuple[str, ...]]]]:
    """Per set and kind, the faults found in each answer."""
    random = Random(seed)  # noqa: S311
    found: dict[str, dict[str, list[tuple[str, ...]]]] = defaultdict(lambda: defaultdict(list))
    for number, case in enumerate(cases):
        context = assemble(case.question, case.candidates(), budget=budget, recipe="citations")
        other = cases[(number + len(cases) // 2) % len(cases)]
        foreign = _foreign(other)
        for one in planted(case, context, foreign, random):
            checked = check_answer(one.answer, context)
            faults = {fault for claim in checked.claims for fault in claim.faults}
            faults |= {"dangling"} if checked.dangling else set()
            found[case.dataset][one.kind].append(tuple(sorted(faults)))
    return found


def _foreign(case: Case) -> str:
    text = re.sub(r"[\[\]【】`]", "", case.evidence[0].text)
    spans = sentence_spans(text)
    start, end = max(spans, key=lambda span: span[1] - span[0]) if spans else (0, len(text))
    return re.sub(r"\s+", " ", text[start:end])[:300]


def main(arguments: Sequence[str]) -> int:
    """Print, per kind, in how many answers its fault was found; and precision and recall."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cases", type=int, default=40, help="of each set")
    parser.add_argument("--budget", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    by_set: dict[str, list[Case]] = defaultdict(list)
    for case in read_cases([str(given.folder / "*.jsonl.gz")]):
        if case.evidence and len(by_set[case.dataset]) < given.cases:
            by_set[case.dataset].append(case)
    cases = [case for mine in by_set.values() for case in mine]
    _report(tried(cases, given.budget, given.seed))
    return 0


def _report(found: dict[str, dict[str, list[tuple[str, ...]]]]) -> None:
    print("| kind | answers | its fault found | any fault |\n|---|---|---|---|")
    for kind, fault in FAULTS.items():
        mine = [faults for kinds in found.values() for faults in kinds.get(kind, [])]
        hit = sum(fault in faults for faults in mine) / max(1, len(mine)) if fault else None
        loud = sum(bool(faults) for faults in mine) / max(1, len(mine))
        print(f"| {kind} | {len(mine)} | {'' if hit is None else f'{hit:.3f}'} | {loud:.3f} |")
    print("\n| set | supported where true | reworded | unsupported where swapped | foreign |")
    print("|---|---|---|---|---|")
    for name, kinds in sorted(found.items()):
        cells = [_share(kinds[kind], kind) for kind in ("true", "reworded", "swapped", "foreign")]
        print(f"| {name} | {' | '.join(cells)} |")
    bad = [f for kinds in found.values() for k in ("swapped", "foreign") for f in kinds[k]]
    good = [f for kinds in found.values() for k in ("true", "reworded") for f in kinds[k]]
    hits = sum("unsupported" in f for f in bad)
    false = sum("unsupported" in f for f in good)
    print(
        f"\nunsupported: precision {hits / max(1, hits + false):.3f}, recall {hits / len(bad):.3f}"
    )


def _share(faults: Sequence[tuple[str, ...]], kind: str) -> str:
    told = sum("unsupported" in one for one in faults)
    share = told if kind in ("swapped", "foreign") else len(faults) - told
    return f"{share / max(1, len(faults)):.3f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
