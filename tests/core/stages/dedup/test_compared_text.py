"""One text laid beside another: what the one says and the other does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.stages.dedup.compared_text import ComparedText, SentenceCache
from foveate.core.text.facts import extract_facts
from foveate.core.text.sameness import has_same_facts
from foveate.core.text.word_weight import weights
from foveate.testing.fakes import candidate

BEFORE = "In the spring the committee of the harbour met in the old custom house by the quay"
AFTER = "and the minutes of that meeting lie with the clerk who keeps the seals of the town"
TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d", "not", "5", "the"]), max_size=30).map(tuple)


def beside(mine, theirs, language="en"):
    """Whether the second text says all that the first one says."""
    reader = SentenceCache(language)
    one, other = (ComparedText(candidate(text), reader) for text in (mine, theirs))
    return one.is_said_by(other)


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("request was approved", "request was rejected"),
        ("output will increase", "output will decrease"),
        ("cache is enabled", "cache is disabled"),
        ("lock comes before the bridge", "lock comes after the bridge"),
        ("all may pass", "some may pass"),
        ("boats must stop", "boats may stop"),
        ("Alice signed it", "Bob signed it"),
        ("it runs on Windows", "it runs on Linux"),
        ("Alice reports to Bob", "Bob reports to Alice"),
        ("Antrag wurde genehmigt", "Antrag wurde abgelehnt"),
        ("demande est acceptée", "demande est refusée"),
        ("solicitud fue aprobada", "solicitud fue rechazada"),
        ("请求已批准", "请求已拒绝"),
        ("if a > b: stop", "if a < b: stop"),
        ("discount for existing customers", "discount for new customers"),
        ("humane treatment", "human treatment"),
        ("customs rules", "custom rules"),
    ],
)
def test_one_word_of_weight_keeps_two_texts_apart(mine, theirs):
    """S4: neither says what the other says, however much they share."""
    one, other = (f"{BEFORE} {text} {AFTER}" for text in (mine, theirs))

    assert not beside(one, other)
    assert not beside(other, one)


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("boats pass", "boats of the guild pass"),
        ("boats also pass", "boats of the guild pass"),
        ("boats pass", "boat pass"),
        ("船可以通过", "船现在可以通过"),
    ],
)
def test_the_fuller_text_says_what_the_other_says(mine, theirs):
    """S4: a word left out, a filler, a plural: nothing of weight is lost."""
    assert beside(f"{BEFORE} {mine} {AFTER}", f"{BEFORE} {theirs} {AFTER}")


@pytest.mark.parametrize(
    ("plain", "turned"),
    [
        ("pumpen startar idag", "pumpen startar inte idag"),
        ("pumpen starter i dag", "pumpen starter ikke i dag"),
        ("det er vann her", "det er aldri vann her"),
        ("pompa jest czynna dziś", "pompa nie jest czynna dziś"),
        ("woda w studni jest", "woda w studni bez soli jest"),
        ("насос сегодня работает", "насос сегодня никого работает"),
        ("pompa bugün çalışıyor", "pompa bugün hiç çalışıyor"),
        ("펌프는 오늘 시작한다", "펌프는 오늘 안 시작한다"),
        ("펌프는 오늘 간다", "펌프는 오늘 못 간다"),
        ("펌프는 물 시작한다", "펌프는 물 없이 시작한다"),
    ],
)
def test_a_negation_of_any_listed_language_is_another_statement(plain, turned):
    """S4: the plain text leaves for no text that has one word more, which negates it."""
    mine, theirs = (f"{BEFORE} {text} {AFTER}" for text in (plain, turned))

    assert not beside(mine, theirs)
    assert not beside(theirs, mine)
    assert extract_facts(mine) != extract_facts(theirs)
    assert beside(mine, theirs.replace(turned, f"{plain}, vodo"))


def test_what_is_said_does_not_leave_for_what_is_asked():
    """S4: one mark at its end makes another sentence; a question elsewhere does not."""
    told = f"{BEFORE} {AFTER}."
    asked = f"{BEFORE} {AFTER}?"

    assert not beside(told, asked)
    assert not beside(asked, told)
    assert not beside(told, f"{BEFORE} {AFTER}? Nobody knew it yet.")
    assert beside(told, told)
    assert beside(asked, asked)
    assert beside(told, f"{told} Is that so?")


@pytest.mark.parametrize(
    "turned",
    [
        *("never", "only", "rarely", "not", "must", "nicht", "si", "barely", "scarcely", "hardly"),
        *("almost", "nearly", "allegedly", "supposedly", "former"),
    ],
)
def test_a_turning_word_more_is_another_statement(turned):
    """S4: the fuller text negates, limits, conditions or takes back what the other says plainly."""
    assert not beside(f"{BEFORE} they pass {AFTER}", f"{BEFORE} they {turned} pass {AFTER}")
    assert not beside(f"{BEFORE} {AFTER}", f"{turned} {BEFORE} {AFTER}")


@pytest.mark.parametrize(
    "turned",
    [
        "{} unless the valve is closed",
        "{} only if the valve is closed",
        "{} nicht",
        "it is not true that {}",
        "it is false that {}",
        "there is no evidence that {}",
        "nobody knows whether {}",
        "the report that some of them read says {} when asked, and only then",
    ],
)
def test_what_turns_a_whole_text_is_seen_before_and_behind_it(turned):
    """S4: a negation or condition around a copy makes it another statement."""
    assert not beside(BEFORE, turned.format(BEFORE))
    assert beside(BEFORE, f"It is said so. {BEFORE} at noon")


@pytest.mark.parametrize(
    "frame",
    [
        "It is said that {}",
        "The maker claims that {}",
        "I think {}",
        "Suppose {}",
        "Man sagt: {}",
        "{} as the maker claims.",
    ],
)
def test_what_frames_a_whole_sentence_makes_it_another_one(frame):
    """V3: words of weight in the same sentence, in front of it or behind it."""
    text, framed = "The drug works well for old and young people", "The maker sells it."
    behind = AFTER.capitalize()
    one, other = (f"{framed} {f} {behind}." for f in (f"{text}.", frame))

    assert not beside(one, other.format(text))
    assert beside(one, f"{framed} It is cheap. {text}. It is said so. {behind}.")


def test_a_condition_behind_chinese_words_is_seen():
    """S4: where no spaces part the words, a condition at the end is seen as well."""
    text = "新的水泵在每周报告之后由夜班人员在工厂东侧重新启动并在冬季使用"

    assert not beside(text, f"{text}除非阀门关闭")


@pytest.mark.parametrize("bound", ["under", "up to", "fewer than", "over", "about", "twice"])
def test_a_word_before_a_number_changes_the_number(bound):
    """S4: 50 does not leave for under 50; a word elsewhere is only a word more."""
    for number in ("50 mg", "50mg", "50"):
        one = f"{BEFORE} the dose is {number} {AFTER}"
        assert not beside(one, one.replace("is 50", f"is {bound} 50"))
        assert not beside(f"{number} {AFTER}", f"{bound} {number} {AFTER}")
        assert beside(one, one.replace("dose", "daily dose"))
        assert beside(one, one.replace("is 50", "is also 50"))


def test_words_that_stand_elsewhere_are_not_said_here():
    """S4: two verdicts changed about are two other statements."""
    one = f"{BEFORE} the mill was approved {AFTER} while the wharf was rejected {BEFORE[::-1]}"
    other = one.replace("approved", "x").replace("rejected", "approved").replace("x", "rejected")

    assert not beside(one, other)
    assert not beside(other, one)


def test_a_passage_that_repeats_itself_is_followed():
    """S4: repeated phrases do not hide that the rest is the same."""
    refrain = "and so the tale goes on and on as tales of rivers do"
    text = f"{BEFORE} {refrain} {AFTER} {refrain} then came the flood {refrain}"

    assert beside(text.replace("then came", "came"), text)
    assert not beside(text, text.replace("flood", "fire"))


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        (("5", "not"), ("5", "not"), True),
        (("5",), ("4", "5", "6"), True),
        (("5",), ("-5",), False),
        (("5",), ("5", "-5"), False),
        (("5", "6"), ("6", "5"), False),
        ((), ("5",), True),
        ((), ("!",), False),
        (("-",), ("-", "5"), True),
    ],
)
def test_facts_agree_when_none_is_lost_or_looks_alike(mine, theirs, expected):
    """S4: all facts, in order; a sign more is another number."""
    assert has_same_facts(mine, theirs) == expected


@given(mine=TEXTS, theirs=TEXTS)
def test_nothing_of_weight_is_lost(mine, theirs):
    """S4: whatever the order of words: a text that says all has every word of weight."""
    if beside(" ".join(mine), " ".join(theirs)):
        assert set(weights(mine)) <= set(weights(theirs))


@given(st.lists(st.sampled_from(["It runs.", "It stops; it starts.", "Use 5 mg."]), max_size=5))
def test_sentences_may_stand_in_any_order(sentences):
    """S4: a text says what the same sentences say, and what some of them say."""
    text, turned = " ".join(sentences), " ".join(reversed(sentences))

    assert beside(text, turned)
    assert beside(" ".join(sentences[1:]), turned)


@pytest.mark.parametrize("ruler", ["====", "++++", "****", "----", "####"])
def test_a_line_below_a_heading_says_nothing(ruler):
    """S4: a copy whose headings are underlined with other signs is a copy."""
    text = f"The lock of Alder\n{{}}\n\n{BEFORE}, {AFTER}."

    assert beside(text.format(ruler), text.format("=" * 17))
    assert beside(text.format("=" * 17), text.format(ruler))
