"""`foveate eval convert`: a public data set, as it is downloaded, to golden cases."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import asdict
from typing import IO, TYPE_CHECKING, Annotated, cast

import typer

from foveate.cli.options import Json

if TYPE_CHECKING:
    from foveate.evals.converters.source import SourceDataset

MAX_SHOWN_FAILURES = 20
"""Failures that are named where a person reads; all of them are counted."""


def convert(
    *,
    format: Annotated[
        str,
        typer.Argument(metavar="FORMAT", help="Format: hotpotqa, musique, squad, nq or beir."),
    ],
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...", help="Files of the data set, .gz too; for beir its folder."
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", metavar="FILE", help="File of cases to write; .gz compresses it."
        ),
    ],
    name: Annotated[
        str | None, typer.Option(metavar="SET", help="Name of the set (default: FORMAT).")
    ] = None,
    cases: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Most cases, drawn by --seed.")
    ] = None,
    pool: Annotated[int, typer.Option(metavar="K", min=1, help="Candidates of a question.")] = 30,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the draw.")] = 1,
    language: Annotated[
        str, typer.Option(metavar="L", help="Language of the texts, for their sentences.")
    ] = "en",
    as_json: Json = False,
) -> None:
    """Convert a public data set to golden cases.

    If it has no candidates, a question gets the best K passages of the whole file by BM25. A
    question without a gold passage among them is left out and counted. An invalid record is
    reported with position and reason, and the others continue (exit code 3 if a file has no
    usable record).
    """
    from foveate.cli import output
    from foveate.cli.files import refuse_same_file
    from foveate.core.errors import UnknownName
    from foveate.evals.converters import FORMATS

    if format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    for one in inputs:
        refuse_same_file(one, out)
    if as_json and out == "-":
        raise typer.BadParameter("--json and --out - both want stdout; give --out a file")

    def read() -> SourceDataset:
        return FORMATS[format](inputs, name or format, language)

    count, source = _write_cases(out, read, name or format, pool=pool, limit=cases, seed=seed)
    if as_json:
        failed = [asdict(failure) for failure in source.failed]
        record = {"cases": count, "left_out": dict(source.left_out), "failed": failed}
        output.write_json(record)
        return
    if out != "-":
        left_out = [f"; {n:,} left out: {reason}" for reason, n in sorted(source.left_out.items())]
        sys.stderr.write(f"{count:,} cases written to {out}{''.join(left_out)}\n")
    sys.stderr.writelines(f"{line}\n" for line in _failure_lines(source, output.terminal_width()))


def _write_cases(
    out: str,
    read: Callable[[], SourceDataset],
    name: str,
    *,
    pool: int,
    limit: int | None,
    seed: int,
) -> tuple[int, SourceDataset]:
    """Write the cases, how many there are, and what they were read from.

    What cannot be written is refused before anything is read. The same cases give the same bytes.
    """
    from foveate.cli.files import open_output
    from foveate.cli.output import encode_json
    from foveate.evals.converters.build import build_records

    count = 0
    with (
        open_output(out) as file,
        _gzip_file(file) if out.endswith(".gz") else nullcontext(file) as target,
    ):
        source = read()
        made = build_records(source, name, pool=pool, limit=limit, seed=seed)
        for count, record in enumerate(made, 1):  # noqa: B007  # the last is the count
            target.write(f"{encode_json(record)}\n".encode())
    return count, source


def _gzip_file(file: IO[bytes]) -> IO[bytes]:
    """A gzip file without a name or a time in its header."""
    from gzip import GzipFile

    return cast("IO[bytes]", GzipFile(filename="", mode="wb", fileobj=file, mtime=0))


def _failure_lines(source: SourceDataset, width: int) -> Iterator[str]:
    """The first failed records with their reasons."""
    from foveate.cli.failures import single_line
    from foveate.cli.show import wrap_words

    if not source.failed:
        return
    yield f"{len(source.failed):,} failed:"
    for failure in source.failed[:MAX_SHOWN_FAILURES]:
        said = f"{failure.path}: {single_line(failure.reason)}"
        yield from wrap_words(said, width, first="  ", rest="    ")
    if more := len(source.failed[MAX_SHOWN_FAILURES:]):
        yield f"  and {more:,} more; --json names them all"
