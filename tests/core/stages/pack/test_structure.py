"""What names or opens a table or list is shown with something of it, or not at all."""

from __future__ import annotations

import json

import pytest

from foveate import BudgetTooSmall
from foveate.core.stages.compress.structure import structural_units
from foveate.core.text.shapes.find import find_shapes
from foveate.core.text.units import units_of
from foveate.pipeline.assembler import assemble

TITLE = "Stock of valves in the northern warehouse"
ROWS = [(f"Q{n}-{n * 7}", f"{n * 3.5:.2f}") for n in range(30)]
RECORDS = [{"id": name, "price": price} for name, price in ROWS]
PIPES = "".join(f"| {name} | {price} |\n" for name, price in ROWS)
LINES = "".join(f"{name},{price}\n" for name, price in ROWS)
TAGS = "".join(f"<tr><td>{name}</td><td>{price}</td></tr>\n" for name, price in ROWS)
ITEMS = "".join(f'<item id="{name}"><price>{price}</price></item>\n' for name, price in ROWS)
TEXTS = {
    "Markdown": f"# {TITLE}\n\n| part | price |\n|---|---|\n{PIPES}",
    "Markdown, colon": f"{TITLE}:\n\n| part | price |\n|---|---|\n{PIPES}",
    "CSV": f"part,price\n{LINES}",
    "CSV, title": f"{TITLE}\npart,price\n{LINES}",
    "HTML": f"<h2>{TITLE}</h2>\n<table>\n<tr><th>part</th><th>price</th></tr>\n{TAGS}</table>",
    "HTML, caption": f"<table>\n<caption>{TITLE}</caption>\n<tr><th>part</th><th>price</th></tr>\n"
    f"{TAGS}</table>",
    "JSON": json.dumps({"items": RECORDS}),
    "JSON, indented": json.dumps({"stock": {"items": RECORDS}}, indent=2),
    "YAML": "items:\n" + "".join(f"  - id: {name}\n    price: {price}\n" for name, price in ROWS),
    "XML": f"<stock>\n<items>\n{ITEMS}</items>\n</stock>",
}
QUESTIONS = [
    "What does the valve Q7-49 cost in the northern warehouse?",
    "stock of valves: price of each part, items",
    "Who feeds the dogs?",
]


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_nothing_is_shown_without_a_row(form: str, question: str) -> None:
    """U2, S9: at any budget, and the least that is named has room for one."""
    found = [{"text": TEXTS[form], "source": "stock"}]
    with pytest.raises(BudgetTooSmall) as error:
        assemble(question, found, budget=12)

    for budget in range(error.value.needed, error.value.needed + 40):
        shown = assemble(question, found, budget=budget).text
        assert any(name in shown and price in shown for name, price in ROWS), (budget, shown)
    with pytest.raises(BudgetTooSmall):
        assemble(question, found, budget=error.value.needed - 1)


@pytest.mark.parametrize("form", ["Markdown", "Markdown, colon", "CSV, title", "HTML"])
def test_a_title_that_the_question_is_about_comes_with_its_rows(form: str) -> None:
    """U2: no row has a word of the question."""
    found = [{"text": TEXTS[form], "source": "stock"}]
    prose = {"text": "Ada feeds the cats at noon, and nobody else may. " * 20, "source": "cats"}

    shown = assemble("stock of valves", [*found, prose], budget=120).text

    assert TITLE in shown
    assert any(name in shown for name, _ in ROWS)


@pytest.mark.parametrize("stub", ['{"items": [', "]}", "  ]\n}", "<items>", "|---|---|", "* * *"])
def test_brackets_and_tags_in_a_chunk_of_their_own_are_not_shown(stub: str) -> None:
    """U2: as a cut leaves them."""
    rows = {"text": TEXTS["JSON"][11:-2], "source": "stock.json", "sequence": 1}
    found = [{"text": stub, "source": "stock.json", "sequence": 0, "score": 2.0}, rows]

    context = assemble("items", found, budget=60)

    assert context.blocks
    assert all(any(name in block.text for name, _ in ROWS) for block in context.blocks)


@pytest.mark.parametrize("stub", ["# Claims", "Claims\n------\n", f"{PIPES}\n## Claims"])
def test_a_heading_is_not_shown_alone(stub: str) -> None:
    """U2: a file has no more, or a chunk ends with it; something is said in another one."""
    found = [
        {"text": stub, "source": "stub.md", "score": 0.9},
        {"text": "Claims are paid within ten days.", "source": "policy.md", "score": 0.5},
    ]

    context = assemble("How are claims paid?", found, budget=40)

    assert [block.text for block in context.blocks] == ["Claims are paid within ten days."]


def test_rows_before_prose_are_not_counted() -> None:
    """U2: without a row or a name of the table, the number would be one of nothing that is seen."""
    text = f"{PIPES}\nPrices are without tax. The zone Q99-1 is on request."
    found = [{"text": text, "source": "rates.md"}]

    context = assemble("What of the zone Q99-1?", found, budget=25)

    assert context.blocks[0].text == "… The zone Q99-1 is on request."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tea is hot. Cups are full.\n\n* * *\n\nThe end of it is near.", ["* * *"]),
        (TEXTS["Markdown"], [f"# {TITLE}", "| part | price |\n|---|---|"]),
        (TEXTS["JSON"], ['{"items": [']),
        (TEXTS["XML"], ["<stock>", "<items>"]),
        (TEXTS["YAML"], ["items:"]),
        ("# Claims", ["# Claims"]),
        ("Trips are paid for.\n\nClaims\n------\n", ["Claims\n------"]),
        ("Claims\n------\n\nKeep all receipts.", []),
        ("# Agenda\n\n## Claims\n\n## Hotels\n\n## Meals", []),
    ],
)
def test_structure_is_what_says_nothing_by_itself(text: str, expected: list[str]) -> None:
    """U2: names, keys that open, tags, marks; no value."""
    shapes = find_shapes(text)
    units = units_of(text, "en", shapes)

    found = sorted(structural_units(text, shapes, units, [False] * len(units.spans)))

    assert [text[slice(*units.spans[n])].strip() for n in found] == expected


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        ("Did Ada approve?", "\N{THUMBS UP SIGN}", "\N{THUMBS UP SIGN}"),
        ("Which sums are there?", "\u2211\u222b \u2260 \u221e", "\u222b"),
        ("Is export allowed?", "<may>\n<allow-export/>\n<allow-print/>\n</may>", "<allow-export/>"),
        ("Is tracing on?", "<config>\n<tracing>\n</tracing>\n</config>", "<tracing>"),
        ("Does it burn gas?", "| gas | oil |\n|---|---|\n| \u2713 | \u2717 |\n", "\u2713"),
    ],
)
def test_signs_and_flags_say_something(question: str, text: str, answer: str) -> None:
    """U1: what has neither letters nor attributes may be the answer."""
    other = {"text": "The mill grinds on Mondays.", "source": "mill.md", "score": 0.4}
    context = assemble(question, [{"text": text, "source": "a.md", "score": 0.9}, other], budget=90)

    assert answer in context.text


def test_a_line_above_a_table_that_the_question_names_is_an_answer() -> None:
    """U1: the number that is asked for stands in the heading alone."""
    rows = "".join(f"| Person{n} | {'a long description of duties ' * 30} |\n" for n in range(4))
    text = f"# Orders: +49 30 1234567\n\n| name | duty |\n|---|---|\n{rows}"
    context = assemble("What is 1234567 for?", [{"text": text, "source": "a.md"}], budget=90)

    assert "Orders: +49 30 1234567" in context.text
