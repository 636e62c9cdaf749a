"""Puts what a benchmark measured into a page of the documentation, between two comments."""

from __future__ import annotations

from pathlib import Path


def put_into(page: Path, mark: str, text: str) -> None:
    """Replace what stands between `<!-- mark: begin -->` and `<!-- mark: end -->`."""
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    before, rest = page.read_text(encoding="utf-8").split(begin, 1)
    _, after = rest.split(end, 1)
    page.write_text(f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}", encoding="utf-8")
