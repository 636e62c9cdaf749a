"""Records that hold an identifier which the question names."""

from __future__ import annotations

import json

import pytest

from foveate import assemble

PARTS = [
    {
        "part": f"P-{100 + n}",
        "name": f"pump seal {n}",
        "replaces": "P-117" if n in (3, 5, 9, 21, 25, 30) else "none",
        "note": "use with P-117 only" if n in (8, 12) else "fits",
    }
    for n in range(40)
]
ROWS = [list(part.values()) for part in PARTS]
FORMS = {
    "csv": "part,name,replaces,note\n" + "".join(",".join(row) + "\n" for row in ROWS),
    "json": json.dumps(PARTS, indent=1),
    "json lines": "".join(json.dumps(part) + "\n" for part in PARTS),
    "markdown": "| part | name | replaces | note |\n|---|---|---|---|\n"
    + "".join(f"| {' | '.join(row)} |\n" for row in ROWS),
    "html": "<table>\n<tr><th>part</th><th>name</th><th>replaces</th><th>note</th></tr>\n"
    + "".join("<tr>" + "".join(f"<td>{v}</td>" for v in row) + "</tr>\n" for row in ROWS)
    + "</table>",
}


@pytest.mark.parametrize("form", FORMS)
def test_the_record_under_its_own_identifier_comes_before_those_that_refer_to_it(form: str) -> None:
    """U2: the row that begins with the identifier is shown where the budget holds few rows."""
    found = [{"text": FORMS[form], "source": "parts", "score": 0.5}]
    for budget in (90, 150, 300):
        assert "pump seal 17" in assemble("What is P-117?", found, budget=budget).text
    assert "pump seal 9" in assemble("What is P-117?", found, budget=300).text


@pytest.mark.parametrize(
    "codes",
    [["F1", "F3", "F4"], ["H01", "H03", "H04"], ["d01", "d03", "d04"], ["A-1", "A-3", "A-4"]],
)
def test_a_code_of_a_letter_and_a_digit_finds_its_row(codes: list[str]) -> None:
    """U2: though the question has more words of another code's row."""
    told = ["the drain filter is blocked: clean the filter", "the door is open", "the fan is worn"]
    rows = "".join(f"| {code} | {text} |\n" for code, text in zip(codes, told, strict=True))
    found = [{"text": f"| code | cause |\n|---|---|\n{rows}", "source": "oven.md", "score": 0.5}]
    question = f"The oven shows {codes[2]}. Is the drain filter blocked, do I clean the filter?"

    shown = assemble(question, found, budget=45).text
    assert told[2] in shown
    assert told[0] not in shown


RELEASES = [
    ("4.4.0", "Added: the pump cleans itself at night."),
    ("4.3.1", "Fixed: the valve no longer drips in winter."),
    ("4.3.0", "Added: menus in Danish; new in the box is a filter."),
    ("4.2.0", "Added: a lock for the lid."),
    ("4.1.0", "Changed: the lamp is blue, which was new in no other model."),
]


@pytest.mark.parametrize(
    ("question", "versions"),
    [
        ("What was new in 4.2?", {"4.2.0"}),
        ("was ist neu in 4.4", {"4.4.0"}),
        ("What changed between 4.1 and 4.3?", {"4.1.0", "4.3.1", "4.3.0"}),
    ],
)
def test_a_release_is_found_by_the_first_numbers_of_its_version(
    question: str, versions: set[str]
) -> None:
    """U2: its section comes before those of other versions, and rows that mention it."""
    sections = [f"## {version} (2031-05-02)\n\n- {note}" for version, note in RELEASES]
    rows = [f'{{"id": "T-{n}", "text": "Runs 4.3, new in March."}}' for n in range(200, 212)]
    found = [
        {"text": text, "source": f"{n}.md", "score": 0.9 - n / 100}
        for n, text in enumerate([*rows, *sections])
    ]
    shown = assemble(question, found, budget=40 * len(versions)).text
    assert {version for version, _ in RELEASES if f"## {version}" in shown} >= versions
    assert all(note in shown for version, note in RELEASES if version in versions)
