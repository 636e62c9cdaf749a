"""Sentences: every character once, exact spans, no panic, linear work."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foveate.core.text import sentences
from foveate.core.text.graphemes import last_grapheme_boundary
from foveate.core.text.sentences import MAX_SENTENCE_LENGTH, sentence_spans

PIECES = st.sampled_from(
    [
        "Yes. ",
        "A\u00a0. ",
        "I\u3000.",
        "no ",
        "你好。",
        "؟ ",
        "e\u0301",
        "👩\u200d👧",
        "\n",
        "\n\n",
        "\r\n",
        "# H\n",
        "- ",
        "1. ",
        "```\n",
        "| a | b |\n",
        "«",
        "“",
        "...",
        "Dr. ",
        "o.a. ",
        "x" * 50,
        "\u2028",
        "\u0301",
    ]
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map("".join))
LANGUAGES = st.sampled_from(["en", "nl", "zh", "ar", "hi", "am", "el", "xx", "", "en-GB"])


@given(text=TEXTS, language=LANGUAGES)
@example(text="A\u00a0. b", language="en")
@example(text="I\u3000. He said.", language="en")
def test_every_character_is_in_one_sentence(text: str, language: str) -> None:
    """Spans are trimmed, ordered and apart; between them there is white space only."""
    last = 0
    for start, end in sentence_spans(text, language):
        assert not text[last:start].strip()
        assert text[start:end] == text[start:end].strip() != ""
        assert end - start <= MAX_SENTENCE_LENGTH
        assert last_grapheme_boundary(text, end, start) == end
        last = end
    assert not text[last:].strip()


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("上限値は３．１４バールです。次へ。", 2),
        ("値は3．14です。次。", 2),
        ("図３．５参照．次の文．", 2),
        ("これは１．である。", 2),
        ("ខ្ញុំទៅផ្សារ។ គាត់មកផ្ទះ។ ល្អណាស់៕ ផ្លែឈើ ។ល។ គាត់ទៅ។", 5),
        ("ខ្ញុំទៅផ្សារ។គាត់មកផ្ទះ។", 2),
        ("བཀྲ་ཤིས།བདེ་ལེགས། །ཡིན༎", 3),
        ("ᠨᠢᠭᠡ᠃ ᠬᠣᠶᠠᠷ᠃", 2),
        ("ຂ້ອຍໄປຕະຫຼາດ.ລາວມາເຮືອນ. ລາຄາ 3.5 ບາດ", 3),
        ("Это т.е. насос. Он работает. См. рис. 5 ниже. Ул. Ленина, д. 5.", 4),
        ("Насос, т. е. клапан, открыт. А. С. Пушкин писал.", 2),
        ("Πού είναι; Εδώ. Καλά; Ναι.", 4),
        ("The pump (насос) is on; it runs e.g. at night. See ‘Πού;’ there.", 2),
    ],
)
def test_ends_are_those_of_the_script(text, ends):
    """S8, T2: while no language is named, and no figure is cut at its decimal point."""
    assert len(sentence_spans(text)) == ends


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("", "en", []),
        ("One. Two!\nThree?", "en", ["One.", "Two!", "Three?"]),
        ("It goes\non. And on.", "en", ["It goes\non.", "And on."]),
        ("# Title\nText. More.", "en", ["# Title", "Text.", "More."]),
        ("1. First. Then.\n2. Second", "en", ["1. First.", "Then.", "2. Second"]),
        ("- [x] Done. All.", "en", ["- [x] Done.", "All."]),
        ("```\nx = 1. \n\ny\n```", "en", ["```", "x = 1.", "y", "```"]),
        ("| a. b | c |\n| d | e |", "en", ["| a. b | c |", "| d | e |"]),
        ("他说：“你好。”然后走了。再见！", "zh", ["他说：“你好。”", "然后走了。", "再见！"]),
        ("كيف حالك؟ أنا بخير.", "ar", ["كيف حالك؟", "أنا بخير."]),
        ("U brengt o.a. de brief mee. Tot dan.", "nl", ["U brengt o.a. de brief mee.", "Tot dan."]),
        ("Please ask Ms. Lee. She knows.", "en", ["Please ask Ms. Lee.", "She knows."]),
        ("It takes 5 ms. Then stop.", "en", ["It takes 5 ms.", "Then stop."]),
        ("It costs 3.50 vs. 4. See Fig. 3.", "en", ["It costs 3.50 vs. 4.", "See Fig. 3."]),
        ("12. Close it. 345. Go.", "en", ["12. Close it.", "345. Go."]),
        ("Ask for room 12. The key is there.", "en", ["Ask for room 12.", "The key is there."]),
        ("It fell in week 4. LDL did not.", "en", ["It fell in week 4.", "LDL did not."]),
        ("It has low rates. 1, 2 We use it.", "en", ["It has low rates.", "1, 2 We use it."]),
        ("It is plan B. We use it.", "en", ["It is plan B.", "We use it."]),
        ("Set it to -80°C. Wait.", "en", ["Set it to -80°C.", "Wait."]),
        ("i went. then i slept.", "en", ["i went.", "then i slept."]),
        ("It has more features.\nimport numpy", "en", ["It has more features.", "import numpy"]),
        ("Foo." + " " * 40 + "Bar.", "en", ["Foo.", "Bar."]),
    ],
)
def test_splits(text: str, language: str, expected: list[str]) -> None:
    """Sentences end where a reader says they do."""
    assert [text[a:b] for a, b in sentence_spans(text, language)] == expected


@pytest.mark.parametrize("language", ["en", "de", "fr"])
@pytest.mark.parametrize(
    "sentence",
    [
        "Fill the boiler to max. 2 bar.",
        "Das Fest beginnt am 3. August und endet am 14. 9. 2031.",
        "Wir treffen uns am Montag, 5. Mai, und feiern das 8. Jubiläum.",
        "Festen begynder den 3. august.",
        "Die Gebühr ist 80 Euro zzgl. 7 % MwSt. und wird bis zum 9. Werktag bezahlt.",
        "Der 4. Aufzug ist außer Betrieb.",
        "Wir lesen die 3. Auflage im 3. und 4. Stock.",
        "Nach Abs. 3 Nr. 7 zahlt die Fa. Weber.",
        "The U.S. Navy sold approx. 900 boats, see vol. 5 of it.",
        "La valise de M. Martin est perdue.",
        "On Jan. 5 it cost approx. 9 euros incl. 2 for art. 7 (cf. p. 12 of ed. 4).",
        "Take Hwy. 5 and read Ps. 23, or zie afb. 3 en env. 9 pages.",
    ],
)
def test_no_sentence_ends_at_an_abbreviation_or_an_ordinal(sentence: str, language: str) -> None:
    """J3: whatever the language of the request, what it says stays together."""
    text = f"{sentence} Other things follow."

    assert [text[a:b] for a, b in sentence_spans(text, language)] == [
        sentence,
        "Other things follow.",
    ]


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The result was 12.", "The pump was off."),
        ("The result was 12.", "Pumps were off."),
        ("I am 40.", "Anna is 38."),
        ("She counted 3, 4, 12.", "Anna did not."),
        ("Put it into bin 12.", "Anna knows."),
        ("It runs from 14 to 18.", "Peace came."),
        ("Rain fell on day 5.", "Nobody minded."),
        ("Das Ergebnis war 12.", "Alle Pumpen waren aus."),
        ("Es sind nur 12.", "Die Pumpe ist aus."),
    ],
)
def test_a_number_ends_a_sentence(first: str, second: str, language: str) -> None:
    """J3: a number with a full stop is an ordinal only where German says so."""
    text = f"{first} {second}"

    assert [text[a:b] for a, b in sentence_spans(text, language)] == [first, second]


def test_a_figure_begins_a_sentence_behind_a_long_word() -> None:
    """J3: in doubt, behind up to six letters, the sentence goes on."""
    expected = ["The pump was stopped.", "10 seconds later it starts working.", "5 lamps light up."]

    text = " ".join(expected)
    assert [text[a:b] for a, b in sentence_spans(text)] == expected


def test_a_panic_of_the_engine_leaves_the_piece_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """X2: an engine that panics, which is no `Exception`, costs the split and nothing else."""
    import sentencex

    class Panic(BaseException):
        """As pyo3 raises it."""

    def panics(language: str, text: str) -> list[dict[str, int]]:
        raise Panic

    monkeypatch.setattr(sentencex, "segment", panics)
    assert sentence_spans("One. Two.\n\nThree.") == [(0, 9), (11, 17)]


@pytest.mark.parametrize(
    "unit",
    [
        "\u0301",
        "«",
        "“",
        "a ",
        "x",
        ". ",
        "A. ",
        "。",
        "\n",
        " ",
        "|",
        "- a\n",
        "```\n",
        "-",
        "\u17d4",
        "\u0f0d ",
        "\u17d4 \u179b",
        "\u0e81.",
        "3\uff0e",
    ],
)
def test_work_is_linear(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """X2: twice the text gives at most about twice the characters to look at, in bounded pieces."""
    seen: list[int] = []
    split = sentences._split_sentences

    def counted(piece: str, language: str) -> list[int]:
        seen.append(len(piece))
        return split(piece, language)

    monkeypatch.setattr(sentences, "_split_sentences", counted)
    text = unit * (60_000 // len(unit))
    sentence_spans(text)
    assert max(seen, default=0) <= MAX_SENTENCE_LENGTH
    assert sum(seen) <= 2 * len(text) + MAX_SENTENCE_LENGTH


def test_no_sentence_ends_inside_a_name():
    """J3: a full stop with a small letter, a digit or an underscore behind it ends nothing."""
    text = "Call object.__exit__(self) at 1.5 bar. See os.path too."

    assert [text[a:b] for a, b in sentence_spans(text)] == [
        "Call object.__exit__(self) at 1.5 bar.",
        "See os.path too.",
    ]
