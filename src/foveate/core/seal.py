"""The hash of a text, and the seal of a context, which `manifest.py` makes of such hashes."""

from __future__ import annotations

from dataclasses import dataclass, field
from unicodedata import unidata_version

from blake3 import blake3

from foveate._version import __version__
from foveate.core.errors import BadInput

MANIFEST_SCHEMA = 2


def content_hash(text: str) -> str:
    """BLAKE3 of the text's UTF-8 bytes, 32 hex digits; raises `BadInput` on a lone surrogate."""
    try:
        return blake3(text.encode()).hexdigest(16)
    except UnicodeEncodeError as error:
        raise BadInput(
            f"lone surrogate at character {error.start}; decode the text with errors='replace'",
            field="text",
        ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a context was made of, by hash (BLAKE3, 32 hex digits).

    `unicode`, the version of Python's tables of letters, is not compared. `exact` and `index` say
    how the store searched; they change no byte of the context.
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
    unicode: str = field(default=unidata_version, compare=False)
