"""Answers held against their context, with faults planted one by one."""

from __future__ import annotations

import pytest

from foveate import assemble
from foveate.answer import claims
from foveate.answer.check import check_answer
from foveate.answer.figures import find_numbers, missing_numbers, number_spellings
from foveate.answer.stream import CitationEvent, aresolve_stream, resolve_stream
from foveate.core.errors import BadInput
from foveate.core.formats import BUILTIN
from foveate.core.text.citation_markers import scan_markers
from work_done import lines_run

MUSEUM = (
    "The museum opens at 9 a.m. on weekdays. Tickets cost 1,200 yen for adults. "
    "Children under six enter free."
)
FERRY = (
    "The harbour ferry leaves every 30 minutes from pier two. It does not run in storms. "
    "Bring a coat."
)
GARDEN = "The botanical garden closes at dusk. Its greenhouse holds four hundred orchids."
PARK = "The paths of the park lead past beds of many kinds of tulips. " * 40


def context(format_="numbered", cite="agent-session", budget=400):
    """Three sources, a copy, and one too long, which this recipe does not cut."""
    found = [
        {"id": "m1", "text": MUSEUM, "source": "museum.md", "score": 0.9, "document_id": "museum"},
        {"id": "f1", "text": FERRY, "source": "ferry.md", "score": 0.8, "document_id": "ferry"},
        {"id": "g1", "text": GARDEN, "source": "garden.md", "score": 0.7, "document_id": "garden"},
        {"id": "m2", "text": MUSEUM, "source": "copy.md", "score": 0.2, "document_id": "copy"},
        {"id": "long", "text": PARK, "source": "long.md", "score": 0.1, "document_id": "l"},
    ]
    query = "When does the museum open, and how often does the ferry leave?"
    return assemble(query, found, budget=budget, recipe=cite, format=format_)


def faults(answer, **options):
    """What is wrong with each claim, and the check."""
    checked = check_answer(answer, context(), **options)
    return [claim.faults for claim in checked.claims], checked


def test_a_true_answer_is_clean():
    """C3: every sentence cited, supported, with the passage that says so."""
    answer = (
        "The museum opens at 9 a.m. on weekdays [1]. The harbour ferry leaves from pier 2 every "
        "30 minutes. [2]\n\n> Adults pay 1200 yen [1]."
    )
    found, checked = faults(answer)
    assert found == [(), (), ()]
    assert checked.no_fault_found
    assert checked.cited == (1, 2)
    assert checked.unused == (3,)
    shown = context().text
    for claim in checked.claims:
        start, end = claim.support.context_span
        assert shown[start:end] == claim.support.text
        assert answer[slice(*claim.span)].startswith(claim.text[:10])


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("The museum opens at 9 a.m. on weekdays.", "uncited"),
        ("The harbour ferry does not run in storms [1].", "other_source"),
        ("Adult tickets at the museum cost 1,500 yen [1].", "unsupported_figures"),
        ("The greenhouse holds forty lemon trees and a lift [3].", "unsupported"),
        ('It says "the ferry leaves every hour from pier two" [2].', "altered_quotation"),
        ('"Bring a coat. It does not run in storms." [2]', "altered_quotation"),
        (
            '"The museum opens at 9 a.m. … Its greenhouse holds four hundred" [1][3]',
            "altered_quotation",
        ),
    ],
)
def test_planted_faults_are_found(answer, fault):
    """C3: uncited, swapped sources, a wrong number, no support, altered quotations."""
    found, checked = faults(answer)
    assert fault in found[0]
    assert not checked.no_fault_found


def test_what_is_quoted_in_order_is_verbatim():
    """C3: an ellipsis is honest where the parts come in that order; marks and case do not count."""
    found, _ = faults("“Tickets cost 1,200 yen … children under six enter free” [1].")
    assert found == [()]


@pytest.mark.parametrize(
    ("answer", "name", "reason"),
    [
        ("It opens at nine [7].", "7", "there are 3 sources"),
        ("It opens at nine [0].", "0", "there are 3 sources"),
        ("It opens at nine [long].", "long", "left out by pack"),
        ("It opens at nine [DOC: guide.md].", "DOC: guide.md", "no such source"),
    ],
)
def test_markers_that_resolve_to_nothing_dangle(answer, name, reason):
    """C3: out of range, of a chunk that was left out, of a source that never was."""
    _, checked = faults(answer)
    assert [(d.name, answer[slice(*d.span)] == d.text) for d in checked.dangling] == [(name, True)]
    assert reason in checked.dangling[0].reason


def test_sources_may_be_named_by_what_was_shown():
    """C3: by label, path, document or chunk, where that names one source."""
    checked = check_answer("Children under six enter free [copy.md].", context())
    assert (checked.cited, checked.dangling) == ((1,), ())
    for name in ("ferry.md", "DOC: ferry.md", "f1", "FERRY", "[SOURCE 2]"):
        answer = f"The harbour ferry leaves every 30 minutes [{name}].".replace("[[", "[").replace(
            "]]", "]"
        )
        checked = check_answer(answer, context("source"))
        assert (checked.cited, checked.dangling) == ((2,), ())


def test_what_claims_nothing_needs_no_source():
    """C3: headings, questions, code, lead-ins, pleasantries of a word, closing lists of sources."""
    answer = (
        "# The museum opens at nine\n\nHere is what the sources say of the museum:\n\n"
        "Would you like to know more about ferries?\n\nYes.\n\n```\nmuseum ferry garden\n```\n\n"
        "Sources:\n[1] museum.md\n[2] ferry.md\n"
    )
    checked = check_answer(answer, context())
    assert (checked.claims, checked.cited) == ((), (1, 2))


def test_a_scorer_takes_the_place_of_words():
    """C3: where entailment is to be had, it decides, and the passage is the one it likes best."""
    asked = []

    def scorer(claim, passages):
        asked.append(claim)
        return [0.9 if "storms" in passage else 0.1 for passage in passages]

    checked = check_answer("No boats in heavy weather [2].", context(), scorer=scorer)
    assert checked.claims[0].support.score == 0.9
    assert "storms" in checked.claims[0].support.text
    assert set(asked) == {"No boats in heavy weather."}


@pytest.mark.parametrize("channel", ["text", "voice"])
def test_a_sentence_that_comes_again_is_scored_once(channel):
    """C3: an answer that repeats itself takes time in proportion, and asks a scorer no more."""
    asked = []

    def scorer(claim, passages):
        asked.append(claim)
        return [0.9 for _ in passages]

    answer = "No boats in heavy weather. " * 50
    checked = check_answer(answer, context(), scorer=scorer, channel=channel)

    assert len(checked.claims) == 50
    assert len(asked) == len({block.marker for block in context().blocks})


@pytest.mark.parametrize(
    "answer", ["", " \n", "[", "[1]", "][", "1. [1]\n2. [2]", "\ud800 [1]", "。[1]"]
)
def test_odd_answers_are_answers(answer):
    """C3, X2: nothing is refused but what is no text."""
    checked = check_answer(answer, context())
    assert checked.answer == answer
    with pytest.raises(BadInput, match="string"):
        check_answer(None, context())


@pytest.mark.parametrize("form", [name for name, make in BUILTIN.items() if not make().is_parts])
def test_every_format_can_be_checked(form):
    """C1, C3: by number, whatever the context looks like."""
    checked = check_answer("The museum opens at 9 a.m. on weekdays [1].", context(form))
    assert checked.claims[0].supported
    assert checked.claims[0].support.marker == 1


def test_figures_are_values():
    """C3: spelling is set aside, list numbers are none, and sums are not looked for."""
    assert find_numbers("1.000 and 1,000 and 1 000 and 1000") == ["1000"] * 4
    assert find_numbers("3,5 % of 7.50, on 2024-01-31") == ["3.5", "7.5", "2024", "1", "31"]
    assert find_numbers("1. one thing, twenty-two of ninety") == ["22", "90"]
    assert missing_numbers("1. Twelve of 40", number_spellings("dozen: 12, and fifty")) == ("40",)


@pytest.mark.parametrize(
    ("claim", "source", "gone"),
    [
        ("Adults pay 200 yen", "Adults pay 1,200 yen", ("200",)),
        ("It weighs 75 kg", "It weighs 12.75 kg", ("75",)),
        ("At -5 degrees", "At 5 degrees", ("-5",)),
        ("At 5 below zero", "At -5 degrees", ()),
        ("From 5 to 10", "5-10 of them", ()),
        ("twenty of them", "20 of them", ()),
        ("five of them", "5 of them", ()),
        ("1,500,000 people", "1.5 million people", ()),
        ("12 million", "twelve million", ()),
        ("at 9:30", "at 9.30 am", ()),
        ("at 9.30", "at 9:30", ()),
        ("17 March 2024", "17.03.2024", ()),
    ],
)
def test_a_figure_is_not_a_part_of_another(claim, source, gone):
    """C3: digits dropped or a sign put before are another figure; another spelling is not."""
    assert missing_numbers(claim, number_spellings(source)) == gone


@pytest.mark.parametrize(
    "answer",
    [
        "The documents do not answer this question.",
        "De documenten geven geen antwoord op deze vraag.",
        "Die Unterlagen beantworten diese Frage nicht.",
        "Les documents ne répondent pas à cette question.",
        "The context does not say when the museum was built.",
        "Museums often close on Mondays and on holidays (general knowledge).",
    ],
)
def test_what_the_prompts_ask_for_is_no_fault(answer):
    """C3, R5: that the context does not say it, and what is said to be general knowledge."""
    found, checked = faults(answer)
    assert found == []
    assert checked.no_fault_found


def test_what_documents_do_not_do_is_a_claim():
    """C3: a sentence about documents is no refusal because it denies something."""
    found, _ = faults("The museum's documents do not leave the building on weekdays.")
    assert found == [("uncited",)]


def test_what_follows_a_list_of_sources_is_held_too():
    """C3: under "Sources:" stands a list; a sentence behind it claims something all the same."""
    found, checked = faults(
        "Sources:\n[1] museum.md\n\nThe museum was built by aliens in 1999 and has 4000 wheels."
    )
    assert [set(one) >= {"uncited", "unsupported_figures"} for one in found] == [True]
    assert checked.cited == (1,)


def test_brackets_that_stand_so_in_a_source_are_text():
    """C3, C5: an index, a year in brackets and inch marks are no citations and no quotations."""
    made = assemble(
        "What does the law say?",
        [{"text": "Smith v Jones [2019] EWCA 7 held that a[0] is a value.", "source": "law.md"}],
        budget=300,
        recipe="chat",
    )
    answer = 'Smith v Jones [2019] EWCA 7 held it, and b[0] too; a 5" pipe fits a 6" pipe well [1].'
    checked = check_answer(answer, made)
    assert (checked.dangling, checked.cited) == ((), (1,))
    assert checked.claims[0].quotations == ()
    assert "[2019]" in checked.claims[0].text
    for size in (1, 3, 7):
        pieces = [answer[at : at + size] for at in range(0, len(answer), size)]
        cited = [
            event.text for event in resolve_stream(pieces, made) if isinstance(event, CitationEvent)
        ]
        assert cited == ["[1]"]


def test_a_long_answer_takes_time_in_proportion():
    """C3: the work for a claim is bounded by what the context has of its words."""
    words = [f"word{n}" for n in range(3000)]
    texts = [" ".join(words[n : n + 12]) + "." for n in range(0, 3000, 12)]
    chunks = [{"text": " ".join(texts), "source": "long.md"}]
    made = assemble("word1", chunks, budget=30_000, recipe="citations")
    answer = " ".join(f"{text[:-1]} [1]." for text in texts)
    checked = check_answer(answer, made)
    assert len(checked.claims) == len(texts)
    assert all(claim.supported for claim in checked.claims)


def test_a_stream_resolves_as_the_whole_does():
    """C5: whatever the pieces, the same citations, each with its entry."""
    made = context()
    answer = "The museum opens [1], the ferry leaves [2, 9] and `[3]` is code."
    for size in range(1, len(answer)):
        pieces = [answer[at : at + size] for at in range(0, len(answer), size)]
        cited = [
            event for event in resolve_stream(pieces, made) if isinstance(event, CitationEvent)
        ]
        assert [[c.source for c in event.citations] for event in cited] == [
            ["museum.md"],
            ["ferry.md"],
        ]
        assert [event.dangling for event in cited] == [(), ("9",)]
        assert [answer[e.start : e.start + len(e.text)] for e in cited] == ["[1]", "[2, 9]"]


async def _astream(pieces, made):
    async def arriving():
        for piece in pieces:
            yield piece

    return [event async for event in aresolve_stream(arriving(), made)]


def test_an_asynchronous_stream_is_the_same():
    """C5, F1: sync and async give equal events."""
    import asyncio

    made, pieces = context(), ["See [", "1", "] and [2", "]."]
    assert asyncio.run(_astream(pieces, made)) == list(resolve_stream(pieces, made))


LONG = [
    ("[1] " + "*" * 100_000 + "a", "closers in the middle"),
    ("a" + "\n" * 150_000 + "a", "empty lines"),
    ("aa bb [1] " * 4_000, "markers on one line"),
    ("[1] [2] " * 4_000, "markers alone"),
    ("It rains [1].\n" * 3_000, "markers on lines"),
]


@pytest.mark.parametrize("answer", [one for one, _ in LONG], ids=[name for _, name in LONG])
def test_a_long_answer_is_checked_soon(answer):
    """C3, X2: a long answer that repeats takes as long as others: this ends, and soon."""
    checked = check_answer(answer, context())

    assert checked.answer == answer


def test_the_work_grows_with_the_markers_and_no_faster():
    """C3, X2: twice as many markers beside twice as many sentences are at most twice the work."""
    small, large = (lines_of("It rains aa bb [1]. " * count) for count in (100, 200))

    assert small > 1_000
    assert large <= 2.2 * small


def lines_of(answer: str) -> int:
    """How many lines of `answer/claims.py` it takes to find the sentences."""
    pieces = list(scan_markers(answer))
    return lines_run(claims.__file__, lambda: claims.sentences_from_pieces(pieces))
