"""Units: what may be shown on its own, and what it leans on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.text.units import DEPTH, PIECE, units_of
from foveate.testing.strategies import texts


def shown(text: str, language: str = "en") -> list[tuple[str, str]]:
    """Each unit with the unit it leans on."""
    units = units_of(text, language)
    said = [text[a:b] for a, b in units.spans]
    return [(said[i], said[lean]) for i, lean in enumerate(units.leans)]


@given(texts())
def test_every_character_is_in_one_unit(text: str) -> None:
    """S8: nothing but white space is outside the units; they are in order and apart."""
    units = units_of(text)
    covered = "".join(text[a:b] for a, b in units.spans)

    assert "".join(covered.split()) == "".join(text.split())
    assert all(b <= c for (_, b), (c, _) in zip(units.spans, units.spans[1:], strict=False))
    assert len(units.leans) == len(units.spans)
    assert all(0 <= lean < len(units.spans) for lean in units.leans)


@pytest.mark.parametrize(
    ("language", "head", "bound"),
    [
        ("en", "The weir holds the water.", "It was built in 1871."),
        ("de", "Das Wehr hält das Wasser.", "Es wurde 1871 gebaut."),
        ("fr", "Le barrage retient l'eau.", "Il date de 1871."),
        ("es", "La presa retiene el agua.", "Esta se construyó en 1871."),
        ("nl", "De stuw houdt het water.", "Deze is van 1871."),
        ("zh", "水坝挡住河水。", "它建于一八七一年。"),
    ],
)
def test_a_pronoun_leans_on_the_sentence_before(language: str, head: str, bound: str) -> None:
    """S8: a sentence that only points back is never alone, in six languages."""
    glue = "" if language == "zh" else " "

    assert shown(f"{head}{glue}{bound}", language) == [(head, head), (bound, head)]


def test_items_lean_on_what_opens_the_list() -> None:
    """S8: a list item goes with its opening sentence; a list without one stands alone."""
    opened = shown("You need:\n\n- a rope\n- a hook")
    alone = shown("The quay is long.\n\n- a rope\n- a hook")

    assert opened == [
        ("You need:", "You need:"),
        ("- a rope", "You need:"),
        ("- a hook", "You need:"),
    ]
    assert [lean for _, lean in alone] == ["The quay is long.", "- a rope", "- a hook"]


def test_a_nested_item_leans_on_the_item_that_it_is_part_of() -> None:
    """S8: from the deepest item the way goes over each item above it to the opening sentence."""
    text = "You need:\n\n- a rope\n  - of hemp\n\t\t1. old\n  - of steel\n - a hook\n"
    text += "\nGo.\n- one\n    - two"

    assert shown(text) == [
        ("You need:", "You need:"),
        ("- a rope", "You need:"),
        ("- of hemp", "- a rope"),
        ("1. old", "- of hemp"),
        ("- of steel", "- a rope"),
        ("- a hook", "You need:"),
        ("Go.", "Go."),
        ("- one", "- one"),
        ("- two", "- one"),
    ]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12))
def test_the_parent_is_the_nearest_item_that_is_still_open(indents: list[int]) -> None:
    """S8: an item is open while all behind it stand two columns or more to its right."""
    text = "You need:\n\n" + "\n".join(f"{' ' * n}- item {i}" for i, n in enumerate(indents))
    units = units_of(text)
    places = {text[a:b]: i for i, (a, b) in enumerate(units.spans)}
    for i in range(len(indents)):
        parts = [j for j in range(i) if all(n - 2 >= indents[j] for n in indents[j + 1 : i + 1])]
        assert units.leans[places[f"- item {i}"]] == (places[f"- item {parts[-1]}"] if parts else 0)


def test_a_heading_leans_forward_and_a_row_on_its_head() -> None:
    """S8: a heading is shown with what follows it only, a table's row with the column names."""
    table = "| gate | year |\n|------|------|\n| upper | 1871 |"

    assert shown("# Gates\n\nThere are two.")[0] == ("# Gates", "There are two.")
    names = "| gate | year |\n|------|------|"
    assert {lean for _, lean in shown(table)} == {names}
    assert shown(f"# Gates\n\n{table}")[0] == ("# Gates", "| upper | 1871 |")
    assert shown("# Gates") == [("# Gates", "# Gates")]


def test_a_cut_sentence_is_no_lone_fragment() -> None:
    """S8: the rest of a sentence that chunking cut leans on the sentence after it."""
    assert shown("and then the gate opens. The boat goes in.")[0][1] == "The boat goes in."


def test_a_few_words_are_no_lone_sentence() -> None:
    """J3: they lean on the sentence before; the first of a paragraph, as a heading, on the next."""
    assert shown("The boat goes in at noon. And")[-1] == ("And", "The boat goes in at noon.")
    text = "The boat. It was built in 1871 by Ada Weir. Who knows?"
    assert [lean for _, lean in shown(text)] == [
        "It was built in 1871 by Ada Weir.",
        "The boat.",
        "It was built in 1871 by Ada Weir.",
    ]
    lone = "Nobody knows."
    assert shown(lone) == [(lone, lone)]
    assert shown("\u4eca\u5929\u5f88\u597d\u3002\u53bb\u516c\u56ed\u3002")[0][1][0] == "\u4eca"


def test_lines_of_code_go_together() -> None:
    """S8: code is shown in pieces of some lines, never line by line."""
    code = "```python\n" + "\n".join(f"gate_{i} = open_gate({i})" for i in range(40)) + "\n```"
    spans = units_of(code).spans

    assert 1 < len(spans) < 10
    assert all(b - a <= PIECE for a, b in spans)


@pytest.mark.parametrize(
    "text",
    ["It was it. " * 400, "# a\n" * 400, "".join("  " * n + f"- x{n}\n" for n in range(300))],
)
def test_chains_end(text: str) -> None:
    """X2: however long a text goes on leaning, no unit needs more than some others."""
    leans = units_of(text).leans
    chains = []
    for start in range(len(leans)):
        seen = {start}
        while (start := leans[start]) not in seen:
            seen.add(start)
        chains.append(len(seen))

    assert max(chains) <= 2 * DEPTH + 1
    assert max(chains) > 1


def test_what_announces_something_leans_on_it() -> None:
    """J3: "For example:" is never shown without what it announces."""
    text = "The pump hums. For example:\n\nIt hums at noon.\n\nPumps are:\n\n- loud\n- old"
    units = units_of(text)
    shown = {
        text[a:b]: text[slice(*units.spans[lean])]
        for (a, b), lean in zip(units.spans, units.leans, strict=True)
    }

    assert shown["For example:"] == "It hums at noon."
    assert shown["Pumps are:"] == "Pumps are:"
    assert shown["- loud"] == "Pumps are:"


@pytest.mark.parametrize("dots", ["...", ".....", ". . . . "])
def test_a_name_is_in_one_unit_with_the_figure_behind_its_dots(dots: str) -> None:
    """V4: as in a list of prices or a table of contents."""
    lines = [f"Dish {n} {dots} {n}.20" for n in range(1, 19)]
    text = "Prices of the canteen:\n\n" + "\n".join(lines) + "\n\nThe canteen is open at noon."
    units = [text[a:b] for a, b in units_of(text).spans]

    assert all(any(line in unit for unit in units) for line in lines)
