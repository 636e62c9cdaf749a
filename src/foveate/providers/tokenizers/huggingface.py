"""Any Hugging Face `tokenizer.json`, through the `tokenizers` package; it counts plain text alone.

Control tokens (`special`, or written `<|like this|>`) are not found in text, no start token is
added, nothing is padded, cut or dropped at random. Other added tokens stay.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from foveate.core.errors import BadOption, ExternalError, MissingExtra
from foveate.providers.tokenizers.simple import longest_prefix, replace_surrogates

CONTROL = re.compile(r"<[|｜].*[|｜]>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class HuggingFace:
    """A tokenizer read from a file; `name` is the path, the fingerprint hashes the file's bytes."""

    name: str
    fingerprint: str
    _vendor: Any = field(repr=False, compare=False)

    @classmethod
    def load(cls, path: str | Path) -> HuggingFace:
        """Read a file. Raises `BadOption` where it is none, `MissingExtra` without the package."""
        file = Path(path).expanduser()
        try:
            stat = file.stat()
            return _load_file(
                _name_for_path(str(path)), str(file.resolve()), stat.st_mtime_ns, stat.st_size
            )
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            raise BadOption(
                f"tokenizer {str(path)!r}: no such file; give the path of a tokenizer.json"
            ) from None
        except OSError as error:
            raise ExternalError(f"tokenizer {str(path)!r}: {error.strerror}") from error

    def count(self, text: str) -> int:
        """Number of tokens; 0 for the empty text."""
        if not text:
            return 0
        try:
            return len(self._vendor.encode(text, add_special_tokens=False))
        except (UnicodeEncodeError, TypeError):
            return len(self._vendor.encode(replace_surrogates(text), add_special_tokens=False))

    def truncate(self, text: str, n: int) -> str:
        """The longest prefix found of at most `n` tokens."""
        return longest_prefix(text, n, self.count)


def _name_for_path(path: str) -> str:
    """The name that loads this path again."""
    return path if path.endswith(".json") or os.sep in path else f"hf:{path}"


@lru_cache(maxsize=8)
def _load_file(name: str, file: str, _changed: int, _size: int) -> HuggingFace:
    """Cached by path, time and size, so that a file that was replaced is read again."""
    from blake3 import blake3

    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtra("tokenizers", "huggingface") from None
    data = Path(file).read_bytes()
    try:
        vendor = Tokenizer.from_str(json.dumps(strip_special_tokens(json.loads(data))))
    except Exception as error:  # noqa: BLE001 (what the package raises for an unusable file)
        raise BadOption(f"tokenizer {name!r}: not a Hugging Face tokenizer.json: {error}") from None
    return HuggingFace(name=name, fingerprint=f"hf-1:{blake3(data).hexdigest(16)}", _vendor=vendor)


def strip_special_tokens(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The tokenizer's description without what treats some text as more than text."""
    added = spec.get("added_tokens") or []
    control = {
        token["content"]
        for token in added
        if token.get("special") or CONTROL.fullmatch(token["content"])
    }
    return {
        **spec,
        "truncation": None,
        "padding": None,
        "post_processor": None,
        "added_tokens": [token for token in added if token["content"] not in control],
        "model": _rename_control_tokens(spec["model"], control),
    }


def _rename_control_tokens(model: Mapping[str, Any], control: Iterable[str]) -> dict[str, Any]:
    """The model with the control tokens' pieces renamed: kept for their ids, found in no text."""
    vocabulary = model["vocab"]
    hidden = {token: f"\0{token}\0" for token in control if token != model.get("unk_token")}
    if isinstance(vocabulary, list):  # Unigram: pairs of piece and score
        pieces: Any = [[hidden.get(piece, piece), *score] for piece, *score in vocabulary]
        return {**model, "vocab": pieces}
    for left, right in map(_parse_merge, model.get("merges", ())):
        hidden.pop(left, None)
        hidden.pop(right, None)
        hidden.pop(left + right, None)
    pieces = {hidden.get(piece, piece): number for piece, number in vocabulary.items()}
    return {**model, "vocab": pieces, **({"dropout": None} if "dropout" in model else {})}


def _parse_merge(merge: str | list[str]) -> tuple[str, str]:
    """A merge is written `"a b"` in older files and `["a", "b"]` in newer ones."""
    left, right = merge.split(" ", 1) if isinstance(merge, str) else merge
    return left, right
