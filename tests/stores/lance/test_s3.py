from __future__ import annotations

import socket
from contextlib import closing
from itertools import count

import pytest

import lance_writers
from foveate.core.errors import ExternalError
from foveate.stores import open_store
from foveate.stores.lance import LanceStore
from foveate.testing import isolation
from foveate.testing.store_corpus import corpus
from foveate.testing.stores import LAWS
from s3_server import BUCKET, KEY, SECRET, s3_server

ABOVE_FILES = (
    isolation.secrets_leave_no_trace_in_contexts,
    isolation.secrets_leave_no_trace_in_errors,
    isolation.secrets_leave_no_trace_in_figures,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Storage options of a real S3 server on loopback."""
    with s3_server(tmp_path_factory.mktemp("s3")) as options:
        yield options


def test_on_object_storage_it_keeps_every_law(server, monkeypatch):
    """T1, T4, T5, D3, X5: the contract over the network, on a real S3 server."""
    # The hunt for secrets asks a thousand things; some of them do over the network. What is said
    # in errors, figures and contexts is made above the files: test_contract.py looks at that.
    monkeypatch.setattr(isolation, "IMPOSTORS", isolation.IMPOSTORS[:1])
    monkeypatch.setattr(isolation, "PRINCIPALS", isolation.PRINCIPALS[::3])
    monkeypatch.setattr(isolation, "FILTERS", isolation.FILTERS[1::3])
    numbers = count()
    opened = []

    def open_empty():
        url = f"lance+s3://{BUCKET}/laws/{next(numbers)}"
        opened.append(url)
        return LanceStore(url, storage_options=server, **lance_writers.OPTIONS)

    for law in LAWS:
        if law not in ABOVE_FILES:
            law(open_empty, corpus(5, 4))
    assert len(opened) > 15


def test_writers_side_by_side_on_object_storage_lose_nothing(server, tmp_path):
    """T5: its conditional writes decide who was first; the other begins again."""
    url = f"lance+s3://{BUCKET}/beside"

    state = lance_writers.write_beside(url, server, writers=2, writes=8)

    with closing(LanceStore(url, create=False, storage_options=server)) as store:
        present = dict(store.documents())
    assert {name for name in present if name.startswith("w")} == {
        name for name in state if name.startswith("w")
    }
    lance_writers.check_whole(url, present, tmp_path / "plain", storage_options=server)


def test_the_environment_says_how_to_reach_it(server, monkeypatch):
    """T1: a URL and the usual variables are enough."""
    for name, value in server.items():
        monkeypatch.setenv(name.upper(), value)
    url = f"lance+s3://{BUCKET}/by/environment"
    with closing(open_store(url, **lance_writers.OPTIONS)) as store:
        corpus(count=1)[0].put(store)
        assert repr(store) == f"LanceStore('{url}')"
    with closing(open_store(url, create=False)) as store:
        assert [name for name, _ in store.documents()] == ["d00"]


def test_no_error_tells_a_key(server):
    """X5: what is refused, or cannot be reached, is said without keys."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}"
        attempts = (
            {**server, "aws_secret_access_key": "wrong-secret-of-somebody"},
            {**server, "aws_access_key_id": "wrong-key-of-somebody"},
            {**server, "aws_endpoint": nobody, "client_max_retries": "0"},
        )
        for options in attempts:
            with pytest.raises(ExternalError) as caught:
                LanceStore(f"lance+s3://{BUCKET}/laws/0", storage_options=options)
            said = repr(caught.value) + repr(caught.value.__cause__)
            assert f"lance+s3://{BUCKET}" in said
            for secret in (KEY, SECRET, "somebody"):
                assert secret not in said
