"""What a caller says about the files to read."""

from __future__ import annotations

from dataclasses import dataclass, field

from foveate.ingest.loaders.decode import check_encoding


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """`encoding`: of texts that are neither UTF-8 nor marked, and declare none.

    `passwords`: tried in order on PDF files that need one; they are neither stored nor shown.
    Raises `UnknownName` for an encoding that Python does not know.
    """

    encoding: str = ""
    passwords: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        """Refuse an unknown encoding before any file is read."""
        check_encoding(self.encoding)
