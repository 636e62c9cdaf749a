from __future__ import annotations

import pytest

from foveate.core.errors import BadOption, ExternalError
from foveate.stores import open_store, redact_url
from foveate.stores.postgres.connect import connection_settings, parse_url

URL = "postgresql://rag:s3cr%40et@db.example:5433/texts?sslmode=require&schema=manual&pool=3&wait=5"


def test_ours_and_theirs_are_told_apart():
    """T1: schema, pool and wait are the store's; the rest is handed to libpq as it came."""
    where = parse_url(URL)
    assert (where.schema, where.pool, where.wait) == ("manual", 3, 5)
    told = connection_settings(where)
    assert (told["host"], told["port"], told["dbname"]) == ("db.example", "5433", "texts")
    assert (told["user"], told["password"], told["sslmode"]) == ("rag", "s3cr@et", "require")
    assert not {"schema", "pool", "wait"} & set(told)


def test_a_password_is_one_in_capitals_too():
    """T1, X1: the names of secrets are known however they are written, and handed on by libpq's."""
    where = parse_url("postgresql://u@h/db?PassWord=s3cret&scram_client_key=k")
    assert connection_settings(where)["password"] == "s3cret"
    assert connection_settings(where)["scram_client_key"] == "k"
    assert "s3cret" not in where.conninfo


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("postgresql:///texts?host=/run/pg%20dir", "/run/pg dir", None),
        ("postgres://u@[::1]:5432/texts", "::1", "5432"),
        ("POSTGRESQL://u@a:1,b:2/texts", "a,b", "1,2"),
    ],
)
def test_libpq_reads_hosts(url: str, host: str, port: str | None):
    """T1: sockets, IPv6 and several hosts are as everywhere else."""
    told = connection_settings(parse_url(url))
    assert (told.get("host"), told.get("port")) == (host, port)


@pytest.mark.parametrize(
    "url",
    [
        URL,
        "postgresql://u@h/db?password=s3cr%40et",
        "postgresql://u@h/db?sslpassword=s3cr%40et&schema=s",
        "postgresql://u@h/db?PASSWORD=s3cret&Sslpassword=s3cret",
        "postgresql://u@h/db?scram_client_key=s3cr&scram_server_key=s3cr&oauth_client_secret=s3cr",
        "postgresql://u@h/db?pass=s3cret&s3cret&passwd=s3cret&sslmode=prefer",
        "postgresql://u@h/db?options=-c%20x.y%3Ds3cret&schema=s",
    ],
)
def test_what_is_shown_has_no_password(url: str):
    """T1, X1: neither what is shown nor the repr; what is shown still says which store."""
    where = parse_url(url)
    for said in (repr(where), redact_url(url)):
        assert "s3cr" not in said
    assert redact_url(url).startswith("postgresql://")
    assert parse_url(redact_url(url)).schema == where.schema


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:s3cr@et@h/db",
        "postgresql://u:s3cr/et@h/db",
        "postgresql://u:s3cr?et@h/db",
        "postgresql://u:s3cr#et@h/db",
        "postgresql://u:s3cr@h:port/db",
        "postgresql:u:s3cr@h/db",
        "postgresql://u:s3cr%00@h/db",
        "postgresql://u:s3cr@h/db?schema=",
        "postgresql://u:s3cr@h/db?schema=pg_x",
        "postgresql://u:s3cr@h/db?pool=many",
        "postgresql://u:s3cr@h/db?wait=0",
        f"postgresql://u:s3cr@h/db?schema={'x' * 64}",
        "postgresql://u:s3cr@h/db?nonsense=1",
        "postgresql://u:2024?s3cret@h/db",
        "postgresql://u:?s3cret@h/db",
        "postgresql://u:2024?s3cret=x@h/db?schema=s",
        "postgresql://u@h/db?pass=s3cret",
        "postgresql://u@h/db?s3cret",
        "postgresql://u@h/db?s3cret=1&passwd=s3cret",
    ],
)
def test_a_url_that_cannot_be_read_is_not_repeated(url: str):
    """X1: what to write instead, and nothing of what was written where it may be a password."""
    with pytest.raises(BadOption) as found:
        open_store(url)
    assert "s3cr" not in str(found.value)
    assert "store" in str(found.value)


def test_nobody_there_is_an_outside_failure_without_the_password(tmp_path):
    """X3: a server that is not there is named, the password is not."""
    with pytest.raises(ExternalError, match="not there") as found:
        open_store(f"postgresql://u:s3cret@/db?host={tmp_path}")
    assert str(tmp_path) in str(found.value)
    assert "s3cret" not in str(found.value)
