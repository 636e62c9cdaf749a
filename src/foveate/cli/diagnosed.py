"""What `foveate diagnose` does, once its flags are read: open, fill, follow."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from foveate.assembler import Assembler
from foveate.cli.eval_steps import first
from foveate.cli.failures import in_file
from foveate.cli.progress import progress
from foveate.core.errors import BadInput
from foveate.evals.cases import Case
from foveate.evals.diagnosis.notes import read_said, read_sessions
from foveate.evals.diagnosis.pools import fill
from foveate.evals.diagnosis.probe import Current
from foveate.evals.diagnosis.run import Beside, Diagnosis, diagnose
from foveate.evals.read import read_cases
from foveate.plan import plan
from foveate.ports import Embedder, Store
from foveate.stored import opened


def diagnosed(
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
) -> Diagnosis:
    """Read everything first, so that what is refused is refused before the work."""
    settled = plan(recipe=recipe, budget=budget)
    known = _cases(names, pools=not store)
    ids = {case.id for case in known}
    cases = [case for case in first(known, most) if case.evidence]
    with in_file(str(answers) if answers else None):
        said = read_said(answers) if answers is not None else {}
        _refuse_strange(said, ids)
    with in_file(str(sessions) if sessions else None):
        turns = read_sessions(sessions) if sessions is not None else {}
        _refuse_strange(turns, ids)
    with ExitStack() as stack:
        shelf, embedder = stack.enter_context(opened(store) if store else _pooled(cases))
        beside = Beside(current=_current(folders) if folders else None, said=said, sessions=turns)
        assembler = Assembler(store=shelf, embedder=embedder, plan=settled, limit=limit)
        with progress() as on_progress:
            return diagnose(
                cases, assembler, principals=principals, beside=beside, progress=on_progress
            )


def _cases(names: Sequence[str], *, pools: bool) -> tuple[Case, ...]:
    """The cases; raises `BadInput`, which knows that candidates are not needed beside a store."""
    try:
        return read_cases(names, pools=pools)
    except BadInput as error:
        if not (pools and error.field == "chunks"):
            raise
        raise BadInput(f"{error}; give them, or the store that is asked: --store") from None


def _refuse_strange(beside: Collection[str], ids: Collection[str]) -> None:
    """Raise `BadInput` where nothing of it is of any case: it would be passed over in silence."""
    if beside and not any(name in ids for name in beside):
        name = next(iter(beside))
        raise BadInput(f"none of its ids is a case's, such as {name!r}; use those of --dataset")


@contextmanager
def _pooled(cases: Sequence[Case]) -> Iterator[tuple[Store, Embedder | None]]:
    """The cases' candidates in a store that is gone afterwards, with the local embedder."""
    from foveate import plugins
    from foveate.adapters.stores import open_store

    embedder = plugins.embedder("wordllama")
    with TemporaryDirectory(prefix="foveate-") as folder:
        store = open_store(
            Path(folder) / "store", embedder_name=embedder.name, dimensions=embedder.dimensions
        )
        try:
            fill(store, cases, embedder)
            yield store, embedder
        finally:
            store.close()


def _current(folders: Sequence[Path]) -> Current:
    """Documents as they are in their folders now, by the ids that an index gives them."""
    from foveate.adapters.loaders.limits import Limits
    from foveate.ingest.apart import Apart
    from foveate.ingest.load import load, read
    from foveate.ingest.run import walked

    files = {file.name: file for each in walked(folders) for file in each.files}
    limits = Limits()

    @cache
    def text_in(path: Path) -> str | None:
        """None where it cannot be read, or no longer: then nothing is known of it."""
        try:
            with Apart(limits) as apart:
                parts = load(read(path, limits), path, limits, apart)
        except (BadInput, OSError):
            return None
        return "\n".join(part.text for part in parts if not isinstance(part, BadInput))

    def current(document_id: str) -> str | None:
        file = files.get(document_id) or files.get(document_id.partition("#")[0])
        return None if file is None else text_in(file.path)

    return current
