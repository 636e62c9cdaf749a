"""The words of the house: a thing is called by the field's noun or verb (DESIGN.md).

Names that were replaced stay out of the code, the help and the pages, so that nobody has to learn a
private language. Each exception says why it may stay.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from source_tree import PACKAGE, ROOT, tree_of

_WORDS = """
    anew apart around asked assembled awaited badrequest basket blocking books bridge crowd crowds
    desk door draft elastic entered fate fold frames gauge given grow halves hand_over held joints
    keeping kept known ladder later made maker meet mutual near needs offer offered one opened
    outsidefailure packed pairs pending plan prepare proceed question reader reading readings
    reception rung said scale seal sealed settle settled shelf shelves shortener shown sketch
    speaker spoken stopping stored talk terms told traits trouble unread visit ways whole wish
    withdraw words work worth
"""
REPLACED = frozenset(_WORDS.split())
"""Names of modules, classes and functions that have a plainer one."""

EXCEPTIONS = {
    # nouns of the field, or of a library
    "core/stages/dedup/near.py": "near duplicates are called so",
    "core/text/terms.py": "what a search index holds are terms",
    "core/seal.py": "what proves that a context was not changed",
    "core/text/words.py": "the words of a text",
    "ingest/reader.py": "the process that reads files",
    "ingest/prepare.py": "prepares a file's documents; the pipeline's part is pipeline/flow.py",
    "pipeline/sessions.py proceed": "the public verb of sessions, in the pages and in programs",
    "pipeline/sessions.py _proceed": "its flow",
    # the core
    "core/request.py Offer": "a level of the recipe's option `offer`, which is stored",
    "core/contracts.py shown": "a public method of formats, as in core/formats and core/render.py",
    "core/stages/dedup/compared_text.py words": "the words of a sentence",
    "core/text/terms.py fold": "case folding",
    "core/text/word_arrays.py _pairs": "pairs of words",
    "core/text/words.py fold": "case folding",
}
"""A file, or a name in it → why it keeps the word."""

PRIVATE = re.compile(
    r"(?<![-\w./`])(anew|nobody|told of|who asks|basket|crowds|joints|ladder|rung|sealed|shelf|"
    r"shelves|shortener|elastic|withdraw|a say|said more than once)(?![-\w])",
    re.IGNORECASE,
)
"""Words and turns that pages, help, messages and docstrings do not use: others are plainer."""


def _names(path: Path) -> Iterator[str]:
    """The file, and the functions and classes in it that others can use."""
    place = path.relative_to(PACKAGE)
    own = path.parent.name if path.name == "__init__.py" else path.stem
    if own.lower() in REPLACED:
        yield place.as_posix()
    waiting: list[ast.AST] = [tree_of(path)]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if isinstance(node, ast.ClassDef):
                waiting.append(node)
            named = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            if named and node.name.strip("_").lower() in REPLACED:
                yield f"{place.as_posix()} {node.name}"


def test_no_name_of_before_is_left():
    """F1: modules, classes and functions are called by the field's nouns and verbs."""
    found = {name for path in PACKAGE.rglob("*.py") for name in _names(path)}
    contract = re.compile(r"core/(formats/(shared/)?\w+|render)\.py ")
    left = [name for name in sorted(found) if not name.startswith(tuple(EXCEPTIONS))]
    unused = sorted(EXCEPTIONS.keys() - found)
    assert [name for name in left if not contract.match(name)] == []
    assert [name for name in unused if not contract.match(name)] == [], "needed no more"


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_and_help_have_no_private_language(page: Path):
    """F2: what one reads is plain English."""
    assert _private(page.read_text(encoding="utf-8")) == []


QUOTED = {
    "pipeline/compressor.py": "the prompt: a reader who asks a question",
    "testing/models.py": "a role that no model has",
    "core/text/fact_words.py": "words that negate a sentence",
}
"""Files with one of the words in its plain meaning."""


def test_messages_and_docstrings_have_no_private_language():
    """X1: nor do messages and docstrings."""
    found = [
        f"{place}:{node.lineno}: {said}"
        for path in PACKAGE.rglob("*.py")
        if not (place := path.relative_to(PACKAGE).as_posix()).startswith(tuple(QUOTED))
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for said in _private(node.value)
    ]
    assert found == []


def _private(text: str) -> list[str]:
    return [said[0] for line in text.splitlines() if (said := PRIVATE.search(line))]
