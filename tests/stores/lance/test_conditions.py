from __future__ import annotations

from foveate.stores.lance.conditions import in_condition, quote_literal, where_condition


def test_a_value_cannot_leave_its_quotes():
    """X5: in a condition, only the quote has a meaning, and it is doubled."""
    assert quote_literal("x' OR 'a' = 'a") == "'x'' OR ''a'' = ''a'"
    assert in_condition("page", []) == "false"
    assert in_condition("`row`", [1, 2]) == "`row` IN (1, 2)"


def test_a_filter_is_one_of_some_facts():
    """T4: nothing is among no values."""
    for value in (1, 1.0, True):
        assert where_condition({"a": value}) == "(array_has_any(labels, ['[\"a\", 1]']))"
    assert where_condition({"a": []}) == "(false)"
