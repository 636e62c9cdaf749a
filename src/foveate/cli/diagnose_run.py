"""What `foveate diagnose` reads: cases, what is known beside them, a store, the documents now."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

from foveate.core.errors import BadInput
from foveate.evals.diagnosis.probe import CurrentText

T = TypeVar("T")


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
