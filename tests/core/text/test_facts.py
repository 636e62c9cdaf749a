"""What two texts must agree on: numbers, dates, units, negation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.text.facts import extract_facts
from foveate.core.text.sameness import has_in_order


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("A text of words.", ()),
        ("5 mg, 5mg, 5\u00a0mg", ("5mg", "5mg", "5mg")),
        ("5 MW 5 mW", ("5MW", "5mW")),
        ("5 km/h", ("5km/h",)),
        ("5 people", ("5",)),
        ("5 KG, 5 MG", ("5KG", "5MG")),
        ("5 %, 5%, ５０％", ("5%", "5%", "50%")),
        ("$5, 5 €, €5, $5 million", ("5$", "5€", "5€", "5million$")),
        ("-5 °C, −5, +5", ("-5°C", "-5", "+5")),
        ("GPT-4, x-1", ("4", "1")),
        (">= 5, ≤5, < 5", (">=5", "≤5", "<5")),
        ("1,000.50 and 3/4 and ½", ("1,000.50", "3/4", "½")),
        ("v2.1.3, B12, sha256, 3rd", ("v2.1.3", "B12", "sha256", "3rd")),
        ("2024-05-01 10:30", ("2024-05-01", "10:30")),
        ("on 5 May 2024", ("5", "2024", "may")),
        ("it may march on", ("may",)),
        ("Monday, 3 March", ("3", "monday", "march")),
        ("do not, don't, don’t, cannot", ("not", "not", "not", "not")),
        ("at t we wait", ()),
        ("never without", ("never", "without")),
        ("keine, nicht, ohne", ("keine", "nicht", "ohne")),
        ("n'est pas, jamais", ("ne", "pas", "jamais")),
        ("no hay nada, sin", ("no", "nada", "sin")),
        ("niet, geen", ("niet", "geen")),
        ("non è mai", ("non", "mai")),
        ("não, nunca", ("não", "nunca")),
        ("не, нет", ("не", "нет")),
        ("不是，没有，非，无", ("不", "没", "非", "无")),
        ("2024年5月1日，5公斤", ("2024年", "5月", "1日", "5公斤")),
        ("three or four", ("three", "four")),
        ("given in mg", ("mg",)),
        ("if a != b: Stop!", ("if", "!=")),
        ("while (!done) go", ("!",)),
        ("x = a - b * (c / 2)", ("2", "-", "*", "/", "=")),
        ("- a well-known point", ()),
        ("under 5 or about it", ("5", "under")),
        ("nobody knows whether", ("nobody", "whether")),
        ("inte icke ej aldrig ingen", ("inte", "icke", "ej", "aldrig", "ingen")),
        ("ikke, aldri uten uden", ("ikke", "aldri", "uten", "uden")),
        ("nie bez żaden nigdy", ("nie", "bez", "żaden", "nigdy")),
        ("değil yok hiç asla", ("değil", "yok", "hiç", "asla")),
        ("никто ничего", ("никто", "ничего")),
        ("안 시작한다, 못 간다", ("안", "못")),
        ("시작하지 않는다. 물이 없다", ("않는다", "없다")),
        ("안전한 안경", ()),
        ("It starts? It starts. (So?)", ("starts?", "so?")),
        ("启动吗？ هل تعمل؟", ("动吗?", "تعمل?")),
        ("see x.org/a?b=1. Is it (5)??", ("1", "5", "5?", "(5)")),
        ("5' or 5\" of it", ("5'", '5"')),
        ('the "5" of', ("5",)),
        ("(500) and 500", ("500", "500", "(500)")),
        ("hepatitis A, type B. A dog", ("A", "B")),
        ("- [ ] open\n- [x] shut", ("[_]", "[x]")),
        ("done ✅, → left", ("✅", "→")),
        ("Result: - found", ("-",)),
        ("option -a or +b", ("-a", "+b")),
        ("curl -O file --fail or -min", ("-O", "-")),
        ("~~old~~ new", ("~~", "~~")),
        ("price in € or £", ("€", "£")),
        ("a == b, c >= d", ("==", ">=")),
        ("上限＜5", ("<5",)),
        (
            "It is a myth; Irrtum; faux; mito; миф; 谣言",
            ("myth", "irrtum", "faux", "mito", "миф", "谣言"),
        ),
    ],
)
def test_facts(text, expected):
    """S4: numbers with sign, currency and unit first, then the words that turn a statement."""
    assert extract_facts(text) == expected


@given(text=st.text())
def test_facts_of_any_text(text):
    """S4: any text has facts; they have no white space; every digit of the text is in one."""
    found = extract_facts(text)

    assert all(fact and not any(c.isspace() for c in fact) for fact in found)
    if any(c.isdecimal() for c in text):
        assert found


@given(
    before=st.text("ab ,.", max_size=5), number=st.integers(0, 10**6), other=st.integers(0, 10**6)
)
def test_another_number_is_another_fact(before, number, other):
    """S4: wherever a number stands, changing it changes the facts."""
    one, two = (extract_facts(f"{before} {n} {before}") for n in (number, other))

    assert (one == two) == (number == other)


@given(whole=st.lists(st.sampled_from("abc"), max_size=7), part=st.lists(st.sampled_from("abc")))
def test_covers_is_to_be_left_over_when_facts_are_taken_away(whole, part):
    """S4: against all ways of leaving facts out."""
    left = [
        [fact for n, fact in enumerate(whole) if mask >> n & 1] for mask in range(2 ** len(whole))
    ]

    assert has_in_order(whole, part) == (part in left)


def test_question_marks_without_end_are_looked_at_once() -> None:
    """X2, S4: a run of question marks is read once, however long; a word behind it asks nothing."""
    run = "?" * 400_000

    assert extract_facts(f"Is it? {run}w. Is it so??!") == ("it?", "so?")
