"""Bounds on reading a file. A file over a bound is refused, never cut."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from foveate.core.errors import BadInput, BadOption

_MAX_CELL_CHARS = 131_072  # what the standard library's csv module reads of one cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on one file. Each is a whole number of 1 or more, or `BadOption`.

    `file_bytes`: on the disk. `unpacked_bytes`, `ratio` and `members`: of the zip archive of an
    Office, OpenDocument or EPUB file; the ratio counts beyond a megabyte. `depth`: nesting of
    elements. `pages`: of a PDF, slides or chapters. `rows`: of all sheets, or of a CSV file.
    `cell_chars`: of one cell. `text_chars`: of all text. `chunks`: of one document. `attachments`:
    of a mail. `images` and `image_bytes`: of one file, if its images are read. `seconds` and
    `memory_bytes`: of the process that reads all but plain texts.
    """

    file_bytes: int = 256 << 20
    unpacked_bytes: int = 512 << 20
    ratio: int = 200
    members: int = 10_000
    depth: int = 256
    pages: int = 5_000
    rows: int = 1_048_576
    cell_chars: int = _MAX_CELL_CHARS
    text_chars: int = 64_000_000
    chunks: int = 20_000
    attachments: int = 100
    images: int = 500
    image_bytes: int = 128 << 20
    seconds: int = 120
    memory_bytes: int = 2 << 30

    def __post_init__(self) -> None:
        """Refuse what is no bound."""
        for each in fields(self):
            value = getattr(self, each.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise BadOption(
                    f"limit {each.name} is {value!r}; it must be a whole number of 1 or more"
                )
        if self.cell_chars > _MAX_CELL_CHARS:
            raise BadOption(
                f"limit cell_chars is {self.cell_chars}; it must be {_MAX_CELL_CHARS} or less"
            )

    def check_bound(self, name: str, value: int, what: str) -> None:
        """Raise `BadInput` if `value` is over the bound of that name.

        >>> Limits(pages=3).check_bound("pages", 9, "pages")
        Traceback (most recent call last):
        foveate.core.errors.BadInput: more than 3 pages (limit `pages`)
        """
        bound = getattr(self, name)
        if value > bound:
            raise BadInput(f"more than {bound} {what} (limit `{name}`)")


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """`encoding`: of texts that are neither UTF-8 nor marked, and declare none.

    `images`: whether images of PDF, Word and PowerPoint files are read too.
    `passwords`: tried in order on PDF files that need one; they are neither stored nor shown.
    """

    encoding: str = ""
    passwords: tuple[str, ...] = field(default=(), repr=False)
    images: bool = False


DEFAULT_OPTIONS = ReadOptions()
