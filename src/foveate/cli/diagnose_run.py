"""What `foveate diagnose` does, once its flags are read: open, fill, follow."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from foveate import plugins
from foveate.cli.eval_steps import limit_cases
from foveate.cli.failures import name_file_in_errors
from foveate.cli.output import progress_bar
from foveate.core.errors import BadInput
from foveate.evals.cases import Case
from foveate.evals.diagnosis.pools import fill_store, rename_conflicts
from foveate.evals.diagnosis.probe import CurrentText
from foveate.evals.diagnosis.run import Diagnosis, DiagnosisInputs, diagnose
from foveate.evals.diagnosis.verdict import read_answers, read_sessions
from foveate.evals.read import read_cases
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.options import AssembleOptions, resolve_options
from foveate.pipeline.store_with_embedder import open_store_with_embedder
from foveate.ports import Embedder, Store


def run_diagnosis(
    names: Sequence[str],
    *,
    store: str,
    folders: Sequence[Path],
    recipe: str,
    budget: int,
    limit: int,
    most: int | None,
    answers: Path | None,
    sessions: Path | None,
    principals: Sequence[str],
    reranker: str | None = None,
) -> Diagnosis:
    """Run the diagnosis; all input is read and checked before the work."""
    options = AssembleOptions(recipe=recipe, budget=budget, limit=limit)
    ranks = plugins.reranker(reranker) if reranker is not None else None
    resolve_options(options)  # what is refused is refused before any file is read
    known = _load_cases(names, pools=not store)
    ids = {case.id for case in known}
    cases = [case for case in limit_cases(known, most) if case.evidence]
    cases = cases if store else [*rename_conflicts(cases)]
    with name_file_in_errors(str(answers) if answers else None):
        said = read_answers(answers) if answers is not None else {}
        _check_ids(said, ids)
    with name_file_in_errors(str(sessions) if sessions else None):
        turns = read_sessions(sessions) if sessions is not None else {}
        _check_ids(turns, ids)
    with ExitStack() as stack:
        opened, embedder = stack.enter_context(
            open_store_with_embedder(store) if store else _temporary_store(cases)
        )
        beside = DiagnosisInputs(
            current=_current_texts(folders) if folders else None, answers=said, sessions=turns
        )
        assembler = Assembler(store=opened, embedder=embedder, options=options, reranker=ranks)
        with progress_bar() as on_progress:
            return diagnose(
                cases, assembler, principals=principals, beside=beside, progress=on_progress
            )


def _load_cases(names: Sequence[str], *, pools: bool) -> tuple[Case, ...]:
    """The cases; the error for missing candidates names --store as the alternative."""
    try:
        return read_cases(names, pools=pools)
    except BadInput as error:
        if not (pools and error.field == "chunks"):
            raise
        raise BadInput(f"{error}; give them, or the store that is asked: --store") from None


def _check_ids(beside: Collection[str], ids: Collection[str]) -> None:
    """Raise `BadInput` if no id is a case's: the file would have no effect."""
    if beside and not any(name in ids for name in beside):
        name = next(iter(beside))
        raise BadInput(f"none of its ids is a case's, such as {name!r}; use those of --dataset")


@contextmanager
def _temporary_store(cases: Sequence[Case]) -> Iterator[tuple[Store, Embedder | None]]:
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


def _current_texts(folders: Sequence[Path]) -> CurrentText:
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
