"""INSERT statements of a dump: a statement or a row is a unit, whatever its strings hold."""

from __future__ import annotations

import pytest

from foveate.core.text.shapes.find import find_shapes
from foveate.core.types import Chunk
from foveate.pipeline.assembler import assemble
from foveate.testing.shapes import check_linear, check_shapes

STATEMENTS = [
    "INSERT INTO boats VALUES (41, 'Heron''s (old)', 'moored; dry', now());",
    "insert into boats (id, name)\n  values (42, 'C:\\', NULL);",
    "INSERT INTO boats VALUES (43, 'it\\'s; x)', 3) ON CONFLICT DO NOTHING;",
    'REPLACE INTO `my boats` VALUES (44, "Teal, (small)", 4);',
]
HEAD = "INSERT INTO boats (id, name, length) VALUES"
ROWS = [f"({n}, 'Boat {n}, (wood)', {n % 17}.5)" for n in range(1000, 1120)]


def test_each_statement_of_one_row_is_a_unit() -> None:
    """U1: strings may hold quotation marks, parentheses and semicolons of either dialect."""
    text = "CREATE TABLE boats (id int);\n" + "\n".join(STATEMENTS) + "\n-- end of the dump\n"
    (shape,) = check_shapes(text)

    assert [text[a:b] for a, b in shape.spans] == STATEMENTS


@pytest.mark.parametrize("between", [",", ",\n", "\n  ,\n"])
def test_a_row_of_many_is_shown_whole_below_its_statement(between: str) -> None:
    """U1 U2: rows of one statement lean on its head, and what is left out is counted."""
    text = f"{HEAD} {between.join(ROWS)};\n"
    (shape,) = check_shapes(text)
    shown = assemble("What length has boat 1054?", [{"text": text}], budget=90).text

    assert (shape.head, shape.columns, len(shape.spans)) == (0, 3, 121)
    assert HEAD in shown
    assert ROWS[54] in shown
    assert " of 120 rows]" in shown


def test_rows_of_a_later_chunk_are_shown_below_the_head_of_their_statement() -> None:
    """U2: the head is taken from the chunk that has it."""
    texts = [f"{HEAD}\n" + ",\n".join(ROWS[:60]) + ",", ",\n".join(ROWS[60:]) + ";"]
    chunks = [
        Chunk(id=str(n), text=text, source="boats.sql", document_id="boats", sequence=n)
        for n, text in enumerate(texts)
    ]
    shown = assemble("What length has boat 1099?", chunks, budget=150).text

    assert HEAD in shown
    assert ROWS[99] in shown


@pytest.mark.parametrize("between", [",", ",\n"])
@pytest.mark.parametrize("cut", [0, 9])
def test_rows_are_read_in_a_chunk_that_begins_among_them(between: str, cut: int) -> None:
    """U1: with the rest of a row before them, however many stand in one line."""
    text = between.join(ROWS)[cut:]
    (shape,) = check_shapes(text)

    assert (shape.name, shape.start, shape.columns, shape.head) == ("sql rows", 0, 3, -1)
    assert len(shape.counted[0].spans) == 120 - (cut > 0)
    assert text[slice(*shape.counted[0].spans[-1])] == ROWS[-1]


@pytest.mark.parametrize(
    "other",
    [
        "INSERT INTO log VALUES (1, COALESCE((SELECT MAX(id) FROM t), 0));\n",
        "Give it as\nINSERT INTO boats VALUES (<id>, '<name>; see below.\n\nThe dump:\n",
        "INSERT INTO boats VALUES (...\n\n",
        "INSERT INTO boats VALUES (the boat's id) adds a boat.\n\n",
    ],
)
def test_a_statement_that_does_not_parse_hides_no_other(other: str) -> None:
    """U1: neither those before nor those behind it."""
    few = "".join(f"{HEAD} {row};\n" for row in ROWS[:20])
    shapes = check_shapes(f"{few}{other}{few}")

    assert [len(shape.counted[0].spans) for shape in shapes] == [20, 20]


@pytest.mark.parametrize("value", ["say \\'hi\\', then go", "the dogs\\', then go"])
def test_an_escaped_mark_before_a_comma_ends_no_value(value: str) -> None:
    """U1: if the statement is read in no other way."""
    (shape,) = check_shapes(f"INSERT INTO t (id, n, m) VALUES (1,'{value}','b'),(2,'x','y');\n")

    assert (len(shape.counted[0].spans), shape.columns) == (2, 3)


@pytest.mark.parametrize(
    "form",
    [
        "INSERT INTO boats (id) OVERRIDING SYSTEM VALUE VALUES ({});",
        "Insert into boats values ({});",
        "INSERT LOW_PRIORITY IGNORE INTO boats VALUES ({});",
        "INSERT INTO boats VALUES ({}) ON CONFLICT (id)\n  DO UPDATE SET name = 'a; b';",
        "INSERT INTO boats VALUES ({}) AS new ON DUPLICATE KEY UPDATE id = new.id;",
        "INSERT INTO boats VALUES ({}) RETURNING id;",
    ],
)
@pytest.mark.parametrize("before", ["", "\ufeff"])
def test_statements_are_read_with_the_clauses_of_each_system(form: str, before: str) -> None:
    """U1: each is one unit up to its end."""
    statements = [form.format(n) for n in range(12)]
    text = before + "\n".join(statements)
    (shape,) = check_shapes(text)

    assert [text[a:b].removeprefix(before) for a, b in shape.spans] == statements


@pytest.mark.parametrize(
    "text",
    [
        "(see 1), (see 2), (see 3), (it is so\nand more words stand here.\nThe end of it.\n",
        "(applause),\n(laughter),\n(long silence). The speaker then went on at some length.\n",
        "(1, 2), (3, 4), (5, 6) are the points that the line goes through, from left to right.",
        "x = [(1,'a'),(2,'b'),(3,'c'),(4,'d')] and so on, as it stands in the file of the program",
        "(a) the first, (b) the second, (c) the third, and (d) what is said of all of them",
        "Insert into the slot both values (left and right), and turn them until they click.",
        "INSERT INTO boats SELECT * FROM ships WHERE name = 'Heron' AND length > 4;",
        "INSERT INTO boats VALUES (1, 'a string that does not end, and so on and on",
    ],
)
def test_prose_and_torn_statements_are_none(text: str) -> None:
    """U1: they are read as before."""
    assert find_shapes(text) == ()


@pytest.mark.parametrize(
    "unit",
    [
        "INSERT INTO t VALUES (1, 'a'); ",
        "INSERT INTO t VALUES (1, 'a'),(2);\n",
        "INSERT INTO t VALUES (1);\nINSERT INTO t VALUES ('\n",
        "INSERT INTO t VALUES (1),(\n",
        "INSERT INTO t (\n",
        "INSERT INTO t VALUES ('\\'    \n",
        "INSERT INTO t VALUES ((((\n",
        "(1, 2),\n",
        "(1,'a'),",
        "'),(1,2),(3,4),(5,6),('\n",
        "INSERT INTO t VALUES (\\'x\n",
        "INSERT INTO t VALUES (\\'x\\\n",
        "\ufeff INSERT INTO t VALUES (1,`\n",
        "INSERT INTO t VALUES (1) ON 'x\n",
        "INSERT a b c\n",
    ],
)
def test_dumps_take_linear_time(unit: str) -> None:
    """U1: with rows, strings and parentheses that do not end, too."""
    check_linear(lambda n: unit * n, 1_000)
    check_linear(lambda n: unit.rstrip("\n") * n, 1_000)
