"""Imports of code are shown where the question is about them, or where the whole text is."""

from __future__ import annotations

import pytest

from foveate.pipeline.assembler import assemble

TURN = "turn the {} wheel by the weir and write down what it measured on the way"
BODIES = {
    "python": '\n\ndef turn_{n}(wheel):\n    """{text}"""\n    return wheel.turn({n})\n',
    "javascript": "\n\nfunction turn_{n}(wheel) {{\n  // {text}\n  return wheel.turn({n});\n}}\n",
    "go": "\n\nfunc Turn{n}(wheel Wheel) int {{\n\t// {text}\n\treturn wheel.turn({n})\n}}\n",
    "rust": "\n\nfn turn_{n}(wheel: Wheel) -> i32 {{\n    // {text}\n    wheel.turn({n})\n}}\n",
    "c": "\n\nint turn_{n}(Wheel wheel) {{\n  // {text}\n  return turn(wheel, {n});\n}}\n",
}
IMPORTS = {
    "python": [
        "from __future__ import annotations",
        "import wheel as weir_wheel",
        "from mill.weir import (\n    measured,\n    wheel_turn,\n)",
    ],
    "javascript": [
        'import { wheel } from "./weir.js";',
        'const measured = require("wheel-measured");',
    ],
    "go": ["package weir", 'import (\n\t"mill/wheel"\n\t"mill/measured"\n)'],
    "rust": ["use mill::wheel::Measured;", "use mill::{weir, way};"],
    "c": ['#include "wheel.h"', "#include <measured.h>"],
}


def source(language: str, count: int = 12) -> str:
    """A file of so many functions."""
    functions = (BODIES[language].format(n=n, text=TURN.format(n)) for n in range(100, 100 + count))
    return "\n".join(IMPORTS[language]) + "".join(functions)


@pytest.mark.parametrize("language", BODIES)
@pytest.mark.parametrize("budget", [150, 300])
def test_imports_that_nothing_asks_for_take_no_place_from_code(language: str, budget: int) -> None:
    """U1: though they hold words of the question; they come last."""

    def functions(text: str) -> set[str]:
        found = [{"text": text, "source": "weir"}]
        shown = assemble("What was measured of the wheel by the weir?", found, budget=budget).text
        return {f"turn the {n} wheel" for n in range(100, 112) if f"turn the {n} wheel" in shown}

    text = source(language)
    bare = text.removeprefix("\n".join(IMPORTS[language])).lstrip()

    assert len(functions(text)) >= max(len(functions(bare)) - 1, 1)


def test_an_import_is_asked_for_by_its_name() -> None:
    """U1, U2: where the question holds an identifier."""
    text = source("python").replace("wheel_turn", "wheel_v42")
    shown = assemble("Who calls wheel_v42?", [{"text": text, "source": "weir"}], budget=150).text

    assert IMPORTS["python"][2].replace("wheel_turn", "wheel_v42") in shown


def test_a_text_that_fits_is_shown_with_its_imports() -> None:
    """U1, J3: so is a text of nothing else, and one of which `fill` asks for all."""
    text = source("python", 3)
    whole = assemble("How does the wheel turn?", [{"text": text, "source": "weir"}], budget=800)
    imports = "\n".join(f"import wheel_{n}" for n in range(99))
    alone = assemble("How does the wheel turn?", [{"text": imports, "source": "a"}], budget=100)

    assert IMPORTS["python"][2] in whole.text
    assert "import wheel_" in alone.text


def test_an_import_in_a_function_is_a_statement_of_it() -> None:
    """J3: no hole is made in a body."""
    inner = "def late(wheel):\n    import measured\n" + "    wheel.turn(measured.now())\n" * 3
    text = source("python") + "\n\n" + inner
    found = [{"text": text, "source": "weir"}]

    assert inner.strip() in assemble("What is late?", found, budget=120).text


def pool(imports: str) -> list[dict[str, object]]:
    """The imports, which the scores set apart, among forty functions."""
    body = BODIES["python"]
    others = [body.format(n=n, text=TURN.format(n)) for n in range(100, 140)]
    rest = [{"text": text, "source": f"{n}.py", "score": 0.1} for n, text in enumerate(others)]
    return [{"text": imports, "source": "settings.py", "score": 0.9}, *rest]


SETTINGS = (
    "import os\nimport redis\nimport kafka\nfrom celery import Celery\nfrom ormolu import make\n"
)


@pytest.mark.parametrize("name", ["kafka", "Celery"])
@pytest.mark.parametrize("is_scored", [True, False])
def test_an_import_that_alone_holds_a_word_of_the_question_is_shown(
    name: str, *, is_scored: bool
) -> None:
    """U1, J1: it is what the question is about, though it is not asked for by what it is."""
    found = pool(SETTINGS) if is_scored else [one | {"score": 0.5} for one in pool(SETTINGS)]

    assert f"import {name}" in assemble(f"Where is {name} used?", found, budget=1_000).text


def test_imports_of_a_chunk_that_scores_set_apart_are_shown() -> None:
    """J1: whatever the words say."""
    shown = assemble("How does the wheel turn?", pool(SETTINGS), budget=300).text

    assert SETTINGS.strip() in shown
