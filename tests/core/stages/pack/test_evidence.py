"""Packing by evidence: sentences chosen over the whole pool."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.renditions import shapes_of
from foveate.core.stages import divide
from foveate.core.stages.compress import Compress
from foveate.core.stages.compress.score import score_sentences
from foveate.core.stages.divide import Divide
from foveate.core.stages.pack import Pack
from foveate.core.stages.pack.budget_tracker import tracker_for_budget
from foveate.core.stages.pack.evidence import pack_evidence
from foveate.core.stages.pack.selection import build_selection
from foveate.core.stages.stitch import Stitch
from foveate.core.types import TABLE_NAMES, Candidate, Chunk, Sentences, Step
from foveate.pipeline.assembler import assemble
from foveate.testing.fakes import candidate, request
from foveate.testing.strategies import candidates

MILL = "The mill stands by the river. Ada built the mill in 1871. Corn is ground there in autumn."
QUAY = "The quay is long and wide. Ada left Uferstadt young. Boats are hired out by the hour there."
QUERY = "Who built the mill in 1871, and was it Ada who left Uferstadt young?"


def packed(pool: tuple[Candidate, ...], budget: int, query: str = QUERY) -> Step:
    """Offer sentences, then choose."""
    asked = request(query, budget=budget)
    offered = Compress(offer="sentences", when="always")(pool, asked)
    return Pack(policy="value")(offered.candidates, asked)


def texts_shown(step: Step) -> list[str]:
    """What the reader would see."""
    return [c.shown.text for c in step.candidates if c.shown is not None]


def test_evidence_from_two_documents() -> None:
    """S9: the two sentences that answer are shown, one of each document."""
    pool = (candidate(MILL, id="a", score=0.9), candidate(QUAY, id="b", score=0.2))
    shown = " ".join(texts_shown(packed(pool, 20)))

    assert "Ada built the mill" in shown
    assert "Ada left Uferstadt young." in shown
    assert "Boats" not in shown


def test_what_is_left_out_is_marked() -> None:
    """S8, J3: an extract is verbatim, with a mark where text is missing, at its ends too."""
    pool = (candidate(MILL, id="a", score=0.9),)
    (one,) = packed(pool, 13, "Who ground corn, and who built the mill?").candidates

    assert one.shown is not None
    assert one.shown.kind == "extract"
    assert one.shown.verbatim
    pieces = " […] ".join(MILL[a:b] for a, b in one.shown.spans)
    first, last = one.shown.spans[0][0], one.shown.spans[-1][1]
    ends = ("… " if first else "", " …" if last < len(MILL) else "")
    assert one.shown.text == pieces.join(ends) != pieces


@given(candidates(), st.integers(1, 60))
def test_the_purse_holds(pool: tuple[Candidate, ...], budget: int) -> None:
    """B1: what is chosen costs no more than there is, by the count of what is shown."""
    asked = request("pump gate", budget=budget)
    found = score_sentences(pool, "pump gate").by_candidate
    offered = [replace(c, sentences=found[c.id]) for c in pool if found[c.id].spans]
    tracker = tracker_for_budget(asked.budget, asked.token_counter, None)
    choices = pack_evidence(offered, tracker)

    assert sum(c.cost.tokens for c in choices.chosen) <= budget
    assert {c.candidate.id for c in choices.chosen} | set(choices.left_out) == {
        c.id for c in offered
    }


@given(candidates(), st.integers(1, 60))
def test_what_leans_is_never_alone(pool: tuple[Candidate, ...], budget: int) -> None:
    """S8: whatever the budget, a sentence is shown with the one it leans on."""
    for one in packed(pool, budget, "pump gate").candidates:
        if one.sentences is None or one.shown is None or one.shown.kind != "extract":
            continue
        spans = one.shown.spans
        inside = [any(a <= x and y <= b for a, b in spans) for x, y in one.sentences.spans]
        leans = one.sentences.leans
        assert all(inside[leans[i]] for i, here in enumerate(inside) if here)


def invoices(count: int) -> list[str]:
    """So many invoices as the rows of a table."""
    states = ("paid", "open", "overdue")
    return [
        f"| Invoice INV-{1000 + n} | 2025-03-{10 + n % 9} | {states[n % 3]} |" for n in range(count)
    ]


def test_rows_alike_do_not_crowd_out_what_answers() -> None:
    """S9: more rows than fit with the same words of the question leave room for other texts."""
    due = "Invoices are due thirty days after acceptance."
    rows = invoices(120)
    pool = [
        candidate("\n".join(rows[n : n + 12]), id=f"rows {n}", document_id="rows", sequence=n)
        for n in range(0, len(rows), 12)
    ]
    pages = [f"The office sends its invoices to accounts. {due}", MILL, QUAY]
    pool += [candidate(text, id=f"page {n}") for n, text in enumerate(pages)]
    context = assemble("When must invoices be paid?", pool, budget=400, tokenizer="cl100k_base")

    assert due in context.text
    assert context.text.count("| Invoice INV-") > 5


def test_rows_alike_that_are_texts_of_their_own_do_not_crowd_either() -> None:
    """S9: the rows of a sheet are chunks with the numbers of their rows."""
    due = "Invoices are due thirty days after acceptance."
    texts = [f"Invoice: INV-{1000 + n}; State: invoice paid" for n in range(80)]
    rows = [
        Chunk(text=text, id=f"row {n}", document_id="sheet", sequence=n, row=n + 2)
        for n, text in enumerate(texts)
    ]
    pool = [Candidate(chunk=row) for row in rows]
    pool += [candidate(text, id=text) for text in (f"Accounts. {due}", MILL, QUAY)]
    context = assemble("When must invoices be paid?", pool, budget=400, tokenizer="cl100k_base")

    assert due in context.text


def test_rows_alike_that_fit_come_first() -> None:
    """S9: where there is room for all rows with the same words, none waits for other texts."""
    rows = invoices(12)
    pool = [candidate("\n".join(rows), id="rows"), candidate(QUAY, id="quay")]
    context = assemble("Which invoices are there?", pool, budget=300, tokenizer="cl100k_base")

    assert all(row in context.text for row in rows)


def test_a_score_raises_no_sentence_beside_its_own() -> None:
    """J1: beside a sentence that its score put first, another gains by what the words say alone."""
    raised, by_words = 1.0, exp(-12)
    sure = candidate("The gate is shut. The boat is red.", id="sure", score=0.9)
    spans = ((0, 17), (18, 34))
    worths = (raised, by_words / 1_000)
    sentences = Sentences(spans=spans, leans=(0, 1), worths=worths, by_traits=by_words)
    asked = candidate("The mill is old.", id="asked", score=0.1)
    other = Sentences(spans=((0, 16),), leans=(0,), worths=(by_words / 5,), by_traits=by_words)
    pool = (replace(sure, sentences=sentences), replace(asked, sentences=other))
    budget = request("mill", budget=12)
    tracker = tracker_for_budget(budget.budget, budget.token_counter, None)
    shown = {c.candidate.id: c.rendition.text for c in pack_evidence(pool, tracker).chosen}

    assert shown == {"sure": "The gate is shut. …", "asked": asked.text}


def test_nothing_is_said_twice() -> None:
    """S9: a sentence that another candidate has said already is left out, with the reason."""
    said = "The lower gate opens first and the water falls by two metres in all."
    pool = (
        candidate(f"{said} The keeper waits.", id="a", score=0.9),
        candidate(said, id="b", score=0.8),
    )
    step = packed(pool, 60, "Which gate opens first?")

    assert sum(text.count(said) for text in texts_shown(step)) == 1
    assert [d.reason for d in step.decisions if d.action == "dropped"] == ["already_said"]


def test_the_other_policies_take_no_notice() -> None:
    """S9: sentences on offer change nothing for a policy that does not ask for them."""
    asked = request(QUERY, budget=20)
    pool = (candidate(MILL, id="a", score=0.9), candidate(QUAY, id="b", score=0.2))
    offered = Compress(offer="sentences", when="always")(pool, asked).candidates
    plain = Pack(policy="greedy")(pool, asked)
    beside = Pack(policy="greedy")(offered, asked)

    assert [c.shown for c in beside.candidates] == [c.shown for c in plain.candidates]


def test_a_chain_of_heads_is_kept_whole() -> None:
    """S8: a sentence that leans on one that leans on another is shown with both, or not at all."""
    chained = "The mill stands by the river. It has two wheels. They were carved by Ada Weir."
    pool = (candidate(chained, id="a", score=0.9), candidate(QUAY, id="b", score=0.2))
    query = "Who carved them, Ada Weir?"

    for budget in range(4, 40):
        for text in texts_shown(packed(pool, budget, query)):
            if "They were carved" in text:
                assert "The mill stands by the river. It has two wheels." in text
            assert "It has" not in text or "The mill stands" in text


def test_a_header_is_paid_once_for_a_document() -> None:
    """S9: where a format heads a document once, its other blocks do not pay for the header."""
    pages = [
        {
            "id": f"c{n}",
            "document_id": "book",
            "source": "a/very/long/path/to/the/only/book/of/the/house/in/many/parts.md",
            "sequence": 3 * n,
            "score": 1 - n / 100,
            "text": f"Gate {n} was built by Ada Weir in {1800 + n}. Here ends chapter {n}.",
        }
        for n in range(40)
    ]
    context = assemble("Which gate did Ada Weir build?", pages, budget=600, format="grouped")

    assert context.token_count > 540


def test_what_did_not_fit_was_not_said() -> None:
    """B8: where nothing fits, the budget is the reason, whatever was tried."""
    step = packed((candidate(MILL, id="a", score=0.9),), 1)

    assert [d.reason for d in step.decisions if d.action == "dropped"] == ["over_budget"]


def test_what_would_have_come_first_is_said() -> None:
    """D7: of sentences nobody can say at which budget they fit, but what waits before them."""
    pool = tuple(
        candidate(f"The mill {n} grinds corn and rye in autumn. " * 2, id=f"m{n}", score=9.0 - n)
        for n in range(4)
    )
    step = packed((candidate(MILL, id="a", score=10.0), *pool), 8, "Who built the mill in 1871?")
    numbers = {d.chunk_id: d.numbers for d in step.decisions if d.action == "dropped"}
    waiting = [int(numbers[f"m{n}"].get("likelier", 0)) for n in range(4)]

    assert waiting == sorted(waiting)
    assert waiting[-1] > 0
    assert all("short_by" not in said for said in numbers.values() if "likelier" in said)


def test_records_with_the_identifier_that_are_left_out_are_counted() -> None:
    """D7: who asks for an identifier is told that more records have it than are shown."""
    rows = "\n".join(f"ORD-{2041 + n % 5},{10 + n},valve,shelf {n}" for n in range(30))
    pool = (candidate(f"order,amount,part,place\n{rows}", id="a", score=1.0),)
    few, all_of_them = (packed(pool, n, "Where is ORD-2041?") for n in (12, 900))
    shown = few.candidates[0].shown.text.count("ORD-2041")

    assert 0 < shown < 6
    assert few.notes["with_the_identifier"] == 6
    assert few.notes["of_them_left_out"] == 6 - shown
    assert "with_the_identifier" not in all_of_them.notes


def test_what_would_be_next_fits_with_so_much_more() -> None:
    """D7: nothing waits before the next one, so with what it lacks it is shown."""
    one = candidate("Ada built the mill in 1871.", id="a", score=0.9)
    other = candidate("The bakery opened in 1890 at the far end of the lane.", id="b", score=0.8)
    tight = packed((one, other), 6, "Who built the mill in 1871?")
    (short,) = [int(d.numbers["short_by"]) for d in tight.decisions if "short_by" in d.numbers]
    wider = packed((one, other), 6 + short, "Who built the mill in 1871?")

    assert [c.id for c in tight.candidates] == ["a"]
    assert [c.id for c in wider.candidates] == ["a", "b"]


def test_a_half_new_text_is_not_said_already() -> None:
    """D7: what has something new to say was left out for want of room, and so it reads."""
    text = "Ada built the mill in 1871 and painted its gate green for the fair."
    pool = (candidate(MILL, id="a", score=0.9), candidate(text, id="b", score=0.8))
    tight = packed(pool, 20, "Who built the mill in 1871?")
    same = packed(
        (pool[0], candidate(MILL[:-1] + ".", id="c", score=0.1)), 60, "Who built the mill?"
    )

    assert {d.reason for d in tight.decisions if d.chunk_id == "b"} == {"over_budget"}
    assert {d.reason for d in same.decisions if d.chunk_id == "c"} == {"already_said"}


def single(text: str, number: int, worth: float) -> Candidate:
    """A text of one sentence that is worth so much, the one with the next number behind it."""
    one = Sentences(spans=((0, len(text)),), leans=(0,), worths=(worth,), by_traits=1.0)
    return replace(candidate(text, id=f"c{number}", score=1 - number / 500), sentences=one)


def with_worths(*worths: float) -> tuple[Candidate, ...]:
    """Texts of 20 words of their own, worth so much each."""
    texts = (" ".join(f"word{n}x{k}" for k in range(20)) for n in range(len(worths)))
    return tuple(single(text, n, worths[n]) for n, text in enumerate(texts))


def words_shown(step: Step) -> int:
    """How many words the reader would see."""
    return sum(len(text.split()) for text in texts_shown(step))


@pytest.mark.parametrize("rest", [exp(-15), exp(-30), 0.0])
@pytest.mark.parametrize("budget", [100, 900, 4_000])
def test_a_budget_is_used_whatever_the_rest_is_worth(rest: float, budget: int) -> None:
    """J2: beside one good sentence, what is unlikely fills the budget."""
    step = Pack(policy="value")(with_worths(1.0, *[rest] * 300), request(budget=budget))

    assert budget - 24 < words_shown(step) <= budget
    assert "stopped" not in step.notes


@given(candidates(), st.sampled_from(["pump gate", "zebra", ""]))
def test_a_pool_that_fits_is_shown(pool: tuple[Candidate, ...], query: str) -> None:
    """J2: whatever the question says; what was said already apart."""
    step = packed(pool, 100_000, query)
    left_out = {d.reason for d in step.decisions if d.action == "dropped"}

    assert left_out <= {"already_said", "no_match"}
    for one in step.candidates:
        if one.shown and one.sentences and one.shown.kind == "extract":
            inside = [any(a <= x < b for a, b in one.shown.spans) for x, _ in one.sentences.spans]
            hidden = [x for x, here in zip(one.sentences.spans, inside, strict=True) if not here]
            assert all(said_elsewhere(one.text[a:b], step) for a, b in hidden)


def said_elsewhere(text: str, step: Step) -> bool:
    """Whether each word of the text is in what is shown."""
    shown = " ".join(texts_shown(step)).casefold()
    return all(word in shown for word in re.findall(r"\w+", text.casefold()))


def test_lean_stops_at_half_of_the_budget_where_the_rest_is_unlikely() -> None:
    """J2: it says so, and what is likely is shown beyond."""
    lean = Pack(policy="value", fill="relevance")
    few = lean(with_worths(1.0, *[exp(-15)] * 300), request(budget=900))
    many = lean(with_worths(*[1.0] * 30, *[exp(-15)] * 300), request(budget=900))

    assert 450 - 24 < words_shown(few) <= 450
    assert words_shown(many) == 600
    assert few.notes["stopped"] == 301 - words_shown(few) // 20
    assert {d.reason for d in few.decisions if d.action == "dropped"} == {"unlikely"}


def test_lean_says_that_a_budget_is_too_small() -> None:
    """J2, B8: where nothing at all fits, the budget is the reason, and not a stop."""
    step = Pack(policy="value", fill="relevance")(with_worths(1.0, exp(-15)), request(budget=3))

    assert {d.reason for d in step.decisions if d.action == "dropped"} == {"over_budget"}
    assert "stopped" not in step.notes


def test_a_likely_sentence_that_says_little_new_comes_before_an_unlikely_one() -> None:
    """J2: also where the budget is small; what only fills comes last."""
    shared = " ".join(f"shared{k}" for k in range(20))
    texts = [
        (" ".join(f"other{k}" for k in range(40)), exp(-15)),
        (" ".join(f"another{k}" for k in range(40)), exp(-15)),
        (f"{shared} " + " ".join(f"first{k}" for k in range(20)), 1.0),
        (f"{shared} " + " ".join(f"second{k}" for k in range(20)), 0.9),
    ]
    pool = tuple(single(text, n, worth) for n, (text, worth) in enumerate(texts))
    step = Pack(policy="value")(pool, request(budget=85))

    assert [c.id for c in step.candidates] == ["c2", "c3"]


def _table(number: int, rows: range, *, sequence: int, names: str = "") -> Candidate:
    """A chunk of a table of a document; `names`: its header."""
    text = names + "".join(f"| A-{n} | {n} kg | Bern |\n" for n in rows)
    made = candidate(text, id=f"t{number}", document_id="d", sequence=sequence, score=0.1)
    return replace(made, chunk=replace(made.chunk, start=None, end=None))


TOWNS = [
    ["part", "kg", "town"],
    ["Boats", "", ""],
    *([f"A-{n}", str(40 + n), "Bern"] for n in range(30)),
]


def _lines(rows: list[list[str]]) -> dict[str, list[str]]:
    """The rows, of which the first has the names, as they stand in files."""
    tags = ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows]
    return {
        "markdown": [f"| {' | '.join(rows[0])} |\n|---|---|---|\n"]
        + [f"| {' | '.join(row)} |\n" for row in rows[1:]],
        "csv": [",".join(row) + "\n" for row in rows],
        "rows by ;": [";".join(row) + "\n" for row in rows],
        "html": [f"<table>{tags[0]}".replace("td>", "th>"), *tags[1:]],
    }


LINES = _lines(TOWNS)


def _leans_on(pool: tuple[Candidate, ...], holds: str) -> list[str]:
    """What the row with this text leans on, by their texts."""
    asked = request("How heavy is it?", budget=900)
    return _leans_among(Compress(offer="sentences", when="always")(pool, asked).candidates, holds)


def _leans_among(pool: tuple[Candidate, ...], holds: str) -> list[str]:
    some = request(budget=900)
    selection = build_selection(pool, tracker_for_budget(some.budget, some.token_counter, None))
    texts = [c.text[a:b] for c in selection.pool for a, b in c.sentences.spans]  # type: ignore[union-attr]
    row = next(n for n, text in enumerate(texts) if holds in text)
    return [texts[n].strip() for n in selection.with_heads(row)[1:]]


@pytest.mark.parametrize(("place", "names"), [(0, "part"), (1, ""), (2, "name"), ([0], "")])
def test_a_row_leans_on_the_names_that_its_metadata_say(place: object, names: str) -> None:
    """U2: on no others, where that chunk is not among the candidates or another table is nearer."""
    lines, others = LINES["markdown"], _lines([["name", "t", "port"], *TOWNS[2:9]])["markdown"]
    texts = {0: lines[:9], 2: others, 5: lines[20:]}
    pool = tuple(
        Candidate(
            chunk=Chunk(
                id=f"c{n}",
                document_id="d",
                sequence=n,
                text="".join(some),
                metadata={TABLE_NAMES: place} if n == 5 else {},
            ),
            score=0.5,
        )
        for n, some in texts.items()
    )
    found = _leans_on(pool, "A-25")

    assert [text.split()[1] for text in found] == [names] * bool(names)


@pytest.mark.parametrize("form", LINES)
@pytest.mark.parametrize(
    "line", ["of Bern\n", "of the hired ones, 7 kg\n", "How boats are weighed.\n\n"]
)
def test_rows_below_the_rest_of_a_row_go_on_below_the_names(form: str, line: str) -> None:
    """U2: and those below prose, with an empty line between, belong to another table."""
    lines = LINES[form]
    texts = "".join(lines[:9]), line + "".join(lines[20:])
    pool = tuple(
        Candidate(chunk=Chunk(id=f"c{n}", document_id="d", sequence=3 * n, text=text), score=0.5)
        for n, text in enumerate(texts)
    )

    assert any("town" in text for text in _leans_on(pool, "A-25")) is not line.endswith("\n\n")


@pytest.mark.parametrize("form", LINES)
@pytest.mark.parametrize("stitched", [True, False])
def test_a_row_of_words_is_no_row_of_names_where_those_are_in_an_earlier_chunk(
    form: str, *, stitched: bool
) -> None:
    """U2: by the metadata, in a passage too; it is a row, and is counted."""
    words = [[f"{letter} gate", f"of {letter}", f"at {letter}"] for letter in "abcdefghijkl"]
    lines = _lines([["part", "kg", "town"], *words])[form]
    first, later = "".join(lines[:6]), "".join(lines[6:])
    pool = (
        Candidate(chunk=Chunk(id="c0", document_id="d", sequence=0, text=first), score=0.5),
        Candidate(
            chunk=Chunk(
                id="c1",
                document_id="d",
                sequence=2 - stitched,
                text=later,
                metadata={TABLE_NAMES: 0},
            ),
            score=0.5,
        ),
    )
    found = Stitch()(pool, request()).candidates

    for row in ("f gate", "k gate"):
        assert ["town" in text for text in _leans_on(found, row)] == [True]
    shapes = [shape for one in found for shape in shapes_of(one.chunk, one.parts)]
    assert sum(len(counted.spans) for shape in shapes for counted in shape.counted) == len(words)


@pytest.mark.parametrize("form", ["markdown", "csv"])
def test_a_row_of_a_divided_passage_leans_on_the_names_of_its_columns(form: str) -> None:
    """U2 S10: in a passage of two chunks, they are in the other piece."""
    lines = LINES[form]
    texts = ("".join(lines[:9]).strip(), "".join(lines[9:]))
    pool = tuple(
        Candidate(chunk=Chunk(id=f"c{n}", document_id="d", sequence=n, text=text), score=n / 2)
        for n, text in enumerate(texts)
    )
    (passage,) = Stitch()(pool, request()).candidates
    asked = request("How heavy is A-25?")
    offered = Compress(offer="sentences", when="always")((passage,), asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(divide, "CONTRAST", 1)
        divided = Divide()(offered.candidates, asked).candidates

    assert len(divided) == 2
    assert ["town" in text for text in _leans_among(divided, "A-25")] == [True]


@pytest.mark.parametrize("budget", [60, 80, 110])
def test_a_passage_of_rows_of_words_is_divided(budget: int) -> None:
    """U2 S10: what the metadata of a chunk say of its rows is not said of the whole passage."""
    names = "| Member | Lives in | Badge |\n|---|---|---|\n"
    syllables = ["ba", "ko", "ri", "lu", "te", "mo", "sa", "ni"]
    people = [f"{a.title()}{b}{syllables[n % 5]}" for n, a in enumerate(syllables) for b in "xyzvw"]
    rows = [
        f"| {name} | Rom{'e' * (n % 4)} | blue{'ish' * (n % 3)} |" for n, name in enumerate(people)
    ]
    asked = people[30]
    pool = [
        {"id": f"d{n}", "document_id": "d", "text": text, "score": 0.5 + n / 3, "sequence": n}
        | ({"metadata": {TABLE_NAMES: 0}} if n else {})
        for n, text in enumerate((names + "\n".join(rows[:20]), "\n".join(rows[20:])))
    ]
    shown = assemble(f"What is the badge of {asked}?", pool, budget=budget).text

    assert (asked in shown, "Member" in shown, people[20] in shown) == (True, True, False)
    marks = re.findall(r"(\d+)(?: of (\d+))? rows", shown)  # all of them are 20 rows
    counts = [(int(number), int(total or number)) for number, total in marks]
    assert {total for _, total in counts} == {20}
    left_out = sum(number for number, _ in counts)
    assert left_out == len(rows) - sum(name in shown for name in people)


def test_work_grows_with_the_tables_of_a_chunk() -> None:
    """U2: twice as many tables that go on without names take twice the work to link."""
    made = []
    for count in (100, 200):
        row = "<tr><td>{}</td><td>1</td><td>2</td></tr>"
        tables = [row.replace("td", "th").format("part"), *map(row.format, range(2 * count))]
        text = "".join(
            f"<table>{''.join(tables[at : at + 2])}</table>\n" for at in range(0, 2 * count, 2)
        )
        asked = request("How heavy is it?", budget=900)
        pool = Compress(offer="sentences", when="always")((candidate(text),), asked).candidates
        tracker, events = tracker_for_budget(asked.budget, asked.token_counter, None), 0

        def note(_frame: object, _event: str, _what: object) -> None:
            nonlocal events
            events += 1

        sys.setprofile(note)
        try:
            selection = build_selection(pool, tracker)
        finally:
            sys.setprofile(None)
        assert set(selection.heads[1:]) == {0}
        made.append(events)
    assert made[1] < 2.5 * made[0]


def _rows_of(pool: tuple[Candidate, ...], budget: int) -> dict[str, str]:
    step = packed(pool, budget, "How heavy is A-25?")
    return {c.id: c.shown.text for c in step.candidates if c.shown is not None}


def test_a_head_that_is_shown_for_a_later_chunk_brings_no_rows_of_its_own() -> None:
    """U2 J3: the names of the columns open no block for rows that nothing speaks for."""
    names = "| part | weight | town |\n|---|---|---|\n"
    others = tuple(candidate(f"Boats number {n}.", id=f"b{n}", score=0.9) for n in range(4))
    first = _table(1, range(10, 20), sequence=0, names=names)
    shown = _rows_of((*others, first, _table(2, range(20, 30), sequence=1)), 150)

    assert "A-25" in shown["t2"]
    assert "weight" in shown["t1"]
    assert "A-1" not in shown["t1"]


def test_a_table_that_ended_lends_its_head_to_no_later_chunk() -> None:
    """U2: only what goes on at the end of a chunk can be the table that the next begins with."""
    names = "| part | weight | town |\n|---|---|---|\n"
    others = tuple(candidate(f"Boats number {n}.", id=f"b{n}", score=0.9) for n in range(4))
    first = _table(1, range(10, 20), sequence=0, names=names)
    ended = replace(first, chunk=replace(first.chunk, text=first.text + "\nThat is the list."))
    shown = _rows_of((*others, ended, _table(2, range(20, 30), sequence=1)), 150)

    assert "A-25" in shown["t2"]
    assert "t1" not in shown


@pytest.mark.parametrize("recipe", ["reranked", "citations", "chat", "factual-qa"])
def test_recipes_of_whole_chunks_cut_what_does_not_fit(recipe: str) -> None:
    """J8, S9: room that is left shows the beginning of the next chunk, up to a sentence's end."""
    texts = [" ".join(f"Gate {n} of mill {k} is made of oak." for n in range(20)) for k in "abc"]
    pool = [candidate(text, id=f"c{n}", score=1 - n / 10) for n, text in enumerate(texts)]
    context = assemble("Which gate is of oak?", pool, budget=360, recipe=recipe)
    cut = [block for block in context.blocks if block.rendition == "truncated"]

    assert context.token_count > 300
    assert len(cut) == 1
    assert cut[0].text.rstrip("… ").endswith("oak.")


def texts_of(*texts: str) -> list[dict[str, object]]:
    """Texts of documents of their own, the best first."""
    return [
        {"text": text, "source": f"{n}.md", "score": 0.9 - n / 10} for n, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        (
            "How often is it oiled?",
            [
                f"# {name} pump\n\n{said}"
                for said in (
                    "The pressure is {} bar at the start of the season.",
                    "It must be oiled every month by the house master of hall {}.",
                )
                for name in ("Alpha", "Beta")
            ],
        ),
        (
            "Which inspections have passed?",
            [f"Inspection {n}.\n\nStatus: passed\n\nDate: 3 May {n}" for n in (2021, 2022)],
        ),
        (
            "Which pressure does the old boiler hold?",
            [
                f"The {n}th store was counted.\n\n| Part | Price |\n|---|---|\n| bolt {n} | 12 |"
                for n in range(4, 9)
            ],
        ),
    ],
)
def test_short_pieces_are_not_said_by_those_of_other_texts(query: str, texts: list[str]) -> None:
    """J2, V4: headings, names of columns and short facts stand in each text that fits."""
    texts = [text.format(n) if "{}" in text else text for n, text in enumerate(texts)]
    context = assemble(query, texts_of(*texts), budget=2_000)

    assert all(text in context.text for text in texts)


@pytest.mark.parametrize("budget", range(600, 1_300, 100))
def test_rows_that_fill_are_shown_with_the_names_of_their_columns(budget: int) -> None:
    """V4: also those whose names are in an earlier chunk."""
    cranes = [
        " ".join(f"Crane {n} of quay {k} lifts {n * k} tonnes." for n in range(9)) for k in range(6)
    ]
    rows = [
        "\n".join(f"| item {k}{n} | {n * 7} | shelf {n} |" for n in range(m))
        for k, m in (("a", 60), ("b", 8))
    ]
    table = [
        {
            "text": f"| Part | Price | Place |\n|---|---|---|\n{rows[0]}",
            "source": "t.md",
            "score": 0.2,
        },
        {"text": rows[1], "source": "t.md", "score": 0.1},
    ]
    shown = assemble("How many tonnes?", [*texts_of(*cranes), *table], budget=budget).text

    assert "| item" not in shown or "| Part | Price | Place |" in shown


def test_lean_calls_unlikely_what_is() -> None:
    """J2, B8: what is as likely as what is shown was left out for want of room."""
    halls = [
        f"The pressure of the old boiler in hall {n} is {n} bar, as {n * 37} people of "
        f"the company wrote into the large red book in {1900 + n}."
        for n in range(10)
    ]
    others = ["Ducks swim.", "Rain falls.", "Trees grow."]
    pool = [*({**one, "score": 0.9} for one in texts_of(*halls)), *texts_of(*others)]
    pool = [{**one, "source": f"{n}.txt"} for n, one in enumerate(pool)]
    context = assemble("What is the pressure of the old boiler?", pool, budget=160, recipe="lean")
    (pack,) = (entry for entry in context.trace if entry.stage == "pack")
    reasons = {
        d.reason for d in pack.decisions if d.action == "dropped" and d.numbers["tokens"] > 20
    }

    assert reasons == {"over_budget"}


def test_over_budget_is_said_only_of_what_does_not_fit() -> None:
    """D7: what would fit in what is left is unlikely or said already, at every budget."""
    valve = "The valve of the boiler opens at 3 {} and closes below that. It is checked in spring."
    found = [
        *({"text": valve.format(unit), "source": unit, "score": 0.9} for unit in ("bar", "psi")),
        *({"text": f"Letter {n} was sorted by the concierge.", "score": 0.5} for n in range(30)),
    ]
    for recipe in ("default", "lean", "tight"):
        for budget in range(40, 900, 43):
            context = assemble("When is the valve checked?", found, budget=budget, recipe=recipe)
            (pack,) = [entry for entry in context.trace if entry.stage == "pack"]
            room = budget - int(pack.notes["tokens"])
            short = [d for d in pack.decisions if d.reason == "over_budget"]
            assert all(int(d.numbers["tokens"]) > room for d in short), (recipe, budget)
