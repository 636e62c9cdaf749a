"""The server store's tables. Names and statements alone; who makes them is `schema.py`.

Rules: whatever changes a table or `terms.py` raises VERSION and adds a step; a step is plain SQL,
never changed once it is released, and touches nothing that the state root covers.
"""

from __future__ import annotations

from collections.abc import Mapping

VERSION = 2

TABLES = (
    # One row. A store is known by `application`.
    """CREATE TABLE {s}.meta (
        application text NOT NULL DEFAULT 'foveate', version integer NOT NULL,
        embedder text NOT NULL, dimensions integer NOT NULL, checksum bigint NOT NULL
    )""",
    # Row ids of documents and chunks; never used again.
    "CREATE SEQUENCE {s}.ids",
    # Who may read: one row for each distinct set of principals, its lattice hash (state root), and
    # how much it holds. `words`: the sum of its chunks' lengths in terms, for BM25's average;
    # `writes`: a number drawn anew at every write, which tells what was read before from what is
    # now: counted, it would come again after a batch that was undone, or out of an older dump.
    # `scan`: a sum over its rows there.
    """CREATE TABLE {s}.audiences (
        id integer PRIMARY KEY, digest bytea NOT NULL UNIQUE, principals text NOT NULL,
        state bytea NOT NULL, documents bigint NOT NULL DEFAULT 0,
        chunks bigint NOT NULL DEFAULT 0, words bigint NOT NULL DEFAULT 0,
        writes bigint NOT NULL DEFAULT 0, scan numeric NOT NULL DEFAULT 0,
        checksum bigint NOT NULL
    ) WITH (fillfactor = 50)""",
    # Every write reads and replaces some states; out of line they would be compressed each time.
    "ALTER TABLE {s}.audiences ALTER state SET STORAGE PLAIN",
    # A principal as a JSON string, which can hold any character.
    """CREATE TABLE {s}.members (
        principal text COLLATE "C", audience integer, PRIMARY KEY (principal, audience)
    )""",
    """CREATE TABLE {s}.members_again (
        principal text COLLATE "C", audience integer, PRIMARY KEY (principal, audience)
    )""",
    """CREATE TABLE {s}.documents (
        id bigint PRIMARY KEY, document_id text COLLATE "C" NOT NULL UNIQUE,
        source text COLLATE "C" NOT NULL, title text NOT NULL, summary text NOT NULL,
        modified_at text, principals text NOT NULL, metadata text NOT NULL,
        content_hash text NOT NULL, text_hash text NOT NULL, audience integer NOT NULL,
        text bytea NOT NULL
    )""",
    # zlib has been over it; the chunks' offsets refer to it.
    "ALTER TABLE {s}.documents ALTER text SET STORAGE EXTERNAL",
    # What every document is held to: its id a second time, where its chunks are (`outlines.py`),
    # and the checksums of these and of its row.
    """CREATE TABLE {s}.outlines (
        document bigint PRIMARY KEY, document_id text COLLATE "C" NOT NULL UNIQUE,
        places bytea NOT NULL, checksum bigint NOT NULL, row_checksum bigint NOT NULL
    )""",
    """CREATE TABLE {s}.chunks (
        id bigint PRIMARY KEY, document bigint NOT NULL,
        chunk_id text COLLATE "C" NOT NULL UNIQUE, sequence bigint NOT NULL,
        start bigint, "end" bigint, byte_offset bigint, page bigint, section text NOT NULL,
        "row" bigint, line bigint, principals text NOT NULL, metadata text NOT NULL,
        content_hash text NOT NULL, audience integer NOT NULL, text text NOT NULL,
        facts text[] NOT NULL, key_checksum bigint NOT NULL, checksum bigint NOT NULL
    )""",
    "CREATE INDEX chunks_by_place ON {s}.chunks (document, sequence)",
    "CREATE INDEX chunks_by_fact ON {s}.chunks USING gin (facts)",
    # All that a filter can ask for, a second time.
    """CREATE TABLE {s}.filters (
        id bigint PRIMARY KEY, document bigint NOT NULL, audience integer NOT NULL,
        document_id text COLLATE "C" NOT NULL, source text COLLATE "C" NOT NULL,
        title text NOT NULL, chunk_id text COLLATE "C" NOT NULL, sequence bigint NOT NULL,
        page bigint, section text NOT NULL, "row" bigint, line bigint, facts text[] NOT NULL
    )""",
    "CREATE INDEX filters_by_document ON {s}.filters (document)",
    "CREATE INDEX filters_by_fact ON {s}.filters USING gin (facts)",
    # What a search by vector reads, kept apart from the texts. `norm`: the squared length.
    """CREATE TABLE {s}.scan (
        chunk bigint PRIMARY KEY, audience integer NOT NULL, terms integer NOT NULL,
        norm integer NOT NULL, vector {vector} NOT NULL
    )""",
    "ALTER TABLE {s}.scan ALTER vector SET STORAGE {storage}",
    "CREATE INDEX scan_by_audience ON {s}.scan (audience)",
    # The inverted index: per term, audience and document the chunks that hold it, packed
    # (`postings.py`). The audience stands in the key, so that what one may not read is not read.
    """CREATE TABLE {s}.postings (
        term text COLLATE "C", audience integer, document bigint, places bytea NOT NULL,
        PRIMARY KEY (term, audience, document)
    )""",
    "ALTER TABLE {s}.postings ALTER places SET STORAGE MAIN",
    "CREATE INDEX postings_by_document ON {s}.postings (document)",
    # A term's sum over its places in an audience.
    """CREATE TABLE {s}.terms (
        term text COLLATE "C", audience integer, checksum bigint NOT NULL,
        PRIMARY KEY (term, audience)
    ) WITH (fillfactor = 70)""",
    """CREATE TABLE {s}.counts (
        fingerprint text COLLATE "C", hash text COLLATE "C", tokens bigint NOT NULL,
        checksum bigint NOT NULL,
        PRIMARY KEY (fingerprint, hash)
    )""",
    # What is known of a text, as bytes in the form that `version` names.
    """CREATE TABLE {s}.readings (
        id bigint NOT NULL DEFAULT nextval({ids}), version text COLLATE "C",
        hash text COLLATE "C", data bytea NOT NULL, PRIMARY KEY (version, hash)
    )""",
)

STEPS: Mapping[int, tuple[str, ...]] = {}
"""Version → what leads to the one after it."""

PARTS: Mapping[str, tuple[str, ...]] = {
    "texts": ("documents", "outlines", "chunks", "filters"),
    "words": ("postings", "terms"),
    "vectors": ("scan",),
    "counts": ("counts",),
    "readings": ("readings",),
    "other": ("meta", "audiences", "members", "members_again"),
}
"""Part → tables, for `stats`."""

VECTOR_INDEX = "scan_by_vector"
"""The approximate index, made by `compact` once a store is large enough for it."""


def vector_column_types(dimensions: int) -> dict[str, str]:
    """The vectors' type, and where they are stored: in the row, as long as it fits a page."""
    if not dimensions:
        return {"vector": "bytea", "storage": "PLAIN"}
    plain = "PLAIN" if dimensions <= 4000 else "EXTERNAL"
    return {"vector": f"{{v}}.halfvec({dimensions})", "storage": plain}
