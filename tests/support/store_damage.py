"""Flips single bits in a store and asks it the same questions: equal answers, or an error.

    python tests/support/store_damage.py --flips 1000 --seed 1 --store sqlite

A file of the store is damaged for each flip, chosen by its size; of a store on a server, a value
of a column is, by SQL, since its files are the server's own. A flip counts as silent where an
answer differs and nothing was said. `--show` prints where each flip went that was silent, whose
error does not say `foveate store check`, or of which that command finds nothing.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import _lru_cache_wrapper
from pathlib import Path
from random import Random
from typing import Any

from foveate.core.errors import FoveateError
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.options import AssembleOptions
from foveate.ports import Store
from foveate.providers.tokenizers.counts import counts_for
from foveate.stores import open_store
from foveate.stores.maintenance import check
from foveate.testing.store_corpus import EMBEDDER, change_entry, corpus
from store_urls import opened

QUESTIONS = ("granite harbour", "where is the kettle", "stone yard of juniper 猫", "absent words")
READERS: tuple[tuple[str, ...], ...] = ((), ("red",), ("blue", "red"))
FILTERS: tuple[dict[str, Any], ...] = (
    {"lang": "nl"},
    {"tags": "x", "page": 2},
    {"source": "notes/x/3.md"},
    {"title": "Note 7", "section": "Part 0"},
)
RECIPES = ("default", "document-first")
SAID = "foveate store check"


@dataclass(slots=True)
class Tally:
    """What became of the flips."""

    outcomes: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def add(self, outcome: str, where: str, what: str = "") -> None:
        """One more flip; `what`: what was said or what differs."""
        self.outcomes[outcome] += 1
        if outcome not in {"equal", "error"}:
            self.notes.append(f"{outcome}: {where}: {what}")

    def __str__(self) -> str:
        kinds = ("equal", "error", "unfound error", "other error", "silent")
        return ", ".join(f"{self.outcomes[kind]} {kind}" for kind in kinds)


def fill(url: str, documents: int) -> None:
    """Documents that came, changed and went, with counts of their texts."""
    with closing(opened(url)) as store:
        entries = corpus(seed=5, count=documents)
        for at in range(0, documents, 8):
            with store.batch():
                for entry in entries[at : at + 8]:
                    entry.put(store)
        change_entry(entries[3]).put(store)
        store.delete("d05")
        answers(store)


def answers(store: Store) -> list[Any]:
    """What a store says to all of the questions, with the vectors, scores and roots."""
    said: list[Any] = []
    for readers in READERS:
        for query in QUESTIONS:
            vector = EMBEDDER.embed([query])[0]
            for where in (None, *FILTERS) if query == QUESTIONS[0] else (None,):
                found = store.search(query, vector, principals=readers, where=where, depth=6)
                vectors = [list(c.chunk.embedding) for c in found.candidates]
                said.append((replace(found, candidates=()), found.candidates, vectors))
    for recipe in RECIPES:
        _forget()
        assembler = Assembler(
            store=store,
            embedder=EMBEDDER,
            options=AssembleOptions(recipe=recipe, budget=260, tokenizer="simple"),
        )
        for query, readers in zip(QUESTIONS, (*READERS, ()), strict=True):
            context = assembler.assemble(query, principals=readers)
            said.append((context.text, context.token_count, context.citations, context.trace))
    said.append([store.state_root(principals=readers) for readers in READERS])
    return said


def _forget() -> None:
    """Empty what this process remembers of texts, so that the store is asked."""
    counts_for.cache_clear()
    for name, module in list(sys.modules.items()):
        if name.startswith("foveate.core."):
            for value in list(vars(module).values()):
                if isinstance(value, _lru_cache_wrapper):
                    value.cache_clear()


def outcome(url: str, expected: list[Any]) -> tuple[str, str]:
    """What a damaged store says: (outcome, what was said or what differs)."""
    try:
        with closing(open_store(url, create=False)) as store:
            found = answers(store)
    except FoveateError as error:
        said = f"{type(error).__name__}: {error}"
        if SAID not in said:
            return "other error", said
        return ("error" if check(url).findings else "unfound error"), said
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 (an engine's panic is no Exception)
        return "other error", f"{type(error).__name__}: {error}"
    for number, (one, other) in enumerate(zip(expected, found, strict=True)):
        if one != other:
            return "silent", f"answer {number} differs"
    return "equal", ""


def flipped_files(
    folder: Path, prefix: str, flips: int, seed: int, expected: list[Any] | None = None
) -> Tally:
    """Flip bits in the files of a store's folder, each in a copy of its own."""
    tally, random = Tally(), Random(seed)
    copy = folder.with_name("copy")
    expected = expected or _pristine(folder, copy, prefix)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sizes = [path.stat().st_size for path in files]
    for _ in range(flips):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        (path,) = random.choices(files, sizes)
        at, bit = random.randrange(path.stat().st_size), random.randrange(8)
        with (copy / path.relative_to(folder)).open("r+b") as file:
            file.seek(at)
            (byte,) = file.read(1)
            file.seek(at)
            file.write(bytes([byte ^ 1 << bit]))
        where = f"{path.relative_to(folder)} byte {at} bit {bit}"
        what, said = outcome(f"{prefix}{copy}", expected)
        tally.add(what, where, said)
    return tally


def _pristine(folder: Path, copy: Path, prefix: str) -> list[Any]:
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    with closing(open_store(f"{prefix}{copy}", create=False)) as store:
        return answers(store)


def on_sqlite(folder: Path, flips: int, seed: int, documents: int) -> Tally:
    """The embedded store: its database, and the file of vectors."""
    fill(str(folder / "store"), documents)
    return flipped_files(folder / "store", "", flips, seed)


def on_postgres(url: str, flips: int, seed: int, documents: int) -> Tally:
    """The server store: a value of every column of every table in turn."""
    import psycopg

    tally, random = Tally(), Random(seed)
    url = f"{url}&schema=damaged"
    fill(url, documents)
    with closing(open_store(url, create=False)) as store:
        expected = answers(store)
    with psycopg.connect(url.rpartition("&schema")[0], autocommit=True) as connection:
        columns = list(_columns(connection))
        random.shuffle(columns)
        for number in range(flips):
            table, column, kind = columns[number % len(columns)]
            undo = _flip(connection, random, table, column, kind)
            if undo is None:
                continue
            what, said = outcome(url, expected)
            tally.add(what, f"{table}.{column}", said)
            undo()
    return tally


def _columns(connection: Any) -> Iterator[tuple[str, str, str]]:
    query = """SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
        FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'damaged' AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
        ORDER BY c.relname, a.attnum"""
    yield from connection.execute(query).fetchall()


def _flip(
    connection: Any, random: Random, table: str, column: str, kind: str
) -> Callable[[], None] | None:
    """Flip a bit of one row's value; what undoes it. None where the server refuses the value."""
    import psycopg

    name = f'damaged."{table}"'
    (count,) = connection.execute(f"SELECT count(*) FROM {name}").fetchone()
    if not count:
        return None
    place, before = connection.execute(
        f'SELECT ctid::text, "{column}"::text FROM {name} ORDER BY ctid OFFSET %s LIMIT 1',
        [random.randrange(count)],
    ).fetchone()
    after = _changed(random, before, kind)
    if after is None:
        return None
    update = f'UPDATE {name} SET "{column}" = %s::{kind} WHERE ctid = %s::tid RETURNING ctid::text'
    try:
        with connection.transaction():
            (moved,) = connection.execute(update, [after, place]).fetchone()
    except psycopg.Error:
        return None

    def undo() -> None:
        try:
            with connection.transaction():
                connection.execute(update, [before, moved])
        except psycopg.Error:  # what was lost was kept anew meanwhile
            connection.execute(f"DELETE FROM {name} WHERE ctid = %s::tid", [moved])

    return undo


def _changed(random: Random, value: str | None, kind: str) -> str | None:
    """The value with one bit of it flipped, as text."""
    if value is None:
        return None
    if kind in {"bigint", "integer"}:
        return str(int(value) ^ 1 << random.randrange(31 if kind == "integer" else 62))
    if kind == "bytea":
        data = bytearray.fromhex(value.removeprefix("\\x"))
        if not data:
            return None
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        return f"\\x{data.hex()}"
    if "halfvec" in kind:
        numbers = value.strip("[]").split(",")
        at = random.randrange(len(numbers))
        numbers[at] = str(int(float(numbers[at])) ^ 1 << random.randrange(6))
        return f"[{','.join(numbers)}]"
    places = [at for at, letter in enumerate(value) if letter.isascii() and letter.isalnum()]
    if not places:
        return None
    at = random.choice(places)
    letter = chr(ord(value[at]) ^ 1 << random.randrange(5))
    return value[:at] + letter + value[at + 1 :]


def main() -> int:
    """Flip, print the count; 1 where an answer changed silently."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flips", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--documents", type=int, default=60)
    parser.add_argument("--store", default="all", choices=("all", "sqlite", "postgres"))
    parser.add_argument("--show", action="store_true")
    asked = parser.parse_args()
    kinds = ("sqlite", "postgres") if asked.store == "all" else (asked.store,)
    silent = 0
    for kind in kinds:
        with ExitStack() as stack:
            numbers = (asked.flips, asked.seed, asked.documents)
            if kind == "postgres":
                from postgres_server import serving

                tally = on_postgres(stack.enter_context(serving()), *numbers)
            else:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                tally = on_sqlite(folder, *numbers)
        if asked.show:
            print("\n".join(tally.notes))
        silent += tally.outcomes["silent"]
        print(f"{kind}: {tally.outcomes.total()} flips, {tally}")
    print(f"{silent} silent differences")
    return int(silent > 0)


if __name__ == "__main__":
    sys.exit(main())
