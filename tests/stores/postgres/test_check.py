from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import psycopg
import pytest

from foveate.testing.store_corpus import corpus, fill
from store_urls import opened

DAMAGE = [
    ("rows", "DELETE FROM {s}.documents WHERE document_id = 'd02'"),
    ("rows", "UPDATE {s}.chunks SET text = text || 'x' WHERE sequence = 0"),
    ("words", "UPDATE {s}.chunks SET page = 77 WHERE sequence = 0"),
    ("state", "DELETE FROM {s}.members WHERE principal = '\"red\"'"),
    ("rows", "UPDATE {s}.documents SET audience = 0"),
    ("rows", "UPDATE {s}.documents SET text = 'unpacked' WHERE document_id = 'd02'"),
    ("rows", "INSERT INTO {s}.scan SELECT -chunk, audience, terms, norm, vector FROM {s}.scan"),
    ("words", "DELETE FROM {s}.postings WHERE term = 'granite'"),
    ("words", "UPDATE {s}.postings SET audience = 0"),
    ("words", "UPDATE {s}.postings SET first = first + 100000"),
    ("vectors", "UPDATE {s}.scan SET norm = norm + 1"),
    ("vectors", "UPDATE {s}.scan SET terms = terms + 1"),
    ("vectors", "UPDATE {s}.scan SET audience = audience + 1"),
    ("vectors", "DELETE FROM {s}.scan WHERE audience = 0"),
    ("state", "UPDATE {s}.audiences SET words = words + 1 WHERE id = 0"),
    ("state", "UPDATE {s}.audiences SET chunks = chunks - 1 WHERE id = 1"),
    ("state", "UPDATE {s}.audiences SET state = set_byte(state, 9, 9 # get_byte(state, 9))"),
]


@pytest.mark.parametrize(("part", "damage"), DAMAGE)
def test_every_kind_of_damage_is_found(new_schema: Callable[[], str], postgres, part, damage):
    """T5: what was changed behind the store's back is named with its part."""
    url = new_schema()
    with closing(fill(opened(url), corpus(count=6))) as store:
        assert store.check().findings == ()
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute(damage.format(s=url.rpartition("schema=")[2]))
        assert part in {finding.part for finding in store.check().findings}
