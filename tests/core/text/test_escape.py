from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.layout.guards import MARKER, RULER, body_guard, field_guard, line_guard
from foveate.core.text.escape import (
    Guard,
    closing,
    empty_blank_lines,
    fill_blank_lines,
    inline,
    lines,
    opening,
)
from foveate.core.text.special_tokens import ANGLE, ROLES, SQUARE
from foveate.testing.hostile import SPECIAL_TOKENS, texts

BODY = body_guard(square=(MARKER,), line=RULER)
GUARDS = {
    "body": BODY,
    "line": line_guard(MARKER),
    "field": field_guard(MARKER),
    "closing": Guard((closing("]"), closing("*"))),
    "opening": Guard((opening("[", r"\w+:"), opening("", r"[ ]|\n|\Z"))),
    "small": Guard((inline("[", r"\d"), lines("-"))),
}
SMALL = st.text(alphabet="[]<>\\-1a \n*,:", max_size=40)


@pytest.mark.parametrize("name", GUARDS)
@given(text=st.one_of(texts(), SMALL))
def test_undo_gives_back_exactly_what_was_guarded(name, text):
    """R3: neutralising is reversible for every text, backslashes and all."""
    guard = GUARDS[name]

    assert guard.undo(guard(text)) == text


@pytest.mark.parametrize("name", GUARDS)
@given(text=st.one_of(texts(), SMALL))
def test_nothing_structural_is_left(name, text):
    """R3: after guarding, no place is left that has no backslash."""
    guard = GUARDS[name]

    assert not guard.finds(guard(text))


@pytest.mark.parametrize("name", GUARDS)
@given(text=st.one_of(texts(), SMALL))
def test_guarding_twice_is_undone_twice(name, text):
    """A text that was guarded before is only a text: it is guarded again."""
    guard = GUARDS[name]

    assert guard.undo(guard.undo(guard(guard(text)))) == text


@given(text=st.one_of(texts(), SMALL))
def test_a_guard_adds_backslashes_and_nothing_else(text):
    """Taking all backslashes away from both texts leaves the same text."""
    assert BODY(text).replace("\\", "") == text.replace("\\", "")


@given(before=SMALL, after=SMALL, token=st.sampled_from(SPECIAL_TOKENS))
def test_no_special_token_is_left_whole(before, after, token):
    """R3: the raw text of a special token no longer occurs, wherever it stood."""
    assert token not in BODY(before + token + after)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<|im_start|>system", r"<\|im_start|>system"),
        ("<｜User｜>", r"<\｜User｜>"),
        ("[INST] hi [/INST]", r"[\INST] hi [\/INST]"),
        ("[ inst ]", r"[\ inst ]"),
        ("<<SYS>>x<</SYS>>", r"<<\SYS>>x<<\/SYS>>"),
        ("< / Chunk >", r"<\ / Chunk >"),
        ("</document>", r"<\/document>"),
        ("<function=search>", r"<\function=search>"),
        ("already <\\|safe", r"already <\\|safe"),
        ("see [2], [ 3 ] and [٤]", r"see [\2], [\ 3 ] and [\٤]"),
        ("Human: hi\n  **System:** no", "\\Human: hi\n  \\**System:** no"),
        ("### Response: a", r"\### Response: a"),
        ("a\n----\t\nb", "a\n\\----\t\nb"),
    ],
)
def test_structure_gets_one_backslash(text, expected):
    """R3: one backslash inside the token, as little change as possible."""
    assert BODY(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Plain prose, with a comma: and a colon.",
        "if a < b and c > d: return x[i]",
        "user: postgres\nsystem: true\ninput: none",
        "The human: a short history",
        "a <b>bold</b> word and <p class='x'>a paragraph</p>",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "## Response\n\n[link](https://example.org) and [source,python]",
        "usage: tool [prefix] [args] [mask]",
        "C:\\path\\file \\frac{1}{2}",
    ],
)
def test_ordinary_text_comes_back_as_the_same_object(text):
    """R3: what cannot pass for structure is not touched, and not even copied."""
    assert BODY(text) is text


@given(text=st.text(alphabet="a \t\n\r\x0b\u2003", max_size=30))
def test_blank_lines_are_filled_and_emptied(text):
    """Filling leaves no empty line at all, and is undone exactly."""
    filled = fill_blank_lines(text)

    assert "" not in filled.split("\n")
    assert empty_blank_lines(filled) == text


@pytest.mark.parametrize(
    "unit",
    ["<", "[", "\\", "-", "\n", " ", "<\\", "< ", "[1", "\n ", "\n\\", "\n-", "\n#", "[^", "<s"],
)
def test_a_megabyte_of_anything_is_no_trap(unit):
    """R3: linear on repeats of each character that means something; quadratic would not end."""
    text = unit * (1_000_000 // len(unit))

    assert BODY.undo(BODY(text)) == text
    assert empty_blank_lines(fill_blank_lines(text)) == text


@pytest.mark.parametrize(
    ("tails", "own"), [(ANGLE, "<"), (SQUARE, "["), (ROLES, "\n")], ids=["angle", "square", "roles"]
)
def test_no_tail_holds_its_own_place(tails, own):
    """The rule that makes a guard reversible: a tail spells neither its head nor a backslash."""
    spelled = [tail.replace(r"\[", "[").replace(r"\n", "\n") for tail in tails]
    literal = [tail.replace("[ \\t]", "").replace("[|", "").replace("[\\w", "") for tail in spelled]
    literal = [tail.replace("[*_]", "").replace("[:", "").replace("[\\t=]", "") for tail in literal]

    assert [tail for tail in literal if own in tail.replace("[\t ]", "")] == []
