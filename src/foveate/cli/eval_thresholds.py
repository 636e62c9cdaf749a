"""`foveate eval thresholds`: what near-duplicate thresholds would drop from one's chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, cast

import typer

from foveate.cli import output
from foveate.cli.options import CaseFiles, Json, option

if TYPE_CHECKING:
    from foveate.core.stages.dedup.near import Method
    from foveate.core.types import Candidate
    from foveate.evals.thresholds import Level


def thresholds(
    *,
    files: CaseFiles = None,
    chunks: Annotated[str | None, option("FILE", "Chunks as JSON Lines; - is stdin.")] = None,
    dataset: Annotated[
        list[str] | None,
        option("FILE...", "Files of cases; the candidates of each case are compared."),
    ] = None,
    store: Annotated[str | None, option("URL", "Store whose chunks are compared.")] = None,
    method: Annotated[
        str, option("M", "Similarity: jaccard, containment or semantic.")
    ] = "jaccard",
    low: Annotated[str, option("T", "Lowest threshold.", "--from")] = "0.7",
    high: Annotated[str, option("T", "Highest threshold.", "--to")] = "0.98",
    step: Annotated[str, option("T", "Step between thresholds.")] = "0.04",
    examples: Annotated[int, option("N", "Pairs shown for each threshold.", min=0)] = 3,
    embedder: Annotated[
        str, option("E", "Embedder for semantic, if chunks have no vectors.")
    ] = "wordllama",
    tokenizer: Annotated[
        str, option("T", "Tokenizer that counts the tokens saved.")
    ] = "cl100k_base",
    as_json: Json = False,
) -> None:
    """Show what near-duplicate thresholds would drop from your chunks.

    Give --chunks, --dataset or --store. Thresholds are listed from high to low. The examples of a
    threshold are the pairs that the next higher one keeps, the least similar first.
    """
    names = [*(dataset or []), *(files or [])]
    if sum((chunks is not None, bool(names), store is not None)) != 1:
        raise typer.BadParameter("give one of --chunks FILE, --dataset FILE... and --store URL")
    from dataclasses import asdict

    from foveate import plugins
    from foveate.cli import eval_steps
    from foveate.core.stages.dedup.near import DedupNear
    from foveate.evals.thresholds import parse_thresholds, sweep_thresholds

    stage = DedupNear(method=cast("Method", method))
    wanted = parse_thresholds(low, high, step)
    counter = plugins.tokenizer(tokenizer)
    pools = eval_steps.load_pools(chunks, names, store)
    if stage.method == "semantic":
        pools = eval_steps.add_embeddings(pools, embedder)
    levels: list[Level] = []
    with output.progress_bar() as on_progress:
        for level in sweep_thresholds(
            pools, wanted, counter, method=stage.method, examples=examples
        ):
            levels.append(level)
            if on_progress is not None:
                on_progress(len(levels), len(wanted), f"{level.threshold:g}")
    record = {"method": stage.method, "levels": [asdict(level) for level in levels]}
    lines = _threshold_lines(stage.method, levels, pools)
    output.write_result(record, lines, as_json=as_json)


def _threshold_lines(
    method: str, levels: Sequence[Level], pools: Sequence[Sequence[Candidate]]
) -> Iterator[str]:
    from foveate.cli.show import wrap_words
    from foveate.evals.tables import Table, table_to_markdown

    width = output.terminal_width()
    first = levels[0]
    pooled = "" if len(pools) == 1 else f" in {len(pools):,} pools"
    yield f"{method}: {first.chunks:,} chunks{pooled}, {first.tokens:,} tokens"
    yield ""
    yield table_to_markdown(
        Table(
            title="",
            head=("threshold", "dropped", "share", "tokens saved", "share", "new here"),
            rows=tuple(
                (
                    f"{level.threshold:g}",
                    f"{level.dropped:,}",
                    _format_share(level.dropped, level.chunks),
                    f"{level.tokens_saved:,}",
                    _format_share(level.tokens_saved, level.tokens),
                    f"{level.new:,}",
                )
                for level in levels
            ),
        )
    )
    for level in levels:
        if level.examples:
            yield f"\n{level.threshold:g} drops, and a higher one would not:"
        for pair in level.examples:
            yield f"\n  {pair.similarity:.3f}  {pair.dropped} for {pair.kept}"
            yield from wrap_words(pair.kept_text, width, first="    kept     ")
            yield from wrap_words(pair.dropped_text, width, first="    dropped  ")


def _format_share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"
