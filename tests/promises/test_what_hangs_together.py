"""Nothing that is shown loses what it hangs on, at any budget."""

from __future__ import annotations

import re

import pytest

from foveate import BudgetTooSmall, assemble
from foveate.core.recipes import builtin_recipes

RECIPES = sorted(builtin_recipes())
ROWS = [(f"K-{n}", f"{n}.50") for n in range(10, 24)]
AFTER = "Letters are sorted by the concierge. The lift is cleaned on Monday. Bread comes at six."
PIPES = "\n".join(f"| {code} | {price} |" for code, price in ROWS)
CELLS = "".join(f"<tr><td>{code}</td><td>{price}</td></tr>" for code, price in ROWS)
TABLES = {
    "Markdown": f"| Code | Price |\n|---|---|\n{PIPES}",
    "HTML": f"<table><tr><th>Code</th><th>Price</th></tr>{CELLS}</table>",
    "CSV": "Code,Price\n" + "\n".join(map(",".join, ROWS)),
}
FILL = (
    "The park is near the station and has three gates. Benches were painted by the school. {} "
    "The fountain runs on hot days. A map hangs beside the main gate. Lamps are lit at dusk."
)
TURNED = [
    ("Dogs may use the lawn near the pond.", "This does not hold from March to June."),
    ("He said that he had paid the invoice of the firm.", "However, that was a lie."),
    ("Kinder dürfen den Teich am Tor benutzen.", "Aber das gilt im Sommer allein."),
    ("Les vélos sont admis sur le chemin.", "Mais cela ne vaut pas le dimanche."),
    ("Los perros pueden entrar al parque.", "Pero esto vale en verano."),
]


def contexts(question, text, recipe):
    """What the recipe shows of the text, at budgets from nothing to all."""
    other = {"text": "Another hall stands in the town. It is old. " * 3, "score": 0.5}
    for budget in range(24, 260, 9):
        found = [{"text": text, "score": 1.0, "source": "a.docx"}, other]
        try:
            yield assemble(question, found, budget=budget, recipe=recipe).text
        except BudgetTooSmall:
            continue


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("question", ["What is K-14?", "Who sorts the letters?"])
@pytest.mark.parametrize("caption", ["Withdrawn values:", "Zurückgezogene Werte:"])
@pytest.mark.parametrize("kind", TABLES)
def test_no_row_without_its_names_and_no_table_without_its_caption(kind, caption, question, recipe):
    """V4: whichever row fits, the names of the columns and the lead-in stand above it."""
    lead = f"<p>{caption}</p>\n" if kind == "HTML" else f"{caption}\n\n"
    text = f"The shop sells many things, in town and by post.\n\n{lead}{TABLES[kind]}\n\n{AFTER}"

    for shown in contexts(question, text, recipe):
        row = re.search(r"K-\d\d\W+(?:</?td>)*\d", shown)
        if row:
            assert -1 < shown.find(caption) < shown.find("Code") < row.start()
            assert not re.search(r"\|[^\n|]*\[…[^\n]*\][^\n|]*[a-z]{3}", shown)


@pytest.mark.parametrize(("said", "turned"), TURNED)
def test_a_sentence_that_turns_the_one_before_stays_with_it(said, turned):
    """V4: an extract shows no statement without what takes it back."""
    text = FILL.format(f"{said} {turned}")

    seen = [shown for shown in contexts(said, text, "summarise") if said in shown]
    assert seen
    assert all(turned in shown for shown in seen)


def test_code_between_fences_is_shown_whole():
    """V4: no fence is left open in an extract."""
    code = "```\n" + "\n".join(f"mix(acid_{n}, base, heat={n})" for n in range(12)) + "\n```"

    for shown in contexts("How is the acid mixed?", FILL.format(f"\n\n{code}\n\n"), "summarise"):
        assert shown.count("```") % 2 == 0


@pytest.mark.parametrize("budget", [60, 120, 300])
@pytest.mark.parametrize("caption", ["Then:", "## Measured", "These follow."])
def test_names_of_columns_keep_their_rule_and_have_a_row(caption: str, budget: int) -> None:
    """V4: of many small tables, under a caption, a heading or a sentence."""
    table = "| n | v |\n|---|---|\n| x{n} | {n} |\n| y{n} | {m} |\n"
    tables = [table.format(n=n, m=n + 9) for n in range(60)]
    text = f"\n{caption}\n\n".join(tables)
    shown = assemble("What is y44?", [{"text": text}], budget=budget).text

    assert "| y44 | 53 |" in shown
    for part in shown.split("| n | v |\n")[1:]:
        assert part.startswith("|---|---|\n")
        assert re.search(r"^\| [xy]", part, re.MULTILINE)


@pytest.mark.parametrize("budget", [110, 150, 300])
def test_an_entry_that_is_asked_for_keeps_its_exception(budget: int) -> None:
    """V4, U1: the question has words of the entry, and the exception says what happened."""
    hour = "".join(f"2024-05-01 10:04:{n:02d} INFO gate {n} moved\n" for n in range(40))
    frames = "".join(
        f'  File "/srv/lock/{name}.py", line {n}, in turn\n    self.{name}.turn(self.wheel)\n'
        for n, name in enumerate(("gate", "wheel", "pump"), 10)
    )
    entry = "2024-05-01 10:05:41 ERROR the sluice of gate 41 is stuck\n"
    error = "hydraulics.PressureLost: no oil behind the valve"
    trace = f"{entry}Traceback (most recent call last):\n{frames}{error}\n"
    log = hour + trace + hour.replace("10:04", "10:06")
    shown = assemble("Why is the sluice stuck?", [{"text": log}], budget=budget).text

    assert entry.strip() in shown
    assert error in shown
