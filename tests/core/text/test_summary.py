"""Summaries: the text's own sentences, those that say most of what it is about."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foveate.core.text.sentences import sentence_spans
from foveate.core.text.summary import summarise

BOILER = """# The boiler

Welcome to this page. The boiler heats the water of the whole house. Have a look around.

Its safety valve opens when the pressure is too high. Mind the step.

| valve | bar |
|---|---|
| safety valve of the boiler, which heats water | 4 |

A plumber sets the valve. Does the boiler heat the water? Which house? How high a pressure?
"""


def _words(text: str) -> int:
    return len(text.split())


def test_it_says_what_is_said_most() -> None:
    """T3: sentences whose words come again and again, in the order of the text; no question."""
    assert summarise(BOILER, _words) == (
        "The boiler heats the water of the whole house. "
        "Its safety valve opens when the pressure is too high."
    )


def test_it_is_never_over_its_size() -> None:
    """T3: the best that fits, and one rather than two where two do not."""
    one = "The boiler heats the water of the whole house."
    assert summarise(BOILER, _words, tokens=12) == one
    assert summarise(BOILER, _words, tokens=9) == one
    assert summarise(BOILER, _words, sentences=1) == one
    assert _words(summarise(BOILER, _words, tokens=8)) <= 8
    assert summarise(BOILER, _words, tokens=2) == ""


def test_what_may_not_be_read_is_not_in_it() -> None:
    """T3, X5: sentences that are not wholly in a stretch that may be used are not looked at."""
    secret = BOILER.index("The boiler heats")
    readable = [(0, secret + 5), (secret + 30, len(BOILER))]
    found = summarise(BOILER, _words, sentences=1, readable=readable)
    assert found == "Its safety valve opens when the pressure is too high."
    assert summarise(BOILER, _words, readable=[]) == ""


def test_other_scripts() -> None:
    """T3: a language without spaces has sentences and terms too."""
    text = "锅炉加热整个房子的水。欢迎您来。安全阀打开时，锅炉停止加热水。"
    assert summarise(text, len, sentences=1) == "锅炉加热整个房子的水。"


@given(st.text(max_size=300), st.integers(1, 60), st.integers(1, 3))
def test_it_is_made_of_the_text(text: str, tokens: int, sentences: int) -> None:
    """T3: whatever the text, each sentence is its own, and the size holds."""
    found = summarise(text, len, tokens=tokens, sentences=sentences)
    assert len(found) <= tokens
    own = [" ".join(text[start:end].split()) for start, end in sentence_spans(text)]
    rest = found
    for sentence in own:
        if sentence and rest.startswith(sentence):
            rest = rest[len(sentence) :].lstrip(" ")
    assert rest == ""


def test_a_long_text_is_looked_at_in_part() -> None:
    """T3, X2: ten megabytes cost what three hundred sentences do: counted, not timed."""
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return _words(text)

    text = "".join(f"Valve {i} of the boiler opens at {i} bar of pressure. " for i in range(20_000))
    assert summarise(text, count)
    assert len(counted) <= 600
