"""Code of a later chunk leans on the signatures around it, wherever these stand."""

from __future__ import annotations

from itertools import pairwise

import pytest

from foveate.core.types import CODE_HEADS, Candidate, Chunk, Context
from foveate.pipeline.assembler import assemble

METHOD = """    def {name}(self):
        # {name}: {code} is asked for here
        if self.state == "{name}":
            return self.pump.turn({code!r}, "{name}")
        return None

"""
NAMES = ("open", "shut", "drain", "fill", "hold", "lift", "turn", "rest", "clean", "warm")
WEIR = "class Weir:\n\n" + "".join(
    METHOD.format(name=name, code=f"W-{n}4") for n, name in enumerate(NAMES)
)
MILL = WEIR.replace("Weir", "Mill").replace("W-", "M-")
ALONE = "def grind(corn):\n" + METHOD.format(name="mix", code="G-77").replace("    ", "", 1)


def chunks_of(text: str, bounds: list[int], known: dict[int, object] | None = None) -> list[Chunk]:
    """The text, cut there; `known`: what the metadata of a chunk say, by its sequence."""
    return [
        Chunk(
            id=f"c{n}",
            document_id="weir.py",
            source="weir.py",
            text=text[a:b],
            sequence=n,
            start=a,
            end=b,
            metadata={CODE_HEADS: known[n]} if known and n in known else {},
        )
        for n, (a, b) in enumerate(pairwise([*bounds, len(text)]))
    ]


def asked(code: str, chunks: list[Chunk], budget: int = 110) -> Context:
    """The context for the piece of code with this identifier."""
    return assemble(
        f"Where is {code}?",
        [Candidate(chunk=chunk, score=0.5) for chunk in chunks],
        budget=budget,
    )


def starts(text: str, *names: str) -> list[int]:
    """Where the methods begin."""
    return [text.index(f"    def {name}(") for name in names]


@pytest.mark.parametrize("back", [0, 4, 30, 90])
def test_a_method_is_shown_with_its_class(back: int) -> None:
    """U1 U2: from a chunk that begins with it, without its indentation, or in the one before."""
    at = [place - back + 4 if back else place for place in starts(WEIR, "fill", "rest")]
    shown = asked("W-84", chunks_of(WEIR, [0, *at])).text

    assert '        # clean: W-84 is asked for here\n        if self.state == "clean":' in shown
    assert "    def clean(self):" in shown
    assert shown.count("class Weir:") == 1
    assert shown.index("class Weir:") < shown.index("def clean")


def test_what_follows_a_class_is_not_shown_in_it() -> None:
    """U1: a function at the left edge is in no class, whatever stands before it."""
    text = WEIR + "\n\n" + ALONE
    shown = asked("G-77", chunks_of(text, [0, *starts(WEIR, "fill"), text.index(ALONE)])).text

    assert "G-77" in shown
    assert "def grind(corn):" in shown
    assert "class Weir" not in shown


def test_metadata_say_what_is_around_where_chunks_are_missing() -> None:
    """U2: the class that they name, and none if its chunk is not there."""
    text = WEIR + MILL
    mill = text.index("class Mill")
    rest = mill + starts(MILL, "rest")[0]
    chunks = chunks_of(text, [0, starts(WEIR, "fill")[0], mill, mill + 400, rest], {4: [2]})
    near, named = [chunks[0], chunks[4]], [chunks[0], chunks[2], chunks[4]]

    assert "class " not in asked("M-84", near).text
    assert "class Mill:" in (shown := asked("M-84", named).text)
    assert "class Weir:" not in shown


@pytest.mark.parametrize("known", [(), "2", [None], {"a": 1}, [7], [True]])
def test_metadata_that_name_no_chunk_add_nothing(known: object) -> None:
    """U2 X2: the key may be somebody else's, or wrong."""
    chunks = chunks_of(WEIR, [0, *starts(WEIR, "fill", "rest")], {2: known})

    assert "W-84" in asked("W-84", chunks).text


def test_the_signature_of_a_cut_method_is_shown_below_its_class() -> None:
    """U1: each of the signatures around a statement, in the chunks that have them."""
    body = "".join(f"        self.turn({n})  # step S-{n}0\n" for n in range(40))
    text = WEIR + "    def work(self, load):\n" + body
    at = text.index("        self.turn(20)")
    chunks = chunks_of(text, [0, *starts(text, "fill", "work"), at], {2: [0], 3: [0, 2]})
    shown = asked("S-330", chunks).text

    places = [shown.find(line) for line in ("class Weir:", "def work(self, load)", "self.turn(33)")]
    assert -1 not in places
    assert places == sorted(places)


def test_short_method_is_shown_whole_or_not_at_all() -> None:
    """U1, J3: with its signature, and without a hole where a few lines would stand."""
    method = (
        "    def turn_{n}(self, wheel):\n        wheel.open()\n        steps = self.count(wheel)\n"
        "        for step in range(steps):\n            if wheel.is_shut:\n                break\n"
        "            self.turned.append((step, wheel.measure(step, 'by hand')))\n"
        "            self.note('the wheel is turned', step, self.turned[-1])\n"
        "        wheel.shut()\n        return self.turned[-1], len(self.turned), {n}\n\n"
    )
    text = "class Weir:\n" + "".join(method.format(n=n) for n in range(20))
    shown = asked("turn_7 measured", chunks_of(text, [0]), budget=400).text
    whole = [n for n in range(20) if method.format(n=n).strip() in shown]

    assert 7 in whole
    assert all((f"def turn_{n}(" in shown) == (n in whole) for n in range(20))


def test_gap_in_code_is_a_line_of_its_own() -> None:
    """U1, J3: in a chunk of too few lines to be counted, too."""
    statements = "".join(f"    wheel.turn({n}, 'so many times as was said')\n" for n in range(20))
    text = f"def turn(wheel):\n    wheel.open()\n{statements}    return wheel.measured_by_hand\n"
    shown = asked("measured by hand", chunks_of(text, [0]), budget=60).text

    assert "\n[…]\n    wheel.turn(" in shown
    assert "return wheel.measured_by_hand" in shown
    assert "def turn(wheel):\n" in shown
