"""Broken, huge and mixed texts: every law holds, nothing is lost, and the time is linear."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

import pytest
from bench.lookup_texts import FORMS, make_text

from foveate.core.compact.shorten import split_result
from foveate.core.text.shapes.find import find_shapes
from foveate.core.text.units import units_of
from foveate.core.text.words import query_identifiers
from foveate.testing.shapes import check_line_ends, check_linear, check_shapes

ROWS = [{"id": f"A-{n}", "state": "open", "total": n} for n in range(40)]
HOSTILE = {
    "cut in the middle": json.dumps(ROWS)[:-37],
    "cut inside of a string": json.dumps(ROWS, indent=1)[:-24],
    "keys twice": "[" + ", ".join('{"id": 1, "id": 2, "id": "A"}' for _ in range(20)) + "]",
    "a hundred levels": '{"a": [' * 100 + '{"id": "deep", "b": 1}' + "]}" * 100,
    "levels without end": '[{"a": ' * 3_000,
    "brackets alone": "[" * 5_000,
    "closing brackets alone": "]}" * 5_000,
    "long numbers": json.dumps([{"id": n, "n": 10**1_000 + n} for n in range(5)]),
    "no numbers": '[{"id": 1, "n": NaN}, {"id": 2, "n": -Infinity}, {"id": 3, "n": None}]' * 5,
    "brackets that do not match": '[{"id": 1, "b": [1, 2}, {"id": 2]}, {"id": 3}]' * 9,
    "quotes without end": '{"id": "1, "b": "2}\n' * 50,
    "rows with quotes without end": "id,note,n\n" + 'A,"open,1\nB,shut,2\n' * 30,
    "rows with line breaks": "id,note,n\n" + 'A-1,"one\n\ntwo",3\n' * 30,
    "one column": "id\n" + "A-1\n" * 30,
    "columns": "\n".join(",".join(f"c{n}" for n in range(16_384)) for _ in range(4)),
    "rows of other lengths": "id,note,n\n" + "A,b,1\nA,b\nA,b,2,3\n" * 20,
    "tables inside tables": "<table><tr><td>" * 200,
    "rows outside of tables": "<tr><td>a<td>b" * 200,
    "tags without end": "<table><tr><td " * 50,
    "elements without end": "<items>\n" + '<item id="1"><a>b</a>\n' * 30,
    "elements in elements": "<a b='1'>\n" * 300,
    "elements that do not match": "<items>" + "<item id='1'><a>x</b></item>" * 30 + "</items>",
    "a comment without end": "<items><item id='1'/><item id='2'/>" * 9 + "<!-- <item>",
    "entities": '<!DOCTYPE a [<!ENTITY b "&c;&c;">]>\n<a>' + '<c d="1">&b;</c>' * 30 + "</a>",
    "fences without end": "```json\n" + json.dumps(ROWS, indent=1),
    "fences inside": "````\n```json\n{}\n```\n" * 20,
    "dashes": "- - - -\n" * 60,
    "keys without values": "a:\n b:\n  c:\n   d:\n    e:\n" * 20,
    "deep keys": "\n".join(" " * n + f"k{n}: " for n in range(300)),
    "entries": "2024-01-01 10:00:00\n" * 30 + "and so on\n" * 100,
    "speakers": "Ada: a?\nBen: b.\n" * 40 + "No one said more.\n" * 100,
    "minified": "var a=function(){return{b:[1,2,3],c:'d'}};" * 100,
    "blank": " \n\t\n" * 100,
    "tabs alone": "The gates of the hall are shut.\n" + "\t\t\n" * 20 + "\n" * 20,
    "blank rows between rows": "a\tb\n1\t2\n" + "\t\n" * 30 + "3\t4\n" * 5,
    "other line ends": "id,note,n\r\n" + "A,b,1\r\n" * 20,
    "no characters": "\x00\x01{\x02[\n" * 50,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_laws_hold_on_hostile_texts(name: str) -> None:
    """U1, X2: detected, never trusted; what does not parse is prose."""
    check_shapes(HOSTILE[name])
    check_shapes(f"Some words before.\n{HOSTILE[name]}\nSome words behind.")


@pytest.mark.parametrize("name", HOSTILE)
def test_laws_hold_with_white_space_before_line_breaks(name: str) -> None:
    """U1, X2: of hostile texts; no unit is white space alone."""
    check_line_ends(HOSTILE[name])


@pytest.mark.parametrize("form", FORMS)
def test_laws_hold_for_all_forms_with_white_space_before_line_breaks(form: str) -> None:
    """U1: every built-in form of records, too."""
    check_line_ends(make_text(form, 30, 1).text)


@pytest.mark.parametrize("seed", range(30))
def test_laws_hold_on_mixed_and_torn_texts(seed: int) -> None:
    """U1: pieces of two or three forms, cut anywhere, a few characters changed."""
    dice = Random(seed)
    parts = []
    for _ in range(dice.randint(1, 3)):
        text = make_text(dice.choice(list(FORMS)), dice.randint(2, 15), seed).text
        first = dice.randrange(len(text) // 2)
        at = dice.randrange(first, len(text))
        torn = dice.choice(["", "{", '"', "\n\n", "<table>", "```\n", "]"])
        parts += [text[first:at], torn, text[at + dice.randint(0, 5) :], dice.choice("\n ")]

    check_shapes("".join(parts))


LONG = {
    "ids": lambda n: "A-1\n" * n,
    "words and ids": lambda n: "mill\n\n" * n + "mill\n" * n,
    "records": lambda n: json.dumps(ROWS[:1] * n),
    "cut records": lambda n: json.dumps(ROWS[:1] * n)[:-9],
    "broken records": lambda n: '{"id": 1, "b": [1}\n' * n,
    "open strings": lambda n: '{"id": "\n' * n,
    "open brackets": lambda n: "[" * n,
    "brackets on lines": lambda n: "[\n" * n,
    "rows": lambda n: "id,b,c\n" + "A-1,b,2\n" * n,
    "open quotes": lambda n: "id,b,c\n" + 'A-1,"b,2\n' * n,
    "pairs of rows": lambda n: "a,b,1\na,b,2\n\n" * n,
    "tables": lambda n: "<table><tr><td>" * n,
    "lone rows": lambda n: "<tr>\n\n" * n,
    "entries": lambda n: "2024-01-01 10:00:00 INFO a\n" * n,
    "rare entries": lambda n: ("2024-01-01 10:00:00 INFO a\n" + "b\n" * 30) * (n // 10),
    "keys": lambda n: "a: 1\nb: 2\n" * n,
    "deeper keys": lambda n: "".join(" " * (k % 60) + "a:\n" for k in range(n)),
    "turns": lambda n: "Ada: so it is?\nBen: it is.\n" * n,
    "lone turns": lambda n: "Ada: so it is.\n\nA line of prose.\n\n" * n,
    "elements": lambda n: "<a><b c='1'/><b c='2'/>\n" * n,
    "open tags": lambda n: "<item <item a='\n" * n,
    "fences": lambda n: "```\n" * n,
    "open fences": lambda n: "".join(f"{'`' * (3 + k % 50)}\na\n" for k in range(n)),
    "code": lambda n: "def f():\n    return 1\n" * n,
    "inline": lambda n: 'said {"a": 1\n' * n,
    "code among prose": lambda n: (
        "import goods\nand so it went on\nand on again and\nand on again so\n" * n
    ),
    "calls without end": lambda n: f"import a\n\nb = 1\nc = 2\n{'a(' * 8 * n}\n",
    "records and words": lambda n: '{"a": 1} and\n' * 8 * n,
    "comments without end": lambda n: "<x ><!-- \n" * 8 * n,
    "titles of a wide table": lambda n: ("| a" * (n // 10) + " |\n") * 40 + "| Note |\n" * (n // 5),
    "names in a row": lambda n: f"<table><tr><TD>a{'<th>' * 8 * n}",
    "minified": lambda n: 'a={b:"c;d"};function e(f){return f/2};' * n,
    "strings": lambda n: "import a\n" + 'b = """c\n' * n,
    "strings of two kinds": lambda n: "def f():\n" + "    a = '''b\n    c = \"\"\"d\n" * n,
    "strings without end": lambda n: 'import a\nb = """c\n' + "import d\ne = f(g)\n" * n,
    "docstrings": lambda n: 'def f():\n    """Ended.\n\n    """\n' * n,
    "lines in parentheses": lambda n: "Start.\n" + "(x) foo, bar baz, and more words\n" * 8 * n,
    "frames": lambda n: "Traceback (most recent call last):\n" * n,
}


@pytest.mark.parametrize("name", LONG)
def test_time_is_linear(name: str) -> None:
    """U1: four times the text takes four times as long, a log of 10,000 lines included."""
    check_linear(LONG[name], 2_500)


OTHERS: dict[str, tuple[Callable[[str], object], Callable[[int], str]]] = {
    "units behind quotation marks": (units_of, lambda n: '"' * 8 * n),
    "joiners alone": (units_of, lambda n: "\u200d" * n),
    "a line of spaces": (split_result, lambda n: "a\n" + " " * 4 * n + "\nb" + "c" * 200_000),
    "a number of a query": (query_identifiers, lambda n: "1" * 8 * n + "_"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_time_of_other_readers_is_linear(name: str) -> None:
    """U1, P1: what reads units, tool results and questions is linear too."""
    read, make = OTHERS[name]

    check_linear(make, 2_500, read)


def test_what_is_found_does_not_depend_on_what_is_behind() -> None:
    """U1: a table before prose is the table that it is alone."""
    made = make_text("CSV", 20, 1)

    assert find_shapes(made.text)[0] == find_shapes(f"{made.text}\n\nAnd that is all.")[0]
