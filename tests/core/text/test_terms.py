from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.text.terms import (
    STEM,
    STOP_WORDS,
    document_terms,
    query_terms,
    split_compounds,
    stem,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Cats, cats & CATS", ["cat", "cat", "cat"]),
        ("Zürich café naïve Ångström", ["zurich", "cafe", "naive", "angstrom"]),
        ("foo_bar v3.11", ["foo", "bar", "v3", "11"]),
        ("ﬁne １２３ Straße", ["fine", "123", "strasse"]),
        ("黒猫", ["黒", "猫", "黒猫"]),
        ("猫 and 犬", ["猫", "and", "犬"]),
        ("한국어", ["한", "국", "어", "한국", "국어"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("كِتَاب كتاب", ["كتاب", "كتاب"]),
        ("ไทย", ["ไ", "ท", "ย", "ไท", "ทย"]),
        ("!? … —", []),
        ("", []),
    ],
)
def test_texts_become_terms(text: str, expected: list[str]):
    """T4: case, accents, widths and plurals are folded; unspaced scripts give pairs."""
    assert document_terms(text) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What is the opening hour?", ["hour", "opening"]),
        ("Was kostet die Karte", ["karte", "kostet"]),
        ("When did they die hard", ["die", "hard"]),
        ("to be or not to be", ["be", "not", "or", "to"]),
        ('-cats AND "dogs" NEAR(x)', ["cat", "dog", "near", "x"]),
        ("猫", ["猫"]),
        ("黒猫が", ["猫が", "黒猫"]),
        ("???", []),
    ],
)
def test_queries_lose_stop_words_of_their_own_language(query: str, expected: list[str]):
    """T4: syntax is text; stop words go, those of one language, and not where nothing is left."""
    assert query_terms(query) == expected


@given(st.text(max_size=60))
def test_a_query_finds_what_holds_it(text: str):
    """T4: every term that a query looks for stands in a document with the same text."""
    terms = query_terms(text)
    assert set(terms) <= set(document_terms(text))
    assert terms == sorted(set(terms))


@given(st.text(st.characters(max_codepoint=0x7F), max_size=200))
def test_a_sign_beyond_ascii_changes_no_other_term(text: str):
    """T4: a text of ASCII has the terms that it has beside a sign which is no word."""
    assert document_terms(text) == document_terms(f"{text} \u2020")


@given(st.text(max_size=60))
def test_a_word_without_spaces_behind_a_text_adds_its_own_terms_alone(text: str):
    """ASCII is split by a table of bytes, into the same terms as other texts."""
    assert document_terms(f"{text} 猫") == [*document_terms(text), "猫"]


NAMES = (
    ("getUserById", "user"),
    ("XMLHttpRequest", "request"),
    ("parseJSON5", "json"),
    ("OAuth2Token", "token"),
    ("maxRetryCount", "retries count"),
    ("HTTPServer", "http"),
)


@pytest.mark.parametrize(("name", "asked"), NAMES)
def test_the_parts_of_a_camel_case_name_are_terms_beside_it(name: str, asked: str):
    """T4: a question by a part finds it, one by the whole too, whatever the case of either."""
    held = {term[:STEM] for term in document_terms(f"def {name}(): pass")}

    assert {term[:STEM] for term in query_terms(asked)} <= held
    assert set(document_terms(name.lower())) <= set(document_terms(name))


@pytest.mark.parametrize("word", ["URLs", "sha256", "plain", "UPPER", "aB", "Ab", "x_y"])
def test_other_words_are_not_split(word: str):
    """T4: a plural of capitals, digits behind letters and single letters are no compounds."""
    assert len(split_compounds(word).split()) == 1


@given(st.text(max_size=60))
def test_terms_do_not_depend_on_case_or_composition(text: str):
    """T4: no term holds an upper-case letter, white space or nothing at all."""
    for term in document_terms(text):
        assert term
        assert not any(character.isspace() for character in term)


@pytest.mark.parametrize(
    ("word", "expected"),
    [("queries", "query"), ("houses", "house"), ("class", "class"), ("bus", "bus"), ("as", "as")],
)
def test_plurals_fold(word: str, expected: str):
    """T4: Harman's three rules."""
    assert stem(word) == expected


def test_stop_words_are_written_as_terms_are():
    """T4: a stop word with a capital or an accent would never match."""
    for language, words in STOP_WORDS.items():
        for word in words:
            assert document_terms(word)[0] in {word, stem(word)}, f"{language}: {word}"
