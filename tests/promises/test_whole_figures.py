"""What is shown stands in the source: no run of characters without a space is cut."""

from __future__ import annotations

import json
import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate import BudgetTooSmall, assemble, compact, expand
from foveate.core.recipes import builtin_recipes

RECIPES = sorted(builtin_recipes())
MARK = re.compile(r"\[…[^\]\n]*\]|…|\[(?:shortened|same as)[^\]\n]*\]|\[Pag[ei]n?a? context:[^\n]*")
QUESTION = "What is the figure of the berth, in litres or EUR?"


def _figure(random: Random) -> str:
    n, m = random.randint(1, 9), random.randint(100, 999)
    return random.choice(
        [
            *(f"{n}.{m},50", f"{n},{m}", f"{m}Gi", f"{n}h{n}1", f"{n}:{n}", f"{m:x}-{m * 7:04x}"),
            *(f"-{m}", f"±0.{m}", f"≤{m}", f"{m}%", f"€{m}", f"{m}€", f"10.0.{n}.{m}", f"{m}°"),
            *(f"2024-05-1{n}", f"A/B-{m}", f"https://x.example/a,{m};c={n}", f"u{m}@x.org"),
            *(f"{n}'{m}'000", f"v{n}.{m}.0", "C++", f"{m}µg/ml", f"conf.Name{n}", f"({m})"),
            *(f"{n}.4:80{n}0", f"{m}!", f'key="{m}"', f"№{m}", f"[{n}/{m}]", f"{m}mW/cm²"),
        ]
    )


def _line(random: Random) -> str:
    """Figures without an end of a sentence."""
    parts = random.randint(1, 3)
    word = random.choice(["berth", "mix", "B", "Anlage", "", "pump,", "lot;"])
    unit = random.choice(["EUR", "litres", "mg", "", "", "of it,"])
    joint = random.choice([" ", "  ", "\n", "; ", ", ", " | "])
    cells = [
        " ".join(filter(None, [word, *[_figure(random) for _ in range(parts)], unit]))
        for _ in range(random.randint(5, 160))
    ]
    return joint.join(cells)


def _prose(random: Random) -> str:
    return " ".join(
        random.choice(
            ["The {} has {} of {}.", "Approx. {} of No. {}, i.e. {}; see there.", "{} {}? {}!"]
        ).format(_figure(random), _figure(random), _figure(random))
        for _ in range(random.randint(1, 30))
    )


def _records(random: Random) -> str:
    rows = [
        {"berth": n, "figure": _figure(random), "note": _prose(random)[: random.randint(5, 900)]}
        for n in range(random.randint(2, 20))
    ]
    if random.random() < 0.5:
        return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    table = "\n".join(f"| {r['berth']} | {r['figure']} |" for r in rows)
    return f"| berth | figure |\n|---|---|\n{table}"


def _text(random: Random) -> str:
    kinds = random.choices([_line, _prose, _records], [5, 3, 1], k=random.randint(1, 3))
    return "\n\n".join(kind(random) for kind in kinds)


def torn(sources: list[str], shown: str) -> list[str]:
    """The runs that are shown and stand in no source."""
    known = {run for source in sources for run in source.replace("\\", "").split()}
    return [run for run in MARK.sub(" ", shown.replace("\\", "")).split() if run not in known]


@pytest.mark.parametrize("recipe", RECIPES)
@given(seed=st.integers(0, 2**32))
def test_no_figure_of_a_context_is_cut(recipe, seed):
    """V2: every run of a block is one of its source, at any budget."""
    random = Random(seed)
    texts = [_text(random) for _ in range(random.randint(1, 4))]
    found = [
        {"text": text, "source": f"{n}.txt", "score": 1 / (n + 1)} for n, text in enumerate(texts)
    ]
    for _ in range(3):
        try:
            context = assemble(QUESTION, found, recipe=recipe, budget=random.randint(60, 900))
        except BudgetTooSmall:
            continue
        for block in context.blocks:
            assert torn(texts, block.text) == []


@given(seed=st.integers(0, 2**32))
def test_no_figure_of_a_shortened_result_is_cut(seed):
    """V2: nor in a tool result, shortened or expanded."""
    random = Random(seed)
    text = _text(random)
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": text},
    ]
    try:
        made = compact(messages, budget=random.randint(80, 900))
    except BudgetTooSmall:
        return
    assert torn([text], made.messages[-1]["content"]) == []
    for handle in made.originals:
        shown = expand(handle, made.originals, query=QUESTION, budget=random.randint(60, 600))
        assert torn([text], shown) == []
