"""Worth: which sentences of a pool are likely to hold what is asked for."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import isclose
from operator import mul
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.stages.compress.features import (
    COMMON,
    K1,
    RARE,
    B,
    common_terms,
    compute_features,
    standard,
)
from foveate.core.stages.compress.features import bm25 as matched
from foveate.core.stages.compress.score import WEIGHTS, score_sentences
from foveate.core.stages.compress.table import Table, build_table, query_keys, rarity
from foveate.core.stages.compress.unit_words import FACTORS, GRAM, runs_of, text_runs
from foveate.core.stages.pack.evidence import UNLIKELY
from foveate.core.text.terms import document_terms, keys
from foveate.core.text.word_arrays import number_of
from foveate.core.types import Candidate, Chunk, Part
from foveate.testing.fakes import candidate
from foveate.testing.strategies import candidates, texts


def best(pool: list[Candidate], query: str, language: str = "en") -> str:
    """The sentence of the highest worth."""
    found = score_sentences(pool, query, language).by_candidate
    rows = [
        (worth, c.text[a:b])
        for c in pool
        for (a, b), worth in zip(found[c.id].spans, found[c.id].worths, strict=True)
    ]
    return max(rows)[1]


@pytest.mark.parametrize(
    ("language", "query", "asked", "other"),
    [
        ("en", "Who built the weir?", "Ada built the weir in May.", "Boats are hired by the hour."),
        ("de", "Wer baute das Wehr?", "Ada baute das Wehr im Mai.", "Boote gibt es am Kai."),
        ("fr", "Qui construit le barrage ?", "Ada construit le barrage.", "Les bateaux partent."),
        ("es", "¿Quién construyó la presa?", "Ada construyó la presa.", "Los barcos salen ya."),
        ("zh", "谁修建了水坝？", "阿达修建了水坝。", "码头出租小船。"),
        ("en", "What does open_gate do?", "def open_gate(n): lift(n)", "def close_all(): stop()"),
    ],
)
def test_the_sentence_that_was_asked_for(language: str, query: str, asked: str, other: str) -> None:
    """S8: in five languages and in code, the asked-for sentence is worth the most."""
    pool = [candidate(other, id="a", score=0.5), candidate(asked, id="b", score=0.5)]

    assert best(pool, query, language) == asked


def test_word_forms_meet() -> None:
    """S8: "filmed" is found by "film", as terms are compared by their first letters."""
    pool = [candidate("It was filmed in May.", id="a"), candidate("It was sold in May.", id="b")]

    assert best(pool, "Where did they film it?") == "It was filmed in May."


def test_a_title_that_is_asked_for_counts() -> None:
    """S8: of two equal sentences, the one whose title the question names is worth more."""
    rows = [
        Chunk(text="It opened in spring.", id=title, title=title, document_id=title)
        for title in ("Mill bridge", "Castle hill")
    ]
    found = score_sentences(
        [Candidate(chunk=c, score=1.0) for c in rows], "When was Mill bridge made?"
    ).by_candidate

    assert found["Mill bridge"].worths[0] > found["Castle hill"].worths[0]


def test_a_heading_that_is_asked_for_speaks_for_its_section() -> None:
    """S8: of two equal sentences, the one under the heading that is asked for is worth more."""
    sections = [f"## {name}\n\nIt has three legs. It opened in spring." for name in ("Mill", "Inn")]
    text = "\n\n".join(sections)
    (one,) = score_sentences(
        [candidate(text, id="a")], "When was the mill made?"
    ).by_candidate.values()

    assert [text[a:b] for a, b in (one.spans[2], one.spans[5])] == ["It opened in spring."] * 2
    assert one.worths[2] > one.worths[5]


def test_a_bridge_to_the_second_document() -> None:
    """S8: a document that a good sentence names is worth more, though it shares no word."""
    said = "The poet Ilse Brandt was born in Uferstadt."
    pool = [
        Candidate(chunk=Chunk(text=text, id=title, title=title, document_id=title), score=score)
        for title, text, score in (
            ("Ilse Brandt", said, 0.9),
            ("Uferstadt", "A wide stream flows past the quay.", 0.5),
            ("Kornfeld", "A wide stream flows past the quay.", 0.5),
        )
    ]
    found = score_sentences(pool, "Where was the poet Ilse Brandt born?").by_candidate

    assert found["Uferstadt"].worths[0] > found["Kornfeld"].worths[0]


def test_a_score_speaks_for_the_share_of_a_sentence_that_is_in_its_chunk() -> None:
    """J1: a chunk that is set apart, and has the end of a sentence, does not set that apart."""
    text = "Salt came by the river in flat boats. The boiler is fed by a pipe of clay. It is old."
    cuts = [0, 30, 70, len(text)]
    parts = tuple(
        Part(chunk=Chunk(id=f"c{n}", text=text[a:b]), span=(a, b), origin="retrieved", score=score)
        for n, (a, b, score) in enumerate(zip(cuts, cuts[1:], (0.1, 0.9, 0.1), strict=False))
    )
    stitched = replace(candidate(text, id="c0"), parts=parts)
    table = build_table([stitched], "Which pipe?", "en")
    worths = score_sentences([stitched], "Which pipe?").by_candidate["c0"].worths

    assert table.chunks.tolist() == [1, 1, 2]
    assert table.inside.tolist() == [7 / 37, 32 / 36, 1.0]
    assert worths[0] < worths[1] / 1e6
    even = tuple(replace(part, score=0.9) for part in parts)
    table = build_table([replace(stitched, parts=even)], "Which pipe?", "en")
    assert table.inside.tolist() == [1.0, 1.0, 1.0]


def test_a_score_speaks_for_all_of_a_sentence_of_which_half_is_in_its_chunk() -> None:
    """J1: where a chunk ends is chance; below a half, the score says less and less."""
    text = "Salt came by the river in flat boats. The boiler is fed by a pipe of clay. It is old."
    start, end = text.index("The boiler"), text.index(" It is")
    others = [candidate(f"Pipe {n} is grey.", id=f"o{n}", score=0.1) for n in range(9)]

    def gain(share: float) -> float:
        cut = round(end - (end - start) * share)
        parts = tuple(
            Part(chunk=Chunk(id=f"c{n}", text=text[a:b]), span=(a, b), origin="retrieved", score=s)
            for n, (a, b, s) in enumerate([(0, cut, 0.1), (cut, len(text), 0.99)])
        )
        pool = [replace(candidate(text, id="c0", score=0.99), parts=parts), *others]
        worths = score_sentences(pool, "Which pipe?").by_candidate["c0"].worths
        return worths[1] / worths[2]

    assert gain(0.5) == gain(0.75) == gain(1.0) > gain(0.4) > gain(0.2)


@given(candidates(), st.integers(0, 99))
def test_the_order_of_the_pool_does_not_matter(pool: tuple[Candidate, ...], seed: int) -> None:
    """D1: worths are the same, to the last bit, however the candidates came in."""
    shuffled = list(pool)
    Random(seed).shuffle(shuffled)

    assert (
        score_sentences(shuffled, "pump gate").by_candidate
        == score_sentences(pool, "pump gate").by_candidate
    )


@given(candidates())
def test_every_sentence_has_a_worth(pool: tuple[Candidate, ...]) -> None:
    """S8: worths lie between 0 and 1, the best is 1, and there is one for each sentence."""
    found = score_sentences(pool, "Which pump?").by_candidate
    worths = [w for s in found.values() for w in s.worths]

    assert set(found) == {c.id for c in pool}
    assert all(len(s.spans) == len(s.worths) == len(s.leans) for s in found.values())
    assert all(0 <= w <= 1 for w in worths)
    assert not worths or max(worths) == 1.0


def bm25(table: Table, terms: tuple[str, ...]) -> list[float]:
    """The textbook formula, unit by unit."""
    rows = []
    for p in table.passages:
        for a, b in p.units.spans:
            said = keys(document_terms(p.candidate.text[a:b]))
            rows.append(({t: said.count(t) for t in terms}, len(said)))
    mean = sum(length for _, length in rows) / len(rows)
    holders = {t: sum(tf[t] > 0 for tf, _ in rows) for t in terms}
    return [
        sum(
            rarity(holders[t], len(rows))
            * tf[t]
            * (K1 + 1)
            / (tf[t] + K1 * (1 - B + B * length / mean))
            for t in terms
            if tf[t]
        )
        for tf, length in rows
    ]


@given(candidates())
def test_match_is_bm25(pool: tuple[Candidate, ...]) -> None:
    """S8: units are matched by BM25 as the literature has it."""
    query = "pump gate water"
    made = build_table(pool, query, "en")
    expected = bm25(made, query_keys(query)) if made.units else []

    found = matched(made).tolist()
    assert len(found) == len(expected)
    assert all(isclose(a, b, abs_tol=1e-9) for a, b in zip(found, expected, strict=True))


@given(candidates())
def test_every_trait_has_a_weight(pool: tuple[Candidate, ...]) -> None:
    """S8: the traits are those that are weighed, a number for each unit."""
    made = build_table(pool, "Which pump?", "en")
    found = compute_features(made)

    assert set(found) == set(WEIGHTS)
    assert {len(values) for values in found.values()} == {made.units}


def test_scores_that_are_all_alike_say_nothing() -> None:
    """S8: equal scores are no deviation; the empty pool has none."""
    assert standard([0.3, 0.3, 0.3]).tolist() == [0.0, 0.0, 0.0]
    assert standard([]).tolist() == []
    assert standard([1.0, 3.0]).tolist() == [-1.0, 1.0]
    assert standard([1e308, -1e308]).tolist() == [1.0, -1.0]


def test_one_high_score_makes_no_noise_of_a_large_pool() -> None:
    """J1, J2: beside a score far above all others, the sentence that answers is worth showing."""
    texts = [f"Boat {n} is hired by the hour." for n in range(1_000)]
    pool = [candidate(text, id=f"b{n}", score=0.01) for n, text in enumerate(texts)]
    pool[0] = candidate("Who owned the mill is told on page two.", id="high", score=0.99)
    pool[1] = candidate("Ada built it of stone in 1871.", id="answer", score=0.02)
    found = score_sentences(pool, "Who built the mill?").by_candidate["answer"]

    assert found.worths[0] > found.by_traits * UNLIKELY


@given(candidates())
def test_common_words_are_those_in_many_units(pool: tuple[Candidate, ...]) -> None:
    """S8: which words are common is as if all of them were counted; few are."""
    made = build_table(pool, "pump", "en")
    said = [
        frozenset(keys(document_terms(p.candidate.text[a:b])))
        for p in made.passages
        for a, b in p.units.spans
    ]
    terms = frozenset(["nowhere"]).union(*said)
    few = max(COMMON * made.units, RARE)
    held = {term: sum(term in unit for unit in said) for term in terms}

    assert common_terms(made, terms) == {t for t in terms if held[t] >= few} | {*made.terms}
    assert made.count(terms) == held


@given(texts(), texts())
def test_words_have_numbers_of_their_own(one: str, other: str) -> None:
    """S8: two terms have one number only where they are one as they are cut."""
    terms = {*keys(document_terms(one)), *keys(document_terms(other))}

    assert len({number_of(term) for term in terms}) == len(terms)
    assert all(0 < number_of(term) < 1 << 64 for term in terms)


@given(texts(), st.integers(0, 9))
def test_runs_are_told_apart_by_their_words(text: str, cut: int) -> None:
    """S8: the runs of words of a unit are as many as it has, and equal where the words are."""
    words = document_terms(text)
    spaced = " ".join(word for word in words if word.isascii())
    expected = spaced.split()
    runs = text_runs([spaced, spaced[cut:], ""])
    grams = [tuple(expected[i : i + GRAM]) for i in range(max(len(expected) - GRAM + 1, 1))]

    own = runs.numbers[: runs.bounds[1]].tolist()
    assert np.diff(runs.bounds).tolist()[::2] == [len(grams) if expected else 0, 0]
    assert len({*own}) == (len({*grams}) if expected else 0)


@given(st.lists(st.lists(st.integers(0, (1 << 64) - 1), max_size=9), max_size=9))
def test_runs_of_all_units_at_once_are_those_of_each(units: list[list[int]]) -> None:
    """S8: in arrays, a run neither goes on in the next unit nor gets lost."""
    words = np.array([word for unit in units for word in unit], dtype=np.uint64)
    widths = np.array([*map(len, units)], dtype=np.int64)
    numbers, bounds = runs_of(words, widths)

    found = [numbers[a:b].tolist() for a, b in pairwise(bounds)]
    assert found == [*map(unit_runs, units)]


def unit_runs(words: list[int]) -> list[int]:
    """The runs of one unit's words; a shorter unit is one run: the definition of `runs_of`."""
    runs = [words[n : n + GRAM] for n in range(max(len(words) - GRAM + 1, min(len(words), 1)))]
    return [sum(map(mul, run, FACTORS)) % (1 << 64) for run in runs]


def test_a_stop_word_of_another_language_opens_no_block() -> None:
    """J3: *war* is a stop word in German. It opens a block only if no other word is found."""
    told = "The war ended in May. Wool was sold at the market. Bread was not."
    texts = {"war": told, "boiler": "The boiler was made before the war. It is red."}
    better = {f"better{n}": f"Boiler number {n} stands here." for n in range(3)}
    scores = {"war": 0.1, "boiler": 0.2} | dict.fromkeys(better, 0.9)
    pool = [candidate(text, id=name, score=scores[name]) for name, text in (texts | better).items()]
    question = "Which boiler is from the time of the war?"

    found = score_sentences(pool, question).by_candidate
    alone = score_sentences([c for c in pool if c.id == "war"], question).by_candidate

    assert not any(found["war"].earned)
    assert any(found["boiler"].earned)
    assert any(alone["war"].earned)


def test_a_single_character_opens_no_block() -> None:
    """J3: *K* is in many texts. It opens a block only if no other word is found."""
    texts = {"c": "K is a letter. Wool was sold. Bread was not.", "boiler": "Boiler K is red."}
    better = {f"better{n}": f"Boiler number {n} stands here." for n in range(3)}
    scores = {"c": 0.1, "boiler": 0.2} | dict.fromkeys(better, 0.9)
    pool = [candidate(text, id=name, score=scores[name]) for name, text in (texts | better).items()]
    question = "Where is boiler K?"

    found = score_sentences(pool, question).by_candidate
    alone = score_sentences([c for c in pool if c.id == "c"], question).by_candidate

    assert not any(found["c"].earned)
    assert any(alone["c"].earned)


def test_a_table_whose_title_is_asked_for_is_its_head_and_its_rows() -> None:
    """J3 U2: the title says nothing about single rows; the head is still there for later chunks."""
    rows = "\n".join(f"| 19{n} | Part {n} | open |" for n in range(70, 76))
    table = f"| Year | Role | Notes |\n|---|---|---|\n{rows}"
    pool = [candidate(f"Ada Byron number {n}.", id=f"b{n}", score=0.9) for n in range(3)]
    chunk = Chunk(id="films", title="Ada Byron: 1970s", text=table)
    pool.append(Candidate(chunk=chunk, score=0.1))
    found = score_sentences(pool, "What did Ada Byron do?").by_candidate["films"]

    assert [table[a:b].splitlines()[0] for a, b in found.spans] == [
        "| Year | Role | Notes |",
        "| 1970 | Part 70 | open |",
    ]
    assert (found.earned, found.leans) == ((False, True), (0, 0))


def test_rows_without_a_head_are_shown_if_their_title_is_asked_for() -> None:
    """J3 U2: the rest of a table that was cut in small chunks is found by its title like prose."""
    rows = "\n".join(f"| 19{n} | Part {n} | open |" for n in range(70, 76))
    pool = [candidate(f"Ada Byron number {n}.", id=f"b{n}", score=0.9) for n in range(3)]
    for name, title in (("films", "Ada Byron: 1970s"), ("others", "Grace Hopper: roles")):
        chunk = Chunk(id=name, document_id=name, title=title, text=rows)
        pool.append(Candidate(chunk=chunk, score=0.1))
    found = score_sentences(pool, "What did Ada Byron do?").by_candidate

    assert found["films"].spans == ((0, len(rows)),)
    assert found["films"].earned == (True,)
    assert not any(found["others"].earned)
