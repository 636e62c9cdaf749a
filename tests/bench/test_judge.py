"""The judge, on texts made by hand."""

from __future__ import annotations

from bench.peers.judge import judge
from bench.peers.workload import Row, Truth, Workload

BODY = (
    "The {0} of the mill was built by the carpenter of the village in one dry summer. "
    "Its {0} carries the load of the roof and of all that lies below it in the yard."
)
TAIL = " Whoever repairs the wheel takes the long ladder from the barn beside the stable door."
A = BODY.format("beam") + TAIL
B, C = (BODY.format(word) for word in ("wall", "stair"))
AFTER = TAIL.strip() + " " + BODY.format("sluice")  # begins with the end of A
NEAR_B = B.replace("built by", "then built by")
FACT = "The mill of Orrin grinds nine sacks of rye on a windy day."


def row(name: str, text: str, rank: int, *, document: str = "d1", start: int = 0) -> Row:
    """A candidate of about fifty tokens."""
    return Row(
        id=name,
        document=document,
        title="Mill",
        sequence=rank,
        start=start,
        end=start + len(text),
        text=text,
        score=1 - rank / 10,
        tokens=len(text.split()),
    )


ROWS = (
    row("a", A, 0, start=0),
    row("b", B, 1, document="d2"),
    row("near-b", NEAR_B, 2, document="d3"),
    row("a-again", A, 3, document="d4"),
    row("after-a", AFTER, 4, start=len(A) - len(TAIL.strip())),
    row("c", f"{C} {FACT}", 5, document="d5"),
)
TRUTHS = (
    Truth(kind="base", group=0),
    Truth(kind="base", group=1),
    Truth(kind="near", group=1),
    Truth(kind="exact", group=0),
    Truth(kind="adjacent", group=4, after="a", overlap=len(TAIL.strip())),
    Truth(kind="base", group=5),
)
WORKLOAD = Workload(
    rows=ROWS,
    truths=TRUTHS,
    vectors=None,
    query_vector=None,
    facts=({"text": FACT, "where": "top", "ids": ["c"]},),
    about={},
)


def judged(*texts: str, budget: int = 1_000) -> dict:
    """The figures for these texts as numbered blocks."""
    text = "\n\n".join(f"[{n}] Mill\n{t}" for n, t in enumerate(texts, 1))
    return judge(text, WORKLOAD, budget, lambda t: len(t.split()))


def test_a_good_context_has_no_fault():
    """Every text once, overlap cut, in order: all distinct chunks, no counts."""
    found = judged(A + " " + BODY.format("sluice"), B, f"{C} {FACT}")

    assert (found["whole"], found["trimmed"], found["distinct"]) == (4, 0, 4)
    assert (found["ideal"], found["evidence"]) == (1.0, 1.0)
    assert {found[name] for name in ("over", "exact", "near", "worse", "repeated")} == {0}
    assert (found["inversions"], found["steps"], found["cuts"]) == (0, 1, 0)


def test_a_chunk_without_its_overlap_counts_as_there():
    """Its head stands in the block before it."""
    found = judged(A, BODY.format("sluice"))

    assert (found["whole"], found["trimmed"], found["distinct"]) == (1, 1, 2)
    assert found["repeated"] == 0


def test_copies_are_counted_beyond_the_first():
    """An exact copy, and a near one."""
    found = judged(A, B, A, NEAR_B)

    assert (found["exact"], found["near"]) == (1, 1)
    assert found["distinct"] == 2


def test_a_worse_copy_is_no_fault_where_it_is_fuller():
    """The better ranked copy is expected, or one that says more."""
    assert judged(B)["worse"] == 0
    assert judged(NEAR_B)["worse"] == 0

    fuller = B.replace("built", "").replace("summer", "")
    rows = (ROWS[0], row("b", B, 1, document="d2"), row("n", fuller, 2, document="d3"), *ROWS[3:])
    workload = Workload(
        rows=rows, truths=TRUTHS, vectors=None, query_vector=None, facts=(), about={}
    )
    assert judge(fuller, workload, 1_000, len)["worse"] == 1


def test_an_overlap_that_stands_twice_is_counted():
    """The adjacent chunk as it is repeats the end of the one before it."""
    found = judged(A, AFTER)

    assert found["repeated"] == 1
    assert found["trimmed"] == 0


def test_order_inside_a_document():
    """The later chunk of a document before the earlier one is one inversion in one step."""
    found = judged(BODY.format("sluice"), A, B)

    assert (found["inversions"], found["steps"]) == (1, 1)


def test_over_the_budget_by_the_given_count():
    """Tokens over, not a share."""
    found = judged(A, budget=10)

    assert found["over"] == found["tokens"] - 10 > 0


def test_a_cut_inside_a_sentence_is_counted_at_each_end():
    """A piece that begins and ends inside sentences has two; a chunk's own edges are none."""
    piece = (B + " " + C)[8:-20]

    assert judged(piece)["cuts"] == 2
    assert judged(A + " […] " + B.replace("load", "weight") + " " + C[:-20])["cuts"] == 1
    assert judged(A, B)["cuts"] == 0


def test_evidence_is_the_share_of_words_in_matching_runs():
    """All of it, none of it, some of it."""
    some = " ".join(FACT.split()[:6])

    assert judged(f"Also: {FACT}")["evidence"] == 1.0
    assert judged(A)["evidence"] == 0.0
    assert judged(some)["evidence"] == round(6 / 13, 4)


def test_the_ideal_is_what_fits():
    """With room for two chunks, the two best distinct ones are the ideal."""
    room = 2 * (len(A.split()) + 12)

    assert judged(A, budget=room)["ideal"] == 0.5
    assert judged(A, B, budget=room)["ideal"] == 1.0
    assert judged(C, budget=room)["ideal"] == 0.0
