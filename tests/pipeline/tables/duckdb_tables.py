"""DuckDB's relations as candidates; run by `make matrix`."""

from __future__ import annotations

import duckdb

from foveate import assemble
from foveate.pipeline.tables import rows_from_table

FOUND = """
    SELECT * FROM (VALUES
        ('The well is nine metres deep.', 'yard.md', 0.9, {'lang': 'en', 'rating': NULL}),
        ('The mill was built of oak.', 'mill.md', 0.4, {'lang': 'nl', 'rating': 3})
    ) AS found(text, source, score, metadata) ORDER BY score DESC
"""


def test_a_relation_is_a_table_of_candidates():
    """I1: what a query gives goes in as it is, decimals and structs included."""
    relation = duckdb.sql(FOUND)

    first, second = rows_from_table(relation)

    assert (first["source"], first["score"], second["score"]) == ("yard.md", 0.9, 0.4)
    assert (first["metadata"], second["metadata"]) == ({"lang": "en"}, {"lang": "nl", "rating": 3})
    context = assemble("How deep is the well?", relation, budget=200)
    assert [block.source for block in context.blocks] == ["yard.md", "mill.md"]
