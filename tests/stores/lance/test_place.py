from __future__ import annotations

import sys

import pytest

from foveate.core.errors import BadOption, ExternalError, MissingExtra, UnknownName
from foveate.stores import open_store
from foveate.stores.lance import LanceStore
from foveate.stores.lance.location import convert_engine_errors, parse_location


@pytest.mark.parametrize(
    ("url", "uri"),
    [
        ("lance:/some/where", "/some/where"),
        ("LANCE:///some/where", "/some/where"),
        ("lance+s3://bucket/a/b/", "s3://bucket/a/b"),
        ("lance+gs://bucket", "gs://bucket"),
    ],
)
def test_a_url_says_where_the_tables_are(url, uri):
    """T1: a folder, or a prefix of an object store."""
    place = parse_location(url)
    assert place.uri == uri
    assert place.table_uri() == f"{uri}/store.lance"


@pytest.mark.parametrize(
    ("url", "error", "said"),
    [
        ("lance:", BadOption, "lance:PATH"),
        ("lance:s3://bucket/x", BadOption, "lance:PATH"),
        ("lance+s3://", BadOption, r"lance\+s3://BUCKET/PREFIX"),
        ("lance+s3:bucket", BadOption, r"lance\+s3://BUCKET/PREFIX"),
        ("lance+ftp://host/x", UnknownName, r"did you mean 'lance"),
        ("lance+s3://me:hidden@bucket/x", BadOption, "come from the environment"),
        ("lance+s3://bucket/x?key=hidden", BadOption, "come from the environment"),
    ],
)
def test_what_is_no_place_is_refused(url, error, said):
    """X1, X5: the message says how one is written and where keys belong, and repeats none."""
    with pytest.raises(error, match=said) as caught:
        open_store(url)
    assert "hidden" not in str(caught.value)


def test_keys_are_in_nothing_that_is_shown(tmp_path, monkeypatch):
    """X5: what options and environment hold under a telling name is taken out of any text."""
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token-of-the-environment")
    place = parse_location(
        f"lance:{tmp_path}", {"aws_secret_access_key": "given-secret", "region": "eu-1"}
    )
    store = LanceStore(f"lance:{tmp_path}", storage_options={"azure_sas": "given-secret"})
    assert "given-secret" not in repr(place) + repr(store) + repr(vars(store))
    text = "given-secret and token-of-the-environment in eu-1"
    assert place.redact(text) == "*** and *** in eu-1"

    def fails():
        with convert_engine_errors(place):
            raise OSError(f"refused for {text}, /rust/io.rs:1:2")

    with pytest.raises(ExternalError, match=r"refused for \*\*\* and \*\*\* in eu-1; ") as caught:
        fails()
    assert caught.value.__cause__ is None
    assert "/rust/" not in str(caught.value)


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    """X1: the error is the line to type."""
    for name in [name for name in sys.modules if name.startswith("foveate.stores.lance")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "lance", None)
    with pytest.raises(MissingExtra, match=r"pip install 'foveate\[lance\]'"):
        open_store(f"lance:{tmp_path}/store")


def test_what_is_not_the_engines_is_not_hidden():
    """X1: a mistake of our own leaves as it is."""

    def fails():
        with convert_engine_errors(parse_location("lance:x")):
            raise KeyError("ours")

    with pytest.raises(KeyError, match="ours"):
        fails()
