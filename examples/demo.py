"""From a folder of documents to a context that fits, step by step, offline; `make demo` runs it.

The documents are the Python language reference that is inside every Python (`pydoc_data.topics`).
FOVEATE_DEMO_DOCS=FOLDER takes others, FOVEATE_DEMO_QUESTIONS="One?|Two?" asks other questions.
Everything it writes is under build/demo; a second run finds the store and only looks for changes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from shutil import rmtree
from textwrap import wrap

from foveate import plugins
from foveate.cli.index_run import IndexResult, choose_engine, open_indexer, report_lines
from foveate.cli.layout import wrap_words
from foveate.cli.output import prepare_streams, print_lines, terminal_width
from foveate.cli.show import citation_lines, explain_lines
from foveate.core.assemble import assemble
from foveate.core.errors import FoveateError, InvalidRequest
from foveate.core.replay import build_bundle, compare_bundles, inputs_from_bundle
from foveate.ingest import Enrich
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.flow import AssemblyResult
from foveate.pipeline.store_with_embedder import open_store_with_embedder
from foveate.providers import tokenizers
from foveate.stores.sqlite.store import SqliteStore

BUILD = Path("build", "demo")
QUESTIONS = (
    "How does the with statement call __enter__ and __exit__?",
    "When is the else clause of a loop or a try statement run?",
)
BUDGET = 300  # tokens, under a page: small, so that there is something to decide
WIDTH = terminal_width()


def main() -> None:
    """The whole path: documents, store, two questions, replay."""
    folder = documents()
    store = BUILD / ("store" if folder.parent == BUILD else f"store-{folder.name}")
    index(folder, store)
    for number, question in enumerate(questions(store), 1):
        show(ask(question, store), question, store, number)


def documents() -> Path:
    """The folder to index; written out of Python itself unless another is named."""
    named = os.environ.get("FOVEATE_DEMO_DOCS")
    if named:
        heading("The documents", f"The folder {named}, as FOVEATE_DEMO_DOCS says.")
        return Path(named)
    from pydoc_data.topics import topics

    folder = BUILD / "docs"
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.txt"):
        if path.stem not in topics:
            path.unlink()  # written by another Python
    for name, text in topics.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    size = sum(path.stat().st_size for path in folder.iterdir())
    heading(
        "The documents",
        f"The language reference that is inside this Python: {len(topics)} documents, "
        f"{size // 1_000} kB, written to {folder}.",
    )
    return folder


def index(folder: Path, store: Path) -> None:
    """Index twice: the second run finds nothing to do."""
    heading(
        "The index",
        "Each document is cut into chunks of up to 350 tokens on sentence and heading "
        "boundaries; its words and its vectors go into one folder. No network, no server.",
    )
    command(f"foveate index {folder} --store {store}")
    try:
        done = written(folder, store)
    except InvalidRequest:
        if not (store / "store.db").exists():
            raise
        rmtree(store)  # made by another version; it holds nothing that the documents do not
        done = written(folder, store)
    say(*indented(report_lines(done, WIDTH - 2)))
    again = written(folder, store)
    say("", *wrap_words("Once more, to see that only changes are written:", WIDTH, first="  "))
    say(*indented(report_lines(again, WIDTH - 2)))
    root = f"state root {again.state_root[:32]}..., one hash of all that the store holds"
    say(*wrap_words(root, WIDTH, first="  "))


def written(folder: Path, store: Path) -> IndexResult:
    """The store brought up to date with the folder, as `foveate index` does it."""
    engine, enrich = choose_engine("local", None, None), Enrich(questions=True)
    with open_indexer([folder], str(store), "wordllama", engine, enrich=enrich) as into:
        return into.run([folder])


def questions(store: Path) -> tuple[str, ...]:
    """Two questions: those given, ours for the language reference, else what titles suggest."""
    given = os.environ.get("FOVEATE_DEMO_QUESTIONS", "")
    asked = tuple(part.strip() for part in given.split("|") if part.strip())
    if asked or not os.environ.get("FOVEATE_DEMO_DOCS"):
        return asked or QUESTIONS
    return tuple(f"What is there to know about {title}?" for title in titles(store))


def titles(store: Path) -> list[str]:
    """The titles of the two longest documents: they have the most to say."""
    with SqliteStore(store, create=False) as shelf:
        found = [shelf.document(identity) for identity, _ in shelf.documents()]
    read = sorted((d for d in found if d is not None), key=lambda d: (-len(d.text), d.id))
    return [" ".join((document.title or document.id).split())[:36] for document in read[:2]]


def ask(question: str, store: Path) -> AssemblyResult:
    """Search the store and assemble what it finds."""
    with open_store_with_embedder(str(store)) as (shelf, embedder):
        assembler = Assembler(store=shelf, embedder=embedder)
        return assembler.run(question, budget=BUDGET)


def show(prepared: AssemblyResult, question: str, store: Path, number: int) -> None:
    """The context and everything that is known about how it came about."""
    context = prepared.context
    heading(f"Question {number}", question)
    command(
        f"foveate assemble --store {store} --budget {BUDGET} --citations --explain \\",
        f"--query {quote(question)}",
    )
    say("The context, all of it, as the model reads it (long lines are folded here)")
    for line in context.text.splitlines():
        folded = wrap(line, WIDTH - 4, drop_whitespace=False, replace_whitespace=False)
        say(*(f"  │ {part}".rstrip() for part in folded or [""]))
    say("", *citation_lines(context, WIDTH))
    assert prepared.inputs is not None  # only a context from a cache has none
    say("", *explain_lines(context, prepared.inputs.candidates, WIDTH))
    say("", "Assembled once more from its bundle alone, without the store")
    say(f"  {replayed(prepared)}")


def replayed(prepared: AssemblyResult) -> str:
    """What `foveate assemble --bundle` writes, replayed."""
    assert prepared.inputs is not None
    known = plugins.component_registry()
    when = datetime.now(UTC).isoformat(timespec="seconds")
    bundle = build_bundle(prepared.inputs, prepared.context, known, when=when)
    inputs = inputs_from_bundle(bundle, known)
    again = assemble(inputs, tokenizers.load_tokenizer(bundle["manifest"]["tokenizer"]))
    return str(compare_bundles(bundle, build_bundle(inputs, again, known)))


def heading(title: str, text: str) -> None:
    """What this step is about."""
    say("", f"{title} {'─' * (WIDTH - len(title) - 1)}", *wrap_words(text, WIDTH, first="  "))


def command(*parts: str) -> None:
    """How one does the same on the command line."""
    lines = [line for part in parts for line in wrap_words(part, WIDTH - 8)]
    say(f"  $ {lines[0]}", *(f"      {line}" for line in lines[1:]), "")


def indented(lines: list[str]) -> Iterator[str]:
    """The lines, two columns to the right."""
    return (f"  {line}" for line in lines)


def say(*lines: str) -> None:
    """Print at once, so that one sees what is being done."""
    print_lines(lines, sys.stdout)
    sys.stdout.flush()


if __name__ == "__main__":
    prepare_streams()
    try:
        main()
    except FoveateError as error:
        sys.exit(f"demo: {error}")
