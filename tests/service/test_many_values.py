"""Small requests that would cost much: long lists of what is wrong."""

from __future__ import annotations

import re

import pytest

from command_line import QUERY
from foveate.core.errors import BadInput
from foveate.service.wire.body import parse_strict_json
from service_server import problem

LONG = [None] * 200_000
MANY = {f"k{number}": 1 for number in range(33)}
SOME = {"a": list(range(600)), "b": list(range(401))}


@pytest.mark.parametrize(
    ("at", "field", "value"),
    [
        ("/v1/search", "where", {"a": LONG}),
        ("/v1/assemble", "where", {"a": LONG}),
        ("/v1/search", "where", MANY),
        ("/v1/search", "where", SOME),
        ("/v1/search", "principals", LONG),
        ("/v1/assemble", "messages", LONG),
        ("/v1/documents/x", "principals", LONG),
    ],
)
def test_long_lists_are_refused_before_what_is_in_them(service, at, field, value):
    """X2, X4: one fault is said, not one for each of a million values; no store is asked."""
    method = "PUT" if "documents" in at else "POST"
    asked = {"text": "a"} if method == "PUT" else {"query": QUERY}
    answer = service.request(method, at, json={**asked, field: value})

    assert answer.status_code == 422
    found = problem(answer)
    assert [one["field"] for one in found["fields"]] == [field]
    assert re.search(r"must have (at most [\d,]+ items|.* at the most)$", found["detail"])


def test_the_largest_filter_is_taken(service):
    """X2, T4: as many keys and values as may be."""
    where = {f"k{number}": list(range(31)) for number in range(32)}
    answer = service.post("/v1/search", json={"query": QUERY, "where": where})

    assert answer.status_code == 200
    assert answer.json()["candidates"] == []


def test_lists_without_number_are_not_read():
    """X2, X4: three bytes on the wire, a hundred in memory each; brackets in texts do not count."""
    many = b"[" + b"[]," * 500_000 + b"[]]"
    texts = b'{"a": "' + b'{[\\"' * 300_000 + b'"}'

    with pytest.raises(BadInput, match="more than 500,000 lists and objects"):
        parse_strict_json(many)
    assert parse_strict_json(texts) == {"a": '{["' * 300_000}
