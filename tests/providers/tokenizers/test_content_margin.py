"""A margin for each kind of piece: what a text is made of, and names that bring factors back."""

from __future__ import annotations

import pytest

from foveate.core.errors import BadOption
from foveate.providers.tokenizers import load_tokenizer
from foveate.providers.tokenizers.content_margin import (
    CLASSES,
    Composition,
    ContentMargin,
    Learned,
    inner_tokens,
)
from foveate.testing.tokenizers import check_tokenizer, samples

BASE = load_tokenizer("cl100k_base")
PLAIN = ContentMargin.plain(BASE)
PROSE = "The pump draws air through a worn seal, so it is loud in the morning. " * 9
TABLE = "".join(f"{n * 7919} {n * 104729}\n" for n in range(1, 60))
LEARNED = ContentMargin(
    inner=BASE,
    factors=(0.3, 0.7, 0.6, 1.0, 1.0, 1.0),
    learned=Learned(
        prior=(0.4, 0.9, 1.0, 3.6, 1.7, 2.3),
        least=(950, 700, 50, 0, 0, 0),
        most=(1_000, 1_000, 200, 50, 0, 0),
    ),
)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("the worn seal", {"text": 3, "words": 3}),
        ("READ ALL OF IT", {"words": 4 + 3 * 7 // 10}),
        ("a -> b", {"marks": 1}),
        ("x();\n\n    y()\n", {"marks": 2 + 1 + 2 * 3}),
        (" " * 40 + "x" + "-" * 17, {"marks": 3 + 2}),
        ("12345 7", {"digits": 2}),
        ("Größe überall", {"text": 0, "letters": BASE.count("Größe überall")}),
        ("吸入空气", {"text": 0, "cjk": BASE.count("吸入空气")}),
        ("a → b", {"words": 2 + 3, "marks": 1}),
        ("පිටුව", {"letters": 0, "words": 15, "marks": 5}),
    ],
)
def test_what_a_text_is_made_of(text: str, pieces: dict[str, int]):
    """A7: words, marks and line ends, digits, letters beyond ASCII, scripts without spaces."""
    found = PLAIN.composition(text)._asdict()
    assert {name: found[name] for name in pieces} == pieces


@pytest.mark.parametrize("inner", ["cl100k_base", "o200k_base", "simple"])
def test_without_a_margin_the_count_is_the_inner_one(inner: str):
    """B5: the pieces that are part of the inner count add up to it."""
    margin = ContentMargin.plain(load_tokenizer(inner))
    for text in samples():
        count = margin.inner.count(text)
        assert inner_tokens(margin.composition(text)) == margin.count(text) == count


def test_a_text_unlike_those_observed_is_counted_as_before():
    """A7: what was learned of prose says nothing about tables, nor of a table among prose."""
    before = ContentMargin(inner=BASE, factors=LEARNED.prior)
    learned = ContentMargin(inner=BASE, factors=LEARNED.factors)
    assert LEARNED.count(PROSE) == learned.count(PROSE) < before.count(PROSE)
    assert LEARNED.count(TABLE) == before.count(TABLE) > learned.count(TABLE)
    mixed = [PROSE * 5 + TABLE[: 40 * n] for n in range(1, 9)]
    weights = [
        (LEARNED.count(text) - learned.count(text)) / (before.count(text) - learned.count(text))
        for text in mixed
    ]
    assert weights == sorted(weights)
    assert any(0 < weight < 1 for weight in weights)


def test_a_learned_factor_above_the_one_before_holds_for_all_texts():
    """A7: only what was lowered needs a like text."""
    raised = ContentMargin(
        inner=BASE,
        factors=(1.5, 0.9, 1.0, 4.0, 2.0, 2.5),
        learned=Learned(prior=(1, 0, 0, 1, 1, 1), least=(950,) * 6, most=(1_000,) * 6),
    )
    assert raised.count(TABLE) == ContentMargin(inner=BASE, factors=raised.factors).count(TABLE)


def test_names_bring_back_what_they_name():
    """A7, D2: the factors, and what they were learned from, are the name."""
    for margin in (PLAIN, LEARNED):
        assert load_tokenizer(margin.name) == margin
        assert margin.fingerprint == margin.name.replace(BASE.name, BASE.fingerprint, 1)
    assert LEARNED.name.startswith("cl100k_base*text:0.3/0.4@950-1000,words:0.7/0.9@700-1000,")
    check_tokenizer(LEARNED)


@pytest.mark.parametrize(
    "margin",
    [
        "text:1,words:0,marks:0,digits:nan,letters:1,cjk:1",
        "text:1,words:0,marks:0,digits:-1,letters:1,cjk:1",
        "text:1,words:0,marks:0,digits:101,letters:1,cjk:1",
        "text:0,words:0,marks:1,digits:1,letters:1,cjk:1",
        "text:1,words:0,marks:0,digits:1,letters:1,cjk:0",
        "text:1/1@0-9,words:0,marks:0,digits:1,letters:1,cjk:1",
    ],
)
def test_what_is_no_margin_is_refused(margin: str):
    """X1: a factor that is not a number, too large, or with which a text has no tokens."""
    with pytest.raises(BadOption, match="tokenizer margin"):
        load_tokenizer(f"cl100k_base*{margin}")
    with pytest.raises(BadOption, match="for each of text, words"):
        ContentMargin(inner=BASE, factors=(1.0, 2.0))
    assert Composition._fields == CLASSES
