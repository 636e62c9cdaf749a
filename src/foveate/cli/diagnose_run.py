"""What `foveate diagnose` reads: cases, what is known beside them, a store, the documents now."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from foveate import plugins
from foveate.core.errors import BadInput
from foveate.evals.cases import Case
from foveate.evals.diagnosis.pools import fill_store
from foveate.evals.diagnosis.probe import CurrentText
from foveate.evals.read import read_cases
from foveate.ports import Embedder, Store

T = TypeVar("T")


def load_cases(names: Sequence[str], *, pools: bool) -> tuple[Case, ...]:
    """The cases; the error for missing candidates names --store as the alternative."""
    try:
        return read_cases(names, pools=pools)
    except BadInput as error:
        if not (pools and error.field == "chunks"):
            raise
        raise BadInput(f"{error}; give them, or the store that is asked: --store") from None


def read_beside(
    path: Path | None, read: Callable[[Path], Mapping[str, T]], ids: Collection[str]
) -> Mapping[str, T]:
    """What is known of cases by their ids; raises `BadInput` if no id is a case's."""
    if path is None:
        return {}
    found = read(path)
    if found and not any(name in ids for name in found):
        why = f"none of its ids is a case's, such as {next(iter(found))!r}; use those of --dataset"
        raise BadInput(f"{path}: {why}")
    return found


@contextmanager
def temporary_store(cases: Sequence[Case]) -> Iterator[tuple[Store, Embedder | None]]:
    """A store of the cases' candidates, which is removed at the end."""
    from foveate.stores import open_store

    embedder = plugins.embedder("wordllama")
    with TemporaryDirectory(prefix="foveate-") as folder:
        store = open_store(
            Path(folder) / "store", embedder_name=embedder.name, dimensions=embedder.dimensions
        )
        try:
            fill_store(store, cases, embedder)
            yield store, embedder
        finally:
            store.close()


def current_texts(folders: Sequence[Path]) -> CurrentText:
    """The documents in their folders now, by the ids that an index gives them."""
    from foveate.ingest.load import load_file, read_file
    from foveate.ingest.loaders.limits import Limits
    from foveate.ingest.run import walk_paths
    from foveate.ingest.sandbox import Sandbox
    from foveate.ingest.walk import File

    files = {file.name: file for each in walk_paths(folders) for file in each.files}
    limits = Limits()

    @cache
    def text_in(file: File) -> str | None:
        """None where it cannot be read, or no longer: then nothing is known of it."""
        try:
            with Sandbox(limits) as apart:
                parts = list(load_file(read_file(file, limits), file.path, limits, apart))
        except (BadInput, OSError):
            return None
        return "\n".join(part.text for part in parts if not isinstance(part, BadInput))

    def current(document_id: str) -> str | None:
        file = files.get(document_id) or files.get(document_id.partition("#")[0])
        return None if file is None else text_in(file)

    return current
