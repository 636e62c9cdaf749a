from __future__ import annotations

from foveate.stores.filters import encode_facts
from foveate.stores.lance.conditions import in_condition, quote_literal, where_condition


def test_a_value_cannot_leave_its_quotes():
    """X5: in a condition, only the quote has a meaning, and it is doubled."""
    assert quote_literal("x' OR 'a' = 'a") == "'x'' OR ''a'' = ''a'"
    assert in_condition("page", []) == "false"
    assert in_condition("`row`", [1, 2]) == "`row` IN (1, 2)"


def test_facts_tell_texts_from_numbers():
    """T4: as the embedded store compares: 1, 1.0 and true are one value, "1" is another."""
    facts = encode_facts(
        '{"a": 1, "b": [true, 1.5, "1", null, {"c": 2}], "d": {"e": 3}, "f": null}'
    )
    assert facts == ['["a", 1]', '["b", "1"]', '["b", 1.5]', '["b", 1]']
    for value in (1, 1.0, True):
        assert where_condition({"a": value}) == "(array_has_any(labels, ['[\"a\", 1]']))"
    assert where_condition({"a": []}) == "(false)"
    assert where_condition({"page": ["2", 3.0, "x", 2.5]}) == "(`page` IN (2, 3))"
    assert where_condition({"title": [True, 2]}) == "(title IN ('1', '2'))"
