"""Near duplicates: who stays, what is guarded, what it costs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import pytest

from copies import duplicates
from foveate.core.errors import BadInput, BadOption
from foveate.core.stages.dedup.near import DedupNear
from foveate.core.types import Decision
from foveate.testing.fakes import candidate, request

OLD, NEW = datetime(2023, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)
METHODS = ("jaccard", "containment", "semantic")
NUMBERED = " ".join(f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(60))
PARAGRAPH = (
    "The connection pool keeps idle sockets open for reuse and closes those that a server has "
    "reset, so that a client under load waits for a free socket rather than opening another one."
)


def run(stage, *candidates):
    """The step on these candidates."""
    return stage(candidates, request())


def kept(stage, *candidates):
    """The ids that stay."""
    return [c.id for c in run(stage, *candidates).candidates]


def pair(one, other, **options):
    """Two texts with the same vector, the first scored better."""
    vector = (0.6, 0.8)
    return (
        candidate(one, 0.9, id="one", document_id="a", embedding=vector, **options),
        candidate(other, 0.5, id="other", document_id="b", embedding=vector, **options),
    )


def test_a_duplicate_pair_keeps_the_higher_rank_and_both_sources():
    """S4: the better-scored text stays, the other's source beside it, the numbers on the trace."""
    one, other = pair(PARAGRAPH, PARAGRAPH.replace("rather", "also"))
    step = run(DedupNear(), other, one)

    assert step.candidates == (replace(one, duplicates=duplicates(one, other)),)
    assert step.decisions == (
        Decision(chunk_id="one", action="changed", reason="corroborated", numbers={"copies": 1}),
        Decision(
            chunk_id="other",
            action="merged",
            reason="near_duplicate",
            by="one",
            numbers={"similarity": 0.9333, "threshold": 0.9},
        ),
    )
    assert step.notes == {"compared": 1}


@pytest.mark.parametrize("method", METHODS)
def test_a_fragment_never_evicts_its_container(method):
    """S4: the fuller copy stays, whatever the fragment scores, and takes the better score."""
    cut = 10 if method == "containment" else 57
    part, whole = pair(" ".join(NUMBERED.split()[:cut]), NUMBERED)
    step = run(DedupNear(method=method), part, whole)

    assert step.candidates == (replace(whole, score=0.9, duplicates=duplicates(whole, part)),)
    numbers = {"copies": 1, "score": 0.9, "was": 0.5}
    assert {d.chunk_id: d.numbers for d in step.decisions}["other"] == numbers


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Take 5 mg now, please.", "Take 5mg now please"),
        ("Do not enter the engine room today.", "Don't enter the engine room today."),
        ("Der Pumpendruck beträgt 40 bar.", "der Pumpendruck beträgt 40 bar"),
        ("La pompe n’est pas sûre.", "La pompe n'est pas sûre !"),
        ("泵在5月1日不可以使用", "泵在5月1日不可以使用。"),
    ],
)
def test_texts_that_differ_in_spelling_only_become_one(method, one, other):
    """S4: case, punctuation and the space before a unit are no facts."""
    options = DedupNear(method=method, threshold=0.5)
    long = f"{NUMBERED} {{}}"

    assert len(kept(options, *pair(long.format(one), long.format(other)))) == 1


def test_a_container_may_say_more_facts_than_its_fragment():
    """S4: containment needs the fragment's facts in the container, not the other way round."""
    first, more = f"Use 5 mg. {NUMBERED}", "But not 10 mg, never."
    apart = "The mill by the old river has its own rules."

    assert kept(DedupNear(method="containment"), *pair(first, f"{first} {apart} {more}")) == [
        "other"
    ]
    assert len(kept(DedupNear(method="containment"), *pair(first, f"{first} {more}"))) == 2
    assert kept(DedupNear(method="containment"), *pair(f"{NUMBERED} 7", NUMBERED + " end")) == [
        "one",
        "other",
    ]


def test_a_paraphrase_with_its_vector_becomes_one():
    """S4: cosine over the threshold and half of all words shared."""
    one = candidate("When the configuration changes, the service restarts.", 0.9, id="one")
    other = candidate("The service restarts when a configuration changes.", 0.5, id="other")
    step = run(
        DedupNear(method="semantic"),
        replace(one, chunk=replace(one.chunk, embedding=(127, 127))),
        replace(other, chunk=replace(other.chunk, embedding=(127, 64))),
    )

    assert [c.id for c in step.candidates] == ["one"]
    assert step.decisions[1].reason == "semantic_duplicate"
    assert step.decisions[1].numbers == {"similarity": 0.9497, "threshold": 0.92}


def vectored(text, id, score):
    """A candidate of a document of its own, with the vector of all others."""
    return candidate(text, score, id=id, document_id=id, embedding=(1.0, 1.0))


PARAPHRASES = [
    (
        "Refunds take ten days. Call 555 0100 for help.",
        "Call 555 0100 for help. Refunds take ten days.",
    ),
    (
        "On Mondays the museum is not open; tickets cost 12 euros.",
        "Tickets cost 12 euros; the museum is not open on Mondays.",
    ),
    (
        "The valve opens at 3 bar and must be closed by hand.",
        "The valve must be closed by hand and opens at 3 bar.",
    ),
]


@pytest.mark.parametrize(("text", "other"), PARAPHRASES)
def test_the_same_words_in_another_order_are_a_semantic_duplicate(text, other):
    """S4: figures, negations and words of weight agree, whatever their order."""
    pair = [vectored(text, "one", 0.9), vectored(other, "two", 0.8)]

    assert kept(DedupNear(method="semantic"), *pair) == ["one"]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("The limit rose from 50 to 60 euros.", "The limit rose from 60 to 50 euros."),
        ("The pump is not on, the valve is open.", "The pump is on, the valve is not open."),
        ("Wait 5 minutes, then add 10 grams.", "Wait 10 minutes, then add 5 grams."),
    ],
)
def test_swapped_figures_and_negations_are_no_duplicates(text, other):
    """S4: another order of the same words that says something else keeps both."""
    pair = [vectored(text, "one", 0.9), vectored(other, "two", 0.8)]

    assert kept(DedupNear(method="semantic"), *pair) == ["one", "two"]


def test_texts_without_vectors_are_counted_on_the_trace():
    """S4, D7: what cannot be compared is said."""
    step = run(DedupNear(method="semantic"), candidate("one", id="a"), candidate("two", id="b"))

    assert step.notes == {"compared": 0, "no_vectors": 2}


@pytest.mark.parametrize("vector", [None, (0.0, 0.0), (-0.6, -0.8), (0.8, -0.6)])
def test_without_a_like_vector_there_is_no_semantic_duplicate(vector):
    """S4: no vector, a zero vector, the opposite and a right angle match nothing."""
    one, other = pair(PARAGRAPH, PARAGRAPH)
    other = replace(other, chunk=replace(other.chunk, embedding=vector))

    assert kept(DedupNear(method="semantic"), one, other) == ["one", "other"]


@pytest.mark.parametrize("vector", [(1.0,), (1.0, float("nan")), (float("inf"), 0.0)])
def test_a_vector_that_cannot_be_compared_is_bad_input(vector):
    """X2: another length or a number that is none is refused by name."""
    one, other = pair(PARAGRAPH, PARAGRAPH)

    def compare():
        chunk = replace(other.chunk, embedding=vector)
        run(DedupNear(method="semantic"), one, replace(other, chunk=chunk))

    with pytest.raises(BadInput, match="embedding"):
        compare()


def changed(text, moment, **fields):
    """A candidate with a time of change."""
    return candidate(text, modified_at=moment, embedding=(1.0, 1.0), **fields)


@pytest.mark.parametrize("method", METHODS)
def test_the_newest_version_wins_when_asked(method):
    """S4: with `newest` a stale copy does not win by score or length; it lends its score."""
    stale = changed(f"{NUMBERED} then also the", OLD, score=0.9, id="stale")
    fresh = changed(f"{NUMBERED} thus", NEW, score=0.2, id="fresh")
    undated = changed(f"{NUMBERED} however", None, score=0.8, id="undated")
    step = run(DedupNear(method=method, prefer="newest"), stale, undated, fresh)

    assert [(c.id, c.score) for c in step.candidates] == [("fresh", 0.9)]
    assert kept(DedupNear(method=method), stale, undated, fresh) == ["stale"]


def test_versions_of_one_document_need_not_agree_in_facts():
    """S4: a changed number is what makes the old version stale; elsewhere it is another fact."""
    stale = changed(f"{NUMBERED} limit 5", OLD, id="stale", document_id="doc")
    fresh = changed(f"{NUMBERED} limit 6", NEW, id="fresh", document_id="doc")
    elsewhere = changed(f"{NUMBERED} limit 7", OLD, id="elsewhere", document_id="other")

    for method in ("jaccard", "containment"):
        options = DedupNear(method=method, prefer="newest")
        assert kept(options, stale, elsewhere, fresh) == ["elsewhere", "fresh"]
        assert len(kept(replace(options, prefer="score"), stale, elsewhere, fresh)) == 3
    assert len(kept(DedupNear(method="semantic", prefer="newest"), stale, fresh)) == 2


def test_a_threshold_is_the_number_one_writes():
    """S4: nine of ten words reach 0.9 exactly; `strict` asks for more."""
    words = NUMBERED.split()[:10]
    texts = pair(" ".join(words[:9]), " ".join(words))

    assert len(kept(DedupNear(threshold=0.9), *texts)) == 1
    assert len(kept(DedupNear(threshold=0.9, strict=True), *texts)) == 2
    assert len(kept(DedupNear(threshold=0.91), *texts)) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "fuzzy"}, r"'fuzzy'.*jaccard"),
        ({"prefer": "oldest"}, r"'oldest'.*newest"),
        ({"threshold": 0}, "0.*above 0"),
        ({"threshold": 1.1}, "1.1.*at most 1"),
        ({"threshold": float("nan")}, "nan"),
    ],
)
def test_options_that_mean_nothing_are_refused(options, message):
    """X1: the message names the value and what is allowed."""
    with pytest.raises(BadOption, match=message):
        DedupNear(**options)


def corpus(count, seed=0):
    """Zipf-like texts of 60 words; a fifth are edits of earlier ones."""
    dice = Random(seed)
    vocabulary = [f"v{chr(97 + n % 26)}{n:x}" for n in range(4000)]
    weights = [1 / (n + 3) for n in range(4000)]
    texts = []
    for n in range(count):
        if n % 5 == 4:
            words = list(texts[dice.randrange(len(texts))])
            words[dice.randrange(len(words))] = "edited"
        else:
            words = dice.choices(vocabulary, weights, k=60)
        texts.append(words)
    return [" ".join(words) for words in texts]


@pytest.mark.parametrize("method", METHODS)
def test_the_pairs_compared_grow_with_the_texts_not_with_their_square(method):
    """S4: of 12.5 million pairs of 5,000 texts, about as many are compared as there are texts."""
    dice = Random(1)
    candidates = [
        candidate(text, 0.5, id=f"c{n:05}", embedding=[dice.gauss(0, 1) for _ in range(8)])
        for n, text in enumerate(corpus(5000))
    ]
    step = run(DedupNear(method=method, threshold=0.85), *candidates)

    assert step.notes["compared"] <= 2 * len(candidates)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "text",
    [
        "The same {0:.0f} words",  # all alike
        "Row {0} of one template whose other words are all the same in every row of the table",
        "{0}x many common words that all of these texts share and {0}a {0}b {0}c {0}d {0}e {0}f",
    ],
)
def test_texts_made_to_meet_are_not_compared_pair_by_pair(method, text):
    """S4: copies, rows that differ in a number and texts of common words stay linear."""
    alike = ".0f" in text
    candidates = [
        candidate(text.format(0 if alike else n), 0.5, id=f"c{n:05}", embedding=(1.0, 0.5))
        for n in range(2000)
    ]
    step = run(DedupNear(method=method), *candidates)

    assert step.notes["compared"] <= 2 * len(candidates)
    assert len(step.candidates) == (1 if alike else len(candidates))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("unit", ["a", "a ", "7", "7,", "不", "- ", "a1", "$ "])
def test_a_huge_text_of_one_thing_is_read_once(method, unit):
    """X2: 200,000 repeats of a letter, a digit, a sign do not stall anything."""
    huge = unit * 200_000
    step = run(DedupNear(method=method, threshold=1.0), *pair(huge, huge))

    assert step.notes["compared"] <= 1


def slots(count):
    """Rows of one template with three slots; every filling stands in many rows."""
    names = [f"n{chr(97 + n // 26)}{chr(97 + n % 26)}z" for n in range(40)]
    words = NUMBERED.split()
    return [
        " ".join(
            (
                names[n % 12],
                *words[:30],
                names[12 + n // 12 % 12],
                *words[30:],
                names[24 + n // 144],
            )
        )
        for n in range(count)
    ]


def swapped(count):
    """Copies of one text, each with two of its words changed about."""
    dice = Random(5)
    made = []
    for _ in range(count):
        words = NUMBERED.split() * 2
        one, other = dice.sample(range(len(words)), 2)
        words[one], words[other] = words[other], words[one]
        made.append(" ".join(words))
    return made


def chained(count):
    """Each text holds four fifths of the next."""
    return [" ".join(f"q{k}z" for k in range(n * 8, n * 8 + 40)) for n in range(count)]


def nested(count):
    """Each text is the beginning of the next, and ends in a number of its own."""
    words = NUMBERED.split() * 3
    return [f"{' '.join(words[: 5 + n % 170])} {n // 170}" for n in range(count)]


def measured(count):
    """Texts of nothing but facts, most of which the next has as well."""
    return [" ".join(f"{k} mg" for k in range(n % 50, n % 50 + 80)) for n in range(count)]


@pytest.mark.parametrize("make", [slots, swapped, chained, nested, measured])
def test_hostile_pools_are_compared_in_proportion_to_their_texts(make):
    """S4, X2: some dozens of pairs a text and no more, however the texts were made to meet."""
    candidates = [candidate(text, 0.5, id=f"c{n:05}") for n, text in enumerate(make(400))]
    step = run(DedupNear(method="containment"), *candidates)

    assert step.notes["compared"] <= 40 * len(candidates)


def test_where_each_copy_says_more_both_stay():
    """S4: two copies of one text, each with a word that the other lacks, are both kept."""
    words = NUMBERED.split()
    one = candidate(" ".join([*words[:10], "also", *words[11:]]), 0.9, id="one")
    other = candidate(" ".join([*words[:30], "thus", *words[31:]]), 0.8, id="other")
    full = candidate(NUMBERED, 0.1, id="full")

    for method in ("jaccard", "containment"):
        assert kept(DedupNear(method=method), one, other) == ["one", "other"]
        assert kept(DedupNear(method=method), one, other, full) == ["full"]
        assert run(DedupNear(method=method), one, other, full).candidates[0].score == 0.9


@pytest.mark.parametrize("count", [3, 1_300])
def test_a_long_text_among_many_is_compared_like_any_other(count):
    """S4, X2: with a hundred times the triples of the others, in pools of each size."""
    random = Random(7)
    names = [f"w{n}x" for n in range(20_000)]
    pool = [
        candidate(" ".join(random.choices(names, k=30)), 0.5 - n / 10_000, id=f"c{n}")
        for n in range(count)
    ]
    long = " ".join(random.choices(names, k=6_000))
    copy = candidate(long[: long.index(" ", 30_000)], 0.8, id="copy")

    step = run(DedupNear(method="containment"), candidate(long, 0.9, id="long"), copy, *pool)

    assert [(d.chunk_id, d.by) for d in step.decisions if d.action == "merged"] == [
        ("copy", "long")
    ]
