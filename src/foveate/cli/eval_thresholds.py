"""`foveate eval thresholds`: what near-duplicate thresholds would drop from one's chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, cast

import typer

from foveate.cli import output
from foveate.cli.options import Json, option

if TYPE_CHECKING:
    from foveate.core.stages.dedup.near import Method
    from foveate.core.types import Candidate
    from foveate.evals.thresholds import Level


def thresholds(
    *,
    chunks: Annotated[str | None, option("FILE", "Chunks as JSON Lines; - is stdin.")] = None,
    store: Annotated[str | None, option("URL", "Store whose chunks are compared.")] = None,
    method: Annotated[
        str, option("M", "Similarity: jaccard, containment or semantic.")
    ] = "jaccard",
    tried: Annotated[
        str, option("T,T", "Thresholds (default: 0.98 to 0.7 by 0.04).", "--thresholds")
    ] = "",
    embedder: Annotated[
        str, option("E", "Embedder for semantic, if chunks have no vectors.")
    ] = "wordllama",
    as_json: Json = False,
) -> None:
    """Show what near-duplicate thresholds would drop from your chunks.

    Give --chunks or --store. Thresholds are listed from high to low. The examples of a threshold
    are the pairs that the next higher one keeps, the least similar first.
    """
    if (chunks is None) == (store is None):
        raise typer.BadParameter("give one of --chunks FILE and --store URL")
    from dataclasses import asdict

    from foveate import plugins
    from foveate.core.stages.dedup.near import DedupNear
    from foveate.evals.thresholds import THRESHOLDS, sweep_thresholds

    try:
        levels = [float(word) for word in tried.split(",")] if tried else [*THRESHOLDS]
    except ValueError:
        raise typer.BadParameter(f"--thresholds {tried}: write numbers, as in 0.9,0.8") from None
    stages = [DedupNear(method=cast("Method", method), threshold=level) for level in levels]
    counter = plugins.tokenizer("cl100k_base")
    pool = _load_chunks(chunks) if chunks is not None else _load_store(store or "")
    if method == "semantic":
        pool = _add_embeddings(pool, embedder)
    found: list[Level] = []
    with output.progress_bar() as on_progress:
        for level in sweep_thresholds(pool, stages, counter):
            found.append(level)
            if on_progress is not None:
                on_progress(len(found), len(stages), f"{level.threshold:g}")
    record = {"method": method, "levels": [asdict(level) for level in found]}
    output.write_result(record, _threshold_lines(method, found), as_json=as_json)


def _load_chunks(name: str) -> tuple[Candidate, ...]:
    from foveate.cli.files import display_name, read_text_lines
    from foveate.core.candidates import candidates_from_jsonl
    from foveate.core.errors import BadInput, name_in_errors

    lines = read_text_lines(name)
    with name_in_errors(display_name(name)):
        found = candidates_from_jsonl(lines)
        if not found:
            raise BadInput("holds no chunks; give one JSON object a line")
    return found


def _load_store(url: str) -> tuple[Candidate, ...]:
    from foveate.core.errors import BadInput
    from foveate.core.types import Candidate
    from foveate.evals.diagnosis.probe import ALL_NEIGHBOURS
    from foveate.pipeline.store_with_embedder import open_store_with_embedder

    with open_store_with_embedder(url) as (store, _):
        places = [(document, 0) for document, _hash in store.documents()]
        found = tuple(Candidate(chunk=c) for c in store.neighbours(places, ALL_NEIGHBOURS))
    if not found:
        raise BadInput(f"{url}: holds no chunks that everybody may read")
    return found


def _add_embeddings(pool: Sequence[Candidate], name: str) -> tuple[Candidate, ...]:
    """The chunks with this embedder's vectors where they have none."""
    from foveate import plugins
    from foveate.evals.run import embed_candidates

    bare = [c for c in pool if c.chunk.embedding is None]
    made = iter(embed_candidates(plugins.embedder(name), bare, {}) if bare else ())
    return tuple(next(made) if c.chunk.embedding is None else c for c in pool)


def _threshold_lines(method: str, levels: Sequence[Level]) -> Iterator[str]:
    from foveate.cli.layout import wrap_words
    from foveate.evals.tables import Table, table_to_markdown

    width = output.terminal_width()
    first = levels[0]
    yield f"{method}: {first.chunks:,} chunks, {first.tokens:,} tokens"
    yield ""
    yield table_to_markdown(
        Table(
            title="",
            head=("threshold", "dropped", "share", "tokens saved", "share"),
            rows=tuple(
                (
                    f"{level.threshold:g}",
                    f"{level.dropped:,}",
                    _format_share(level.dropped, level.chunks),
                    f"{level.tokens_saved:,}",
                    _format_share(level.tokens_saved, level.tokens),
                )
                for level in levels
            ),
        )
    )
    for level in levels:
        if level.examples:
            yield f"\n{level.threshold:g} drops, and a higher one would not:"
        for pair in level.examples:
            yield ""
            yield from wrap_words(
                f"{pair.dropped} for {pair.kept}", width, first=f"  {pair.similarity:.3f}  "
            )
            yield from wrap_words(pair.kept_text, width, first="    kept     ")
            yield from wrap_words(pair.dropped_text, width, first="    dropped  ")


def _format_share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"
