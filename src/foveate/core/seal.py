"""The seal of a context: a value of hashes and names, which `manifest.py` makes."""

from __future__ import annotations

from dataclasses import dataclass, field
from unicodedata import unidata_version

from foveate._version import __version__

MANIFEST_SCHEMA = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a context was made of, by hash (BLAKE3, 32 hex digits).

    `when`, and `unicode`, the version of Python's tables of letters, are not compared. `exact` and
    `index` say how the store searched; they change no byte of the context.
    """

    schema: int = MANIFEST_SCHEMA
    version: str = __version__
    recipe: str
    recipe_hash: str
    query_hash: str
    inputs_hash: str
    budget_hash: str
    state_root: str
    tokenizer: str
    tokenizer_fingerprint: str
    output_hash: str
    budget_tokens: int | None
    token_count: int
    exact: bool = True
    index: str = ""
    when: str = field(default="", compare=False)
    unicode: str = field(default=unidata_version, compare=False)
