from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.formats.shared.guards import (
    LONE_RULER,
    RULER,
    guards,
)
from foveate.core.text.escape import (
    Guard,
    closing_rule,
    empty_blank_lines,
    fill_blank_lines,
    fill_runs_of_blank_lines,
    inline_rule,
    line_start_rule,
    text_start_rule,
)
from foveate.core.text.special_tokens import ANGLE, OTHERS, ROLES, SPEAKER, SQUARE
from foveate.testing.hostile import SPECIAL_TOKENS, texts

BODY = guards(line=RULER).body
GUARDS = {
    "body": BODY,
    "numbered": guards(rules=(LONE_RULER,)).body,
    "line": guards().line,
    "field": guards().field,
    "closing": Guard((closing_rule("]"), closing_rule("*"))),
    "opening": Guard((text_start_rule("[", r"\w+:"), text_start_rule("", r"[ ]|\n|\Z"))),
    "small": Guard((inline_rule("[", r"\d"), line_start_rule("-"))),
}
SMALL = st.text(alphabet="[]<>\\-1aA|~!/◁▷ \n\u00a0*#,:", max_size=40)


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
    guarded = "\n" + GUARDS[name](text)

    for rule in GUARDS[name].rules:
        place = re.compile(rf"{rule.place}(?={'|'.join(rule.tails)})")
        assert not place.search(guarded if rule.at_lines else guarded[1:])


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
        ("<img> <img/> </ref>", r"<\img> <\img/> <\/ref>"),
        ("already <\\|safe", r"already <\\|safe"),
        ("see [2], [ 3 ] and [٤]", r"see [\2], [\ 3 ] and [\٤]"),
        (
            "> System: a\n- **User:** b\n 1. > AI: c",
            "\\> System: a\n\\- **User:** b\n \\1. > AI: c",
        ),
        ("12) 助手：a\n+ Tool: b", "\\12) 助手：a\n\\+ Tool: b"),
        ("<PRE> a <pre>b</pre>", r"<\PRE> a <pre>b</pre>"),
        (
            "<steptml:invoke name='x'></steptml:invoke>",
            r"<\steptml:invoke name='x'><\/steptml:invoke>",
        ),
        ("[Round 12]\n问：a\n答：b", "[\\Round 12]\n\\问：a\n\\答：b"),
        ("<image_placeholder> [BEGIN OF QUERY]", r"<\image_placeholder> [\BEGIN OF QUERY]"),
        ("Human: hi\n  **System:** no", "\\Human: hi\n  \\**System:** no"),
        ("### Response: a", r"\### Response: a"),
        ("a\n----\t\nb", "a\n\\----\t\nb"),
        ("user: postgres\nsystem: true", "\\user: postgres\n\\system: true"),
        ("\u00a0User: hi\n\u3000用户：x", "\u00a0\\User: hi\n\u3000\\用户：x"),
        ("Tool: x\nobservation : y\nAI:", "\\Tool: x\n\\observation : y\n\\AI:"),
        ("### User\nhi\n## system \n#Tool", "\\### User\nhi\n\\## system \n\\#Tool"),
        ("GPT4 Correct User: hi", r"\GPT4 Correct User: hi"),
        ("Пользователь: a\n Ассистент: b", "\\Пользователь: a\n \\Ассистент: b"),
        ("]~!b[]~b]system\nx[e~[", "]\\~!b[]\\~b]system\nx[\\e~["),
        (">>QUESTION<<", r">>\QUESTION<<"),
        ("<role>SYSTEM</role>", r"<\role>SYSTEM<\/role>"),
        ("<turn|> <用户>a<AI>", r"<\turn|> <\用户>a<\AI>"),
        ("◁think▷ /nothink", r"◁\think▷ /\nothink"),
        ("]<]image[>[", r"]<\]image[>["),
        ("＜|im_start|＞system, ＜/think＞", r"＜\|im_start|＞system, ＜\/think＞"),
        ("＜ 3 ＞ und ＜b＞", "＜ 3 ＞ und ＜b＞"),
    ],
)
def test_structure_gets_one_backslash(text, expected):
    """R3: one backslash inside the token, as little change as possible."""
    assert BODY(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Pressure\n---\n\nOne bar.", "Pressure\n---\n\nOne bar."),
        ("  ---\na\n\n---\n\n[2]", "  \\---\na\n\n\\---\n\n[\\2]"),
        ("a \n---\n \n\\---", "a \n\\---\n \n\\\\---"),
    ],
)
def test_dashes_that_underline_a_heading_stay(text, expected):
    """R3, R4: only a ruler that could stand between blocks gets its backslash, and loses it."""
    guard = guards(rules=(LONE_RULER,)).body

    assert guard(text) == expected
    assert guard.undo(expected) == text


@pytest.mark.parametrize(
    "text",
    [
        "Plain prose, with a comma: and a colon.",
        "if a < b and c > d: return x[i]",
        "input: none\nusername: a\nsystems: 3\ntooling: none\nusers:\n- a\n### Users of it",
        "The human: a short history\nA user: see there\nEr sagt dem User: nein",
        "用户说：好\n用户的问题：无",
        "a <b| c and <br> <div> </p> <hr/> a<b|c> d <img src='x.png' alt='a'> <ref name='a'/>",
        "x = a[i]~b[j] and y[k]~x ]~ [e~] ]]>> a >> b << c >>lower<< << NAME <<EOF >>A<B",
        "see /think, /thinking and https://example.org/thinking; [unused] [e] [note] ◁ a ▷",
        "《系统》：“你好”。【用户】说 <文件> 和 <附件>。",
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


@given(text=st.text(alphabet="ab \t\n\r\x0b\u2003", max_size=40))
def test_runs_of_blank_lines_are_filled_and_emptied(text):
    """No empty line stands beside another or at an end, and it is undone exactly."""
    filled = fill_runs_of_blank_lines(text)
    lines = filled.split("\n")

    assert "\n\n\n" not in filled
    assert "" not in (lines[0], lines[-1])
    assert empty_blank_lines(filled) == text


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "<",
            "[",
            "\\",
            "-",
            "\n",
            " ",
            "<\\",
            "< ",
            "[1",
            "\n ",
            "\n\\",
            "\n-",
            "\n#",
            "[^",
            "<s",
        ),
        *(
            "]",
            "]~",
            "~]~b",
            ">",
            ">>A",
            "<<>>A",
            "/",
            "/no",
            "◁",
            "◁/a",
            "<a|",
            "\n#*",
            "\n\u00a0",
            "[e~",
        ),
    ],
)
def test_a_long_text_of_anything_is_no_trap(unit):
    """R3: linear on repeats of each character that means something; quadratic would not end."""
    text = unit * (250_000 // len(unit))

    assert BODY.undo(BODY(text)) == text
    assert empty_blank_lines(fill_blank_lines(text)) == text
    assert empty_blank_lines(fill_runs_of_blank_lines(text)) == text


SOUGHT = [
    *(("<", tail) for tail in ANGLE),
    *(("[", tail) for tail in SQUARE),
    *((rule.place[-1], tail) for rule in OTHERS for tail in rule.tails),
    *(("\n", tail) for tail in ROLES),
    ("\n", SPEAKER),
]


@pytest.mark.parametrize(("own", "tail"), SOUGHT)
@given(text=st.one_of(texts(), SMALL), data=st.data())
def test_a_tail_holds_its_own_head_at_its_end_alone(own, tail, text, data):
    """R3: what makes a guard reversible: nothing is put in within a tail that is found."""
    token = data.draw(st.sampled_from(SPECIAL_TOKENS))

    for found in re.finditer(tail, f"{text}{token}{text}"):
        assert own not in found[0][:-1]
        assert "\\" not in found[0]
