"""`foveate index`: files and folders into a store; only what changed is read again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foveate.cli.failures import INPUT
from foveate.cli.options import (
    MODEL_SYNTAX,
    STORE,
    EngineName,
    FileLimits,
    ImageFolder,
    Json,
    PasswordFile,
    RayAddress,
    Readers,
    TextEncoding,
    argument,
    flag,
    option,
)
from foveate.core.errors import BadOption


def index(
    *,
    paths: Annotated[list[Path], argument("PATH...", "Files and folders to read.")],
    store: Annotated[str, option("URL", "The store; a missing one is created.")] = str(STORE),
    embedder: Annotated[str, option("NAME", "Embedder of a new store.")] = "wordllama",
    size: Annotated[int, option("N", "Most tokens of a chunk.")] = 350,
    overlap: Annotated[int, option("N", "Tokens that neighbouring chunks share.")] = 70,
    file_limit: FileLimits = None,
    encoding: TextEncoding = "",
    password_file: PasswordFile = None,
    images: ImageFolder = None,
    jobs: Readers = None,
    engine: EngineName = "local",
    address: RayAddress = None,
    summaries: Annotated[
        bool, flag("Make a summary of each document that has none.", "--summaries")
    ] = False,
    index_summaries: Annotated[
        bool,
        flag("Also find chunks by the words of their document's summary.", "--index-summaries"),
    ] = False,
    questions: Annotated[
        bool, flag("Also index chunks by the questions they answer.", "--questions/--no-questions")
    ] = True,
    model: Annotated[str, option("M", f"Model that writes the summaries: {MODEL_SYNTAX}.")] = "",
    watch: Annotated[
        bool, flag("Keep running, and index changes as they happen.", "--watch")
    ] = False,
    strict: Annotated[
        bool, flag("Exit with 3 if any file failed, and not only if all did.", "--strict")
    ] = False,
    as_json: Json = False,
) -> None:
    """Index files and folders into a store.

    Only changed files are read again, and deleted files leave the store. A file that cannot be
    read is reported with the reason, and the others continue (exit code 3 if none could be read, or
    with --strict if one could not). What a file shows that is not read is counted by kind.
    Names of --file-limit: file_bytes, unpacked_bytes, ratio, members, depth, pages, rows,
    cell_chars, text_chars, chunks, attachments, images, image_bytes, seconds, memory_bytes.

    Summaries and questions are made from a document's own sentences, headings, questions and
    title. With --summaries --model a model writes the summaries. If it writes none, or adds
    numbers, the former stay and the report says so.

    With --watch the command prints a line for each change (a JSON object with --json) until
    Ctrl-C, which exits with 0. A folder that is missing or empty keeps its documents.

    With --engine ray the workers of a Ray cluster read the files, for large amounts, and this
    process writes them, 256 documents at a time. The workers must see the files at the same path.
    """
    from foveate.cli.index_run import (
        choose_engine,
        open_indexer,
        parse_limits,
        read_passwords,
        watch_paths,
        write_report,
    )
    from foveate.ingest import Enrich

    writer = None
    if model:
        from foveate.cli.assemble_run import load_model

        writer = load_model(model)
    if watch and engine != "local":
        raise BadOption("--watch reads few files at a time; leave out --engine")
    with open_indexer(
        paths,
        store,
        embedder,
        choose_engine(engine, jobs, address),
        size=size,
        overlap=overlap,
        limits=parse_limits(file_limit or ()),
        encoding=encoding,
        passwords=read_passwords(password_file, paths) if password_file else (),
        images=images,
        enrich=Enrich(summaries=summaries, questions=questions, index_summaries=index_summaries),
        model=writer,
    ) as into:
        if watch:
            watch_paths(into, paths, as_json=as_json)
            return
        done = into.run(paths)
    write_report(done, as_json=as_json)
    report = done.report
    has_read = report.added or report.updated or report.unchanged
    if report.failed and (strict or not has_read):
        raise typer.Exit(INPUT)
