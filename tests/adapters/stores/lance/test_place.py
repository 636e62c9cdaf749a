from __future__ import annotations

import sys

import pytest

from foveate.adapters.stores import open_store
from foveate.adapters.stores.lance import LanceStore
from foveate.adapters.stores.lance.guard import guard
from foveate.adapters.stores.lance.place import place_of
from foveate.core.errors import BadInput, BadOption, MissingExtra, OutsideFailure, UnknownName


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
    place = place_of(url)
    assert place.uri == uri
    assert place.table("store") == f"{uri}/store.lance"
    assert (place.local() is None) == ("://" in uri)


@pytest.mark.parametrize(
    ("url", "error", "said"),
    [
        ("lance:", BadOption, "lance:PATH"),
        ("lance:s3://bucket/x", BadOption, "lance:PATH"),
        ("lance+s3://", BadOption, r"lance\+s3://BUCKET/PREFIX"),
        ("lance+s3:bucket", BadOption, r"lance\+s3://BUCKET/PREFIX"),
        ("lance+ftp://host/x", UnknownName, r"did you mean 'lance"),
    ],
)
def test_what_is_no_place_is_refused(url, error, said):
    """X1: the message says how one is written."""
    with pytest.raises(error, match=said):
        open_store(url)


@pytest.mark.parametrize("url", ["lance+s3://me:hidden@bucket/x", "lance+s3://bucket/x?key=hidden"])
def test_a_password_in_a_url_is_refused_and_not_repeated(url):
    """X5: the message says where keys belong, and nothing of the URL."""
    with pytest.raises(BadOption, match="come from the environment") as caught:
        open_store(url)
    assert "hidden" not in str(caught.value)


def test_keys_are_in_nothing_that_is_shown(tmp_path, monkeypatch):
    """X5: what options and environment hold under a telling name is taken out of any text."""
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token-of-the-environment")
    place = place_of(
        f"lance:{tmp_path}", {"aws_secret_access_key": "given-secret", "region": "eu-1"}
    )
    store = LanceStore(f"lance:{tmp_path}", storage_options={"azure_sas": "given-secret"})
    assert "given-secret" not in repr(place) + repr(store) + repr(vars(store))
    text = "given-secret and token-of-the-environment in eu-1"
    assert place.redacted(text) == "*** and *** in eu-1"

    def fails():
        with guard(place):
            raise OSError(f"refused for {text}, /rust/io.rs:1:2")

    with pytest.raises(OutsideFailure, match=r"refused for \*\*\* and \*\*\* in eu-1; ") as caught:
        fails()
    assert caught.value.__cause__ is None
    assert "/rust/" not in str(caught.value)


def test_reading_a_store_that_is_not_there_makes_none(tmp_path):
    """T1: `create=False` says so and leaves no folder behind."""
    with pytest.raises(BadInput, match=r"no store in 'lance:.*index documents"):
        open_store(f"lance:{tmp_path}/missing", create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_store_keeps_its_embedder(tmp_path):
    """D3: vectors of two models are never in one store."""
    url = f"lance:{tmp_path}/store"
    open_store(url, embedder_name="one", dimensions=8).close()
    assert open_store(url).embedder_name == "one"
    with pytest.raises(BadOption, match=r"vectors of 'one' \(8 dimensions\), not of 'two' \(9\)"):
        open_store(url, embedder_name="two", dimensions=9)
    with pytest.raises(BadOption, match="both or neither"):
        open_store(url, embedder_name="two")


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    """X1: the error is the line to type."""
    monkeypatch.setitem(sys.modules, "lance", None)
    with pytest.raises(MissingExtra, match=r"pip install 'foveate\[lance\]'"):
        open_store(f"lance:{tmp_path}/store")


def test_what_is_not_the_engines_is_not_hidden():
    """X1: a mistake of our own leaves as it is."""

    def fails():
        with guard(place_of("lance:x")):
            raise KeyError("ours")

    with pytest.raises(KeyError, match="ours"):
        fails()
