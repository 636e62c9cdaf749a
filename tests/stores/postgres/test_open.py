from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import psycopg
import pytest

from foveate.core.errors import BadInput, ExternalError
from foveate.core.types import Chunk
from foveate.ports import Document
from foveate.stores import open_store
from foveate.testing.store_corpus import EMBEDDER, corpus
from store_urls import opened


@pytest.fixture
def admin(postgres: str):
    """A superuser's connection."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        yield connection


def schema_of(url: str) -> str:
    """The schema in a URL."""
    return url.rpartition("schema=")[2]


def test_a_schema_of_others_is_left_alone(new_schema: Callable[[], str], admin):
    """X2: tables that are no store's are neither used nor changed."""
    for table in ("meta (a int)", "documents (a int)"):
        url = new_schema()
        admin.execute(f"CREATE SCHEMA {schema_of(url)}")
        admin.execute(f"CREATE TABLE {schema_of(url)}.{table}")
        with pytest.raises(BadInput, match="holds other tables and no store"):
            open_store(url)
        query = "SELECT count(*) FROM pg_tables WHERE schemaname = %s"
        assert admin.execute(query, [schema_of(url)]).fetchone() == (1,)


@pytest.mark.parametrize("name", ['a"; DROP SCHEMA x --', "100%", "it's", "Ünï", "select", "a.b"])
def test_any_name_can_be_a_schema(postgres: str, name: str):
    """T1: names are quoted, whatever is in them."""
    from urllib.parse import quote

    url = f"{postgres}&schema={quote(name)}"
    entry = corpus(count=1)[0]
    with closing(opened(url)) as store:
        entry.put(store)
        found = store.search(entry.chunks[0].text, EMBEDDER.embed(["x"])[0])
        assert [c.document_id for c in found.candidates][:1] == [entry.document.id]
        assert store.check().findings == ()
        assert store.stats().bytes["chunks"] > 0
        store.compact()


def test_without_an_embedder_no_extension_is_needed(new_schema: Callable[[], str], postgres, admin):
    """T1: full text alone works in a database that has no pgvector; vectors say what to do."""
    admin.execute("CREATE DATABASE plain")
    admin.execute("CREATE ROLE nobody LOGIN")
    admin.execute("GRANT CREATE ON DATABASE plain TO nobody")
    url = new_schema().replace("postgres@/postgres", "nobody@/plain")
    with closing(open_store(url)) as store:
        document = Document(id="d", source="d", text="cold lamp")
        store.put(document, [Chunk(text="cold lamp", document_id="d")], None)
        found = store.search("lamp", None)
        assert [c.text for c in found.candidates] == ["cold lamp"]
        assert found.candidates[0].chunk.embedding is None
        assert store.check().findings == ()
    with pytest.raises(ExternalError, match="CREATE EXTENSION vector"):
        opened(url + "x")
    with pytest.raises(BadInput, match="index documents into it first"):
        open_store(url + "x", create=False)


def test_a_reader_needs_to_read_and_no_more(new_schema: Callable[[], str], admin):
    """T1: with the rights that the documentation lists a role searches, and counts are not kept."""
    url = new_schema()
    schema = schema_of(url)
    entry = corpus(count=1)[0]
    with closing(opened(url)) as store:
        entry.put(store)
        expected = store.search("granite", EMBEDDER.embed(["granite"])[0])
    admin.execute("CREATE ROLE reader LOGIN")
    admin.execute(f"GRANT USAGE ON SCHEMA {schema} TO reader")
    admin.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader")
    with closing(open_store(url.replace("postgres@", "reader@"), create=False)) as store:
        assert store.search("granite", EMBEDDER.embed(["granite"])[0]) == expected
        store.remember("f9", {"h": 1})
        assert store.counts("f9", ["h"]) == {}
        with pytest.raises(ExternalError, match="grant it what"):
            entry.put(store)
    admin.execute(
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO reader"
    )
    with closing(open_store(url.replace("postgres@", "reader@"), create=False)) as store:
        root = store.state_root()
        entry.put(store)
        assert store.state_root() == root
    admin.execute("DROP OWNED BY reader")
    admin.execute("DROP ROLE reader")
