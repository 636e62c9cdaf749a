"""Pack: what is shown, how much of it, and why the rest is not."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.errors import BadOption
from foveate.core.stages.pack import Overflow, Pack
from foveate.core.types import Candidate, Chunk, Part, Rendition, Step
from foveate.core.zones import Budget
from foveate.testing.fakes import candidate, request

POLICIES = tuple(Pack.policies)


def words(n: int, word: str = "w") -> str:
    """A text of n words."""
    return " ".join(f"{word}{i}" for i in range(n))


def kept(step: Step) -> dict[str, str]:
    """Which candidates are shown, and how."""
    return {c.id: c.shown.kind for c in step.candidates if c.shown is not None}


def left_out(step: Step) -> dict[str, str]:
    """Which are not, and why."""
    return {d.chunk_id: d.reason for d in step.decisions if d.action == "dropped"}


@pytest.fixture
def four() -> tuple[Candidate, ...]:
    """The published packing vector: A 50 tokens at 0.9, B 100, C 30, D 80."""
    rows = (("A", 50, 0.9), ("B", 100, 0.85), ("C", 30, 0.8), ("D", 80, 0.75))
    return tuple(candidate(words(n), score, id=name, source=name) for name, n, score in rows)


def test_packing_vector(four: tuple[Candidate, ...]) -> None:
    """P1: with 10 tokens a document and a budget of 150, A and C: 80 content tokens, none cut."""
    step = Pack(policy="greedy", per_document=10)(four, request(budget=150))

    assert kept(step) == {"A": "verbatim", "C": "verbatim"}
    assert sum(len(c.text.split()) for c in step.candidates) == 80
    assert step.notes["tokens"] == 100
    assert left_out(step) == {"B": "over_budget", "D": "over_budget"}


def test_counterfactuals(four: tuple[Candidate, ...]) -> None:
    """D7: what was left out says by how many tokens, and to whom by how much."""
    step = Pack(policy="greedy")(four, request(budget=150))
    numbers = {d.chunk_id: (d.by, dict(d.numbers)) for d in step.decisions}

    assert kept(step) == {"A": "verbatim", "B": "verbatim"}
    assert numbers["C"] == ("B", {"tokens": 30, "short_by": 30, "lost_by": 0.05})
    assert numbers["D"] == ("B", {"tokens": 80, "short_by": 80, "lost_by": 0.1})
    assert kept(Pack(policy="greedy")(four, request(budget=180))) == {
        "A": "verbatim",
        "B": "verbatim",
        "C": "verbatim",
    }


@pytest.mark.parametrize("policy", POLICIES)
@given(
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=12),
    budget=st.integers(1, 120),
    data=st.data(),
)
def test_never_over(policy: str, sizes: list[int], budget: int, data: st.DataObject) -> None:
    """S9: the sum of what is taken never passes the budget, whatever the policy."""
    pool = tuple(
        candidate(
            words(n, f"{i}x"),
            data.draw(st.floats(-2, 2, width=16)),
            id=f"c{i}",
            document_id=f"d{i % 3}",
        )
        for i, n in enumerate(sizes)
    )
    overflow = data.draw(st.sampled_from([None, *get_args(Overflow)]))
    step = Pack(policy=policy, overflow=overflow, min_tokens=1)(pool, request(budget=budget))

    assert sum(len(c.shown.text.split()) for c in step.candidates if c.shown) <= budget
    assert set(kept(step)) | set(left_out(step)) == {c.id for c in pool}


def test_truncates_at_a_sentence_end() -> None:
    """S9: a cut chunk ends with a sentence and the mark, and the trace says so."""
    text = "One two three four five. Six seven eight nine ten. Eleven twelve thirteen fourteen."
    step = Pack(policy="greedy", overflow="truncate", min_tokens=3)(
        (candidate(text, id="a"),), request(budget=12)
    )

    assert step.candidates[0].shown is not None
    assert step.candidates[0].shown.text == ("One two three four five. Six seven eight nine ten. …")
    assert step.candidates[0].shown.spans == ((0, 50),)
    assert kept(step) == {"a": "truncated"}


@pytest.mark.parametrize("policy", ["greedy", "interleaved", "groups"])
@pytest.mark.parametrize("sizes", [(10, 3, 3), (3, 10, 3), (10, 10, 6), (10, 6, 10)])
def test_the_best_is_cut_before_lesser_ones_take_its_place(policy: str, sizes: tuple[int, ...]):
    """S9, J1: in the order of score, each whole or cut, until nothing more fits."""
    pool = tuple(
        candidate("One two three four. " * n, -i, id=f"c{i}", document_id="d")
        for i, n in enumerate(sizes)
    )
    step = Pack(policy=policy, overflow="truncate", min_tokens=1)(pool, request(budget=36))

    shown = [c.shown.text.count(".") for c in step.candidates if c.shown]
    room = (36 - 1) // 4
    assert shown == [*sizes[: len(shown) - 1], room - sum(sizes[: len(shown) - 1])]


def test_truncates_at_a_token_on_request() -> None:
    """S9: `cut="token"` takes as many whole words as fit, and never part of one."""
    step = Pack(policy="greedy", overflow="truncate", min_tokens=1, cut="token")(
        (candidate(words(40), id="a"),), request(budget=10)
    )

    assert step.candidates[0].shown is not None
    assert step.candidates[0].shown.text == f"{words(9)} …"


def test_too_little_left_is_not_worth_a_cut() -> None:
    """S9: with 3 * min_tokens or less left, nothing is truncated."""
    step = Pack(policy="greedy", overflow="truncate", min_tokens=20)(
        (candidate(words(100), id="a"),), request(budget=60)
    )

    assert kept(step) == {}


def test_stop_drops_the_tail() -> None:
    """S9: `score_weighted` stops at the first that does not fit; the rest say so."""
    pool = tuple(
        candidate(words(n), score, id=i)
        for i, n, score in (("a", 5, 0.9), ("b", 50, 0.8), ("c", 5, 0.7))
    )
    step = Pack(policy="score_weighted")(pool, request(budget=20))

    assert kept(step) == {"a": "verbatim"}
    assert left_out(step) == {"b": "over_budget", "c": "after_stop"}


def test_documents_go_whole() -> None:
    """S9: `documents` takes whole groups, best first, and drops the tail groups."""
    pool = tuple(
        candidate(words(10, i), score, id=i, document_id=i[0], sequence=int(i[1]))
        for i, score in (("a1", 0.5), ("a2", 0.4), ("b1", 0.9), ("b2", 0.1), ("c1", 0.3))
    )
    step = Pack(policy="documents")(pool, request(budget=45))

    assert set(kept(step)) == {"a1", "a2", "b1", "b2"}
    assert left_out(step) == {"c1": "document_over_budget"}


def test_best_document_too_large_keeps_its_best() -> None:
    """S9: where even the best document does not fit, its best chunks stand in for it."""
    pool = tuple(
        candidate(words(10, i), score, id=i, document_id="d")
        for i, score in (("x", 0.1), ("y", 0.9), ("z", 0.5))
    )
    step = Pack(policy="documents")(pool, request(budget=20))

    assert set(kept(step)) == {"y", "z"}


def test_interleaved_takes_turns() -> None:
    """S9: `interleaved` goes round the documents before it takes a second of any."""
    pool = tuple(
        candidate(words(10, i), score, id=i, document_id=i[0])
        for i, score in (("a1", 0.9), ("a2", 0.8), ("a3", 0.7), ("b1", 0.2), ("c1", 0.1))
    )
    step = Pack(policy="interleaved")(pool, request(budget=30))

    assert set(kept(step)) == {"a1", "b1", "c1"}


def test_characters_beside_tokens() -> None:
    """B6: a character budget holds alone and beside tokens."""
    pool = tuple(candidate("x" * 40, 1 - n / 10, id=f"c{n}") for n in range(5))
    alone = Pack(policy="greedy")(
        pool, request(budget=Budget(documents=None, characters=100, window=None))
    )
    beside = Pack(policy="greedy")(
        pool, request(budget=Budget(documents=1, characters=100, window=None))
    )

    assert set(kept(alone)) == {"c0", "c1"}
    assert set(kept(beside)) == {"c0"}


def offered(n: int, score: float, name: str) -> Candidate:
    """A candidate with a half and a quarter of itself on offer."""
    base = candidate(words(n, name), score, id=name)
    shares = ((n // 2, 0.7), (n // 4, 0.4))
    ways = tuple(
        Rendition(kind="extract", text=words(k, name), spans=((0, len(words(k, name))),), value=v)
        for k, v in shares
    )
    return replace(base, renditions=ways)


def test_value_shortens_to_cover_more() -> None:
    """S9: `value` chooses chunk and rendition together: two halves beat one whole."""
    pool = (offered(40, 0.9, "a"), offered(40, 0.9, "b"))
    step = Pack(policy="value")(pool, request(budget=40))

    assert kept(step) == {"a": "extract", "b": "extract"}


def test_value_shows_all_in_full_when_there_is_room() -> None:
    """S8: with room for everything nothing is shortened."""
    pool = (offered(40, 0.9, "a"), offered(40, 0.1, "b"))
    step = Pack(policy="value")(pool, request(budget=80))

    assert kept(step) == {"a": "verbatim", "b": "verbatim"}


def passage(scores: tuple[float, ...], size: int) -> Candidate:
    """A stitched passage of chunks of `size` words each, with these scores."""
    texts = [words(size, f"p{n}-") for n in range(len(scores))]
    starts = [sum(len(t) + 1 for t in texts[:n]) for n in range(len(texts))]
    parts = tuple(
        Part(chunk=Chunk(text=t, id=f"p{n}"), span=(a, a + len(t)), score=score)
        for n, (t, a, score) in enumerate(zip(texts, starts, scores, strict=True))
    )
    chunk = Chunk(text=" ".join(texts), id="p0", document_id="p")
    return Candidate(chunk=chunk, score=max(scores), parts=parts)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_passage_too_large_shows_its_best_chunk(policy: str) -> None:
    """S6: stitching never costs evidence: what does not fit whole is shown as its best chunks."""
    step = Pack(policy=policy)((passage((0.2, 0.9, 0.3), 10),), request(budget=14))
    (one,) = step.candidates

    assert one.shown is not None
    assert one.shown.text == words(10, "p1-")
    assert one.shown.kind == "extract"
    assert one.text[slice(*one.shown.spans[0])] == one.shown.text


def test_parts_that_do_not_touch_are_marked() -> None:
    """S6: of a passage in part, what is left out between two chunks is marked."""
    step = Pack(policy="greedy")((passage((0.9, 0.1, 0.8), 10),), request(budget=21))
    (one,) = step.candidates

    assert one.shown is not None
    assert one.shown.text == f"{words(10, 'p0-')} […] {words(10, 'p2-')}"


def test_cap_prefers_the_shorter_rendition() -> None:
    """S8: a chunk over the cap is shown in the rendition that was offered for it."""
    pool = (offered(40, 0.9, "a"), candidate(words(10, "b"), 0.1, id="b"))
    step = Pack(policy="greedy", cap=30)(pool, request(budget=500))

    assert kept(step) == {"a": "extract", "b": "verbatim"}


def test_every_exclusion_is_counted() -> None:
    """B8: the trace carries how many chunks and tokens the budget kept out."""
    pool = tuple(candidate(words(10, f"{n}y"), n, id=f"c{n}") for n in range(4))
    step = Pack(policy="greedy")(pool, request(budget=20))

    assert (step.notes["excluded"], step.notes["excluded_tokens"]) == (2, 20)


@pytest.mark.parametrize(
    "options",
    [
        {"policy": "best"},
        {"overflow": "explode"},
        {"cut": "byte"},
        {"min_tokens": -1},
    ],
    ids=lambda options: next(iter(options)),
)
def test_refuses(options: dict[str, object]) -> None:
    """X1: an option without a meaning is refused with what is allowed."""
    with pytest.raises(BadOption, match=next(iter(options))):
        Pack(**options)  # type: ignore[arg-type]
