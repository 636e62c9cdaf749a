"""Look-up by identifier: is the record that a question names shown, whole, with its header?

    python -m bench.lookup                     all forms, 150, 300 and 600 tokens, 60 to 500 records
    python -m bench.lookup --form CSV --budget 300

A text of records stands among three passages of prose: in one chunk, or cut into chunks of 1,400
characters wherever that falls, or between records, or in either way with chunks missing between the
first one and those of the record. A case is right if all of these hold:

there    the record is in the context, and all of it is in one piece
header   so is the header of the table, or the path of the list
bytes    everything that is shown of a text is verbatim, in the text's order
gaps     wherever a text was cut, a mark says so, and the numbers in the marks and the records that
         are shown add up to all records
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import foveate
from bench.lookup_texts import FORMS, PROSE, RecordText, make_text
from foveate.core.types import Candidate, Chunk, Context

BUDGETS = (150, 300, 600)
SIZES = (60, 200, 500)
LAYOUTS = ("one chunk", "cut anywhere", "cut between", "apart", "torn apart")
CHUNK = 1_400
"""Characters of a chunk where a text is cut."""
APART = 8
"""Records of a chunk where chunks do not touch."""
CHECKS = ("there", "header", "bytes", "gaps")
MARK = re.compile(r"\s*\[…[^\]\n]*\]\s*")
ENDS = re.compile(r"\A…[ \n]| …\Z")
COUNTED = re.compile(r"(\d+)(?: of (\d+))? (?:records|rows|lines)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of one case."""

    form: str
    budget: int
    size: int
    layout: str
    passed: frozenset[str]

    @property
    def right(self) -> bool:
        """Whether all checks passed."""
        return len(self.passed) == len(CHECKS)


def candidates_of(made: RecordText, layout: str) -> list[Candidate]:
    """The text as candidates, among prose; the scores say nothing."""
    bounds = [0, len(made.text)]
    if layout in ("cut anywhere", "torn apart"):
        bounds = [*range(0, len(made.text), CHUNK), len(made.text)]
    elif layout != "one chunk":
        step = 3 if layout == "cut between" else APART
        bounds = [0, *_record_starts(made)[step::step], len(made.text)]
    chunks = [
        Chunk(
            id=f"t{n}",
            document_id="records",
            source="records",
            text=made.text[a:b],
            sequence=n,
            start=a,
            end=b,
        )
        for n, (a, b) in enumerate(pairwise(bounds))
    ]
    if layout == "apart":
        holder = made.target // APART
        chunks = [c for n, c in enumerate(chunks) if n == 0 or (n - holder) % 3 == 0]
    if layout == "torn apart":
        holder = made.text.index(made.records[made.target]) // CHUNK
        chunks = [c for n, c in enumerate(chunks) if n == 0 or (n - holder) % 3 < 2]
    chunks += [
        Chunk(id=f"p{n}", document_id=f"p{n}", source=f"page {n}", text=text)
        for n, text in enumerate(PROSE)
    ]
    return [Candidate(chunk=chunk, score=0.5) for chunk in chunks]


def _record_starts(made: RecordText) -> list[int]:
    starts, at = [], 0
    for record in made.records:
        starts.append(at := made.text.index(record, at))
        at += len(record)
    return starts


def ask(made: RecordText, layout: str, budget: int) -> Context:
    """What a caller gets who gives a budget and nothing else."""
    return foveate.assemble(
        made.asked, candidates_of(made, layout), budget=budget, tokenizer="cl100k_base"
    )


def check(made: RecordText, context: Context) -> frozenset[str]:
    """Which checks the context passes."""
    blocks = [block for block in context.blocks if block.document_id == "records"]
    spans = [list(_verbatim_spans(made.text, block.text)) for block in blocks]
    target = made.records[made.target]
    passed = set()
    if any(target in block.text for block in blocks):
        passed.add("there")
    if any(made.header in block.text for block in blocks):
        passed.add("header")
    if None not in [span for found in spans for span in found]:
        passed.add("bytes")
        counted = _counted_spans(made)
        found = [[span for span in pieces if span is not None] for pieces in spans]
        pairs = zip(blocks, found, strict=True)
        if all(_gaps_are_counted(counted, block.text, pieces) for block, pieces in pairs):
            passed.add("gaps")
    return frozenset(passed)


def _verbatim_spans(text: str, shown: str) -> Iterator[tuple[int, int] | None]:
    """Where in the text each piece between marks stands; None where it does not."""
    at = 0
    shown = ENDS.sub("", shown)
    for piece in MARK.split(shown):
        if not piece:
            continue
        found = text.find(piece, at)
        yield (found, found + len(piece)) if found >= 0 else None
        at = max(found + len(piece), at)


def _counted_spans(made: RecordText) -> list[tuple[int, int]]:
    """What the marks count: lines of code, else records."""
    starts = _record_starts(made)
    if made.form != "code":
        return [(at, at + len(own)) for at, own in zip(starts, made.records, strict=True)]
    lines = re.finditer(r"[^\n]*\S", made.text)
    return [(line.end() - len(line.group().lstrip()), line.end()) for line in lines]


def _gaps_are_counted(
    counted: Sequence[tuple[int, int]], shown: str, pieces: Sequence[tuple[int, int]]
) -> bool:
    """Whether what a block shows and what its marks count is the total that each mark names."""
    whole = sum(any(a <= first and last <= b for a, b in pieces) for first, last in counted)
    torn = sum(any(a < last and first < b for a, b in pieces) for first, last in counted) - whole
    marks = "".join(MARK.findall(shown))
    numbers = [(int(n), int(total or n)) for n, total in COUNTED.findall(marks)]
    left_out = sum(number for number, _ in numbers)
    totals = {total for _, total in numbers}
    if not totals:
        return len(pieces) <= 1
    return totals <= {whole + left_out + n for n in range(torn + 1)}


def run(
    forms: Sequence[str] = tuple(FORMS),
    budgets: Sequence[int] = BUDGETS,
    sizes: Sequence[int] = SIZES,
    layouts: Sequence[str] = LAYOUTS,
    seed: int = 1,
) -> Iterator[Result]:
    """All cases, one by one."""
    for form, size in product(forms, sizes):
        made = make_text(form, size, seed)
        for layout, budget in product(layouts, budgets):
            passed = check(made, ask(made, layout, budget))
            yield Result(form=form, budget=budget, size=size, layout=layout, passed=passed)


def table(results: Sequence[Result]) -> str:
    """Right cases of all, by form and budget, as Markdown."""
    budgets = sorted({result.budget for result in results})
    lines = [
        f"| form | {' | '.join(f'{b} tokens' for b in budgets)} | fails |",
        "|---|" + "---|" * (len(budgets) + 1),
    ]
    for form in dict.fromkeys(result.form for result in results):
        own = [result for result in results if result.form == form]
        cells = []
        for budget in budgets:
            asked = [result for result in own if result.budget == budget]
            cells.append(f"{sum(r.right for r in asked)} of {len(asked)}")
        fails = {c: sum(c not in r.passed for r in own) for c in CHECKS}
        said = ", ".join(f"{name} {n}" for name, n in fails.items() if n) or "none"
        lines.append(f"| {form} | {' | '.join(cells)} | {said} |")
    return "\n".join(lines)


def main() -> None:
    """Run the cases that the command line names, and print the table."""
    parser = argparse.ArgumentParser(description="Look-up of records by identifier.")
    parser.add_argument("--form", action="append", choices=FORMS)
    parser.add_argument("--budget", action="append", type=int)
    parser.add_argument("--size", action="append", type=int)
    parser.add_argument("--layout", action="append", choices=LAYOUTS)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--wrong", action="store_true", help="also name the cases that fail")
    given = parser.parse_args()
    results = [
        result
        for seed in range(1, given.seeds + 1)
        for result in run(
            given.form or tuple(FORMS),
            given.budget or BUDGETS,
            given.size or SIZES,
            given.layout or LAYOUTS,
            seed,
        )
    ]
    print(table(results))
    for result in results if given.wrong else ():
        if not result.right:
            missing = ", ".join(c for c in CHECKS if c not in result.passed)
            print(f"{result.form}, {result.size}, {result.layout}, {result.budget}: {missing}")


if __name__ == "__main__":
    main()
