"""Every word that a trace may use is on the page that explains why a text was dropped."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain

import pytest

from foveate.core.admission import IDENTIFIER_MISSING
from foveate.core.recipes import builtin_recipes
from foveate.core.stages.pack.identifiers import IDENTIFIER_LEFT_OUT
from foveate.core.text.sanitise import sanitise
from foveate.core.weak_evidence import WEAK_EVIDENCE
from foveate.pipeline.assembler import assemble
from foveate.pipeline.flow import FAILED
from foveate.pipeline.follow_up import SEARCHED_ALSO
from foveate.pipeline.reason_messages import REASON_SENTENCES
from source_tree import PACKAGE, ROOT, python_files, tree_of

PAGE = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
HOLDERS = ("numbers", "notes")
FIGURES = re.compile(r"notes|worth_figures|named_values|\w+_notes")
"""Functions that give numbers or notes."""
FILES = [*python_files(PACKAGE / "core"), PACKAGE / "pipeline" / "flow.py"]


def words_under(heading: str) -> set[str]:
    """The codes in the tables under the headings that begin with it; not those of explanations."""
    found = set()
    for section in PAGE.split("\n## ")[1:]:
        if section.startswith(heading):
            rows = re.findall(r"^\| *([^\n]*)", section, re.MULTILINE)
            place = rows[0].split(" | ").index("note") if "note |" in rows[0] else 0
            cells = [row.split(" | ")[place] for row in rows[2:]]
            found.update(re.findall(r"`(\w+)`", " ".join(cells)))
    return found


def holder(target: ast.expr) -> str:
    """The name that a value is put under: `numbers["rank"]` and `choices.notes` too."""
    inner = target.value if isinstance(target, ast.Subscript) else target
    return getattr(inner, "id", "") or getattr(inner, "attr", "")


def dict_keys(node: ast.AST) -> Iterator[str]:
    """The constant keys of every mapping that is written out in it."""
    for mapping in ast.walk(node):
        if isinstance(mapping, ast.Dict):
            for key in mapping.keys:
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value


def assigned_keys(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> Iterator[str]:
    """The keys of numbers and notes that an assignment writes."""
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if holder(target) in HOLDERS and node.value is not None:
            yield from dict_keys(node.value)
            if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
                yield str(target.slice.value)


def passed_keys(node: ast.Call) -> Iterator[str]:
    """The keys that a call is given, by name or by place, or adds to what is there."""
    called = holder(node.func)
    for word in node.keywords:
        if word.arg in HOLDERS:
            yield from dict_keys(word.value)
    if called.endswith("_decision"):
        yield from chain.from_iterable(map(dict_keys, node.args))
    elif called == "update" and holder(getattr(node.func, "value", node.func)) in HOLDERS:
        yield from (word.arg for word in node.keywords if word.arg)


def written_keys(node: ast.AST) -> Iterator[str]:
    """The keys of numbers and notes that this statement, call or function writes."""
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        yield from assigned_keys(node)
    elif isinstance(node, ast.Call):
        yield from passed_keys(node)
    elif isinstance(node, ast.FunctionDef) and FIGURES.fullmatch(node.name):
        yield from dict_keys(node)


def keys_of_the_code() -> set[str]:
    """Every key of a decision's numbers or of a stage's notes that the code can write."""
    nodes = chain.from_iterable(ast.walk(tree_of(path)) for path in FILES)
    return set(chain.from_iterable(map(written_keys, nodes)))


def test_every_reason_is_explained() -> None:
    """D7, F1: the page explains each reason, and no other."""
    explained = words_under("Reasons")

    assert explained == {*REASON_SENTENCES, "stitched", "sanitised"}


def test_every_number_and_note_is_explained() -> None:
    """D7, F1: the page explains each key that the code writes, and names none that is gone."""
    _, hidden = sanitise("a\u200b \u202e \x07 \u2028 b\U000e0041")
    of_inputs = {"no_candidates", IDENTIFIER_MISSING, "scores_from", "supplements_left_out"}
    of_inputs |= {"ranked_behind"}
    of_inputs |= {"reranked", "reranked_by", FAILED, SEARCHED_ALSO}
    written = keys_of_the_code() | of_inputs | {"image_tokens", IDENTIFIER_LEFT_OUT, *hidden}
    written |= {WEAK_EVIDENCE}

    assert words_under("N") == written


@pytest.mark.parametrize("recipe", builtin_recipes())
def test_no_trace_has_a_word_that_is_not_explained(recipe: str) -> None:
    """D7: what recipes put on the trace is what was found in the code."""
    found = [
        {
            "id": str(n),
            "source": f"{n % 4}.md",
            "sequence": n,
            "score": 1 / (n + 1),
            "text": f"The pump of house {n % 9} stands in room {n}. " * (n % 5 + 1),
        }
        for n in range(30)
    ]
    context = assemble("Where is the pump of house 3?", found, recipe=recipe, budget=300)
    decisions = [decision for stage in context.trace for decision in stage.decisions]

    assert {decision.reason for decision in decisions} <= words_under("Reasons")
    assert set(chain.from_iterable(d.numbers for d in decisions)) <= words_under("Numbers")
    assert set(chain.from_iterable(s.notes for s in context.trace)) <= words_under("Notes")
