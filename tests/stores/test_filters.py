from __future__ import annotations

import pytest

from foveate.stores.filters import facts_to_index, parse_filters

DOCUMENT = {"document_id": "d", "source": "s", "title": "5"}
CHUNK = {"chunk_id": "c", "section": "", "page": 2, "row": None, "line": 7, "sequence": 0}


def test_facts_tell_texts_from_numbers():
    """T4: 1, 1.0 and true are one value, "1" is another; nothing is found by what is no value."""
    metadata = '{"a": 1, "b": [true, 1.5, "1", null, {"c": 2}], "d": {"e": 3}, "page": 3}'
    facts = facts_to_index(DOCUMENT, {**CHUNK, "metadata": metadata})
    assert {'["a", 1]', '["b", "1"]', '["b", 1.5]', '["b", 1]', '["page", 2]'} < set(facts)
    assert len(facts) == 12


@pytest.mark.parametrize(
    ("where", "facts"),
    [
        ({"a": [1, 1.0, True, "1"]}, [['["a", 1]'] * 3 + ['["a", "1"]']]),
        ({"page": ["2", 3.0]}, [['["page", "2"]', '["page", 3]']]),
        ({"title": "2", "id": "c"}, [['["title", "2"]'], ['["id", "c"]']]),
        ({"a": []}, [[]]),
        (None, []),
    ],
)
def test_a_filter_asks_for_facts(where, facts):
    """T4: equality: a text is one value and the number that it spells another."""
    assert parse_filters(where) == facts


def test_a_long_value_is_one_fact_of_its_own():
    """T4: what is too long for an index is kept as a hash, and told from what is nearly it."""
    ((one,), (other,)) = parse_filters({"a": "x" * 300, "b": "x" * 300})
    assert one != other
    assert max(len(one), len(other)) < 100
