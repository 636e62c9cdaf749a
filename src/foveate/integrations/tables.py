"""A context as tables of blocks, citations, stages and decisions, for pandas, polars and Arrow.

Columns and types do not depend on the context. `assemble` takes such tables as candidates.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from foveate.core.errors import ExternalError, MissingExtra
from foveate.core.notebook import table_html
from foveate.core.types import Block, Citation, Context, Decision, Span, StageTrace

__all__ = ["Kind", "Table", "blocks", "citations", "decisions", "stages"]

Kind: TypeAlias = Literal["text", "whole", "number", "texts", "wholes", "spans", "pairs", "sources"]
"""What a column holds. `whole` may be missing, nothing else is: an empty text, an empty list.

`spans`: lists of `{start, end}`; `pairs`: of `{name, value}`, both texts; `sources`: of
`{chunk_id, document_id, source, title, page}`.
"""

_STRUCTS: Mapping[str, Mapping[str, Kind]] = {
    "spans": {"start": "whole", "end": "whole"},
    "pairs": {"name": "text", "value": "text"},
    "sources": {
        "chunk_id": "text",
        "document_id": "text",
        "source": "text",
        "title": "text",
        "page": "whole",
    },
}
_LISTS: Mapping[str, Kind] = {"texts": "text", "wholes": "whole"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Columns of one length under a schema. `columns[name][row]` is plain Python."""

    name: str
    schema: Mapping[str, Kind]
    columns: Mapping[str, tuple[Any, ...]]

    def __len__(self) -> int:
        """How many rows."""
        return len(next(iter(self.columns.values())))

    def rows(self) -> list[dict[str, Any]]:
        """The rows as mappings."""
        names = tuple(self.columns)
        return [
            dict(zip(names, row, strict=True)) for row in zip(*self.columns.values(), strict=True)
        ]

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`; raises `MissingExtra`."""
        try:
            import pyarrow as pa
        except ImportError:
            raise MissingExtra("pyarrow", "tables") from None
        schema = pa.schema([(name, _arrow(pa, kind)) for name, kind in self.schema.items()])
        arrays = [pa.array(self.columns[field.name], field.type) for field in schema]
        return pa.Table.from_arrays(arrays, schema=schema)

    def to_polars(self) -> Any:
        """A `polars.DataFrame`; raises `ExternalError` if polars is not installed."""
        try:
            import polars as pl
        except ImportError:
            raise _missing("polars") from None
        schema = {name: _polars(pl, kind) for name, kind in self.schema.items()}
        return pl.DataFrame(dict(self.columns), schema=schema)

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`: text, `Int64` and `float64`, lists as objects.

        Raises `ExternalError` if pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise _missing("pandas") from None
        dtypes = {"text": "string", "whole": "Int64", "number": "float64"}
        return pd.DataFrame(
            {
                name: pd.Series(list(self.columns[name]), dtype=dtypes.get(kind, "object"))
                for name, kind in self.schema.items()
            }
        )

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Arrow's C stream, for whatever reads it; made by pyarrow, raises `MissingExtra`."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        """For a notebook."""
        return table_html(self.name, self.columns)


_Column: TypeAlias = tuple[Kind, Callable[[Any], Any]]

_PLACE: Mapping[str, _Column] = {
    "source": ("text", lambda one: one.source),
    "title": ("text", lambda one: one.title),
    "document_id": ("text", lambda one: one.document_id),
    "section": ("text", lambda one: one.section),
    "page": ("whole", lambda one: one.page),
    "pages": ("wholes", lambda one: list(one.pages)),
    "row": ("whole", lambda one: one.row),
    "line": ("whole", lambda one: one.line),
    "cells": ("texts", lambda one: [cell.address for cell in one.cells]),
    "chunk_ids": ("texts", lambda one: list(one.chunk_ids)),
    "document_spans": ("spans", lambda one: _spans(one.document_spans)),
    "corroborating": ("sources", lambda one: [asdict(source) for source in one.corroborating]),
}
"""What blocks and citations have in common: where a text is from."""

_BLOCKS: Mapping[str, _Column] = {
    "marker": ("whole", lambda one: one.marker),
    "kind": ("text", lambda one: one.kind),
    "text": ("text", lambda one: one.text),
    "rendition": ("text", lambda one: one.rendition),
    "score": ("number", lambda one: float(one.score)),
    "summary": ("text", lambda one: one.summary),
    "shown_metadata": ("pairs", lambda one: [{"name": n, "value": v} for n, v in one.metadata]),
    "context_start": ("whole", lambda one: one.span[0]),
    "context_end": ("whole", lambda one: one.span[1]),
    **_PLACE,
}

_CITATIONS: Mapping[str, _Column] = {
    "marker": ("whole", lambda one: one.marker),
    "label": ("text", lambda one: one.label),
    "snippet": ("text", lambda one: one.snippet),
    "context_spans": ("spans", lambda one: _spans(one.context_spans)),
    **_PLACE,
}

_STAGES: Mapping[str, _Column] = {
    "step": ("whole", lambda one: one[0]),
    "stage": ("text", lambda one: one[1].stage),
    "options": ("text", lambda one: one[1].options),
    "before": ("whole", lambda one: one[1].before),
    "after": ("whole", lambda one: one[1].after),
    "decisions": ("whole", lambda one: len(one[1].decisions)),
    "notes": ("text", lambda one: _json(one[1].notes)),
}

_DECISIONS: Mapping[str, _Column] = {
    "step": ("whole", lambda one: one[0]),
    "stage": ("text", lambda one: one[1].stage),
    "chunk_id": ("text", lambda one: one[2].chunk_id),
    "action": ("text", lambda one: one[2].action),
    "reason": ("text", lambda one: one[2].reason),
    "by": ("text", lambda one: one[2].by),
    "numbers": ("text", lambda one: _json(one[2].numbers)),
}


def blocks(context: Context) -> Table:
    """A row a block, in the order they are read; `context_start` counts characters.

    >>> from foveate import assemble
    >>> context = assemble("How deep?", [{"text": "Nine metres.", "source": "a.md"}], budget=99)
    >>> [(row["marker"], row["source"], row["text"]) for row in blocks(context).rows()]
    [(1, 'a.md', 'Nine metres.')]
    """
    found: Sequence[Block] = context.blocks
    return _table("blocks", _BLOCKS, found)


def citations(context: Context) -> Table:
    """A row a marker."""
    found: Sequence[Citation] = context.citations
    return _table("citations", _CITATIONS, found)


def stages(context: Context) -> Table:
    """A row a step of the trace, numbered from 0; `notes` is a JSON object."""
    found: list[tuple[int, StageTrace]] = list(enumerate(context.trace))
    return _table("stages", _STAGES, found)


def decisions(context: Context) -> Table:
    """A row a decision, as they were made; `numbers`, what decided it, is a JSON object."""
    found: list[tuple[int, StageTrace, Decision]] = [
        (step, stage, one) for step, stage in enumerate(context.trace) for one in stage.decisions
    ]
    return _table("decisions", _DECISIONS, found)


def _table(name: str, layout: Mapping[str, _Column], found: Sequence[Any]) -> Table:
    return Table(
        name=name,
        schema={column: kind for column, (kind, _) in layout.items()},
        columns={column: tuple(map(read, found)) for column, (_, read) in layout.items()},
    )


def _spans(spans: Sequence[Span]) -> list[dict[str, int]]:
    return [{"start": start, "end": end} for start, end in spans]


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(dict(values), ensure_ascii=False)


def _arrow(pa: Any, kind: Kind) -> Any:
    if kind in _STRUCTS:
        return pa.list_(pa.struct([(n, _arrow(pa, k)) for n, k in _STRUCTS[kind].items()]))
    if kind in _LISTS:
        return pa.list_(_arrow(pa, _LISTS[kind]))
    return {"text": pa.string(), "whole": pa.int64(), "number": pa.float64()}[kind]


def _polars(pl: Any, kind: Kind) -> Any:
    if kind in _STRUCTS:
        return pl.List(pl.Struct({n: _polars(pl, k) for n, k in _STRUCTS[kind].items()}))
    if kind in _LISTS:
        return pl.List(_polars(pl, _LISTS[kind]))
    return {"text": pl.String, "whole": pl.Int64, "number": pl.Float64}[kind]


def _missing(package: str) -> ExternalError:
    return ExternalError(f"{package} is not installed; run: pip install {package}")
