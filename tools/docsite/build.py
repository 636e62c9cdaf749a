"""Pages in, HTML out: strict, offline, from scratch."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TextIO

from tools.docsite import api
from tools.docsite.pages import Pages
from tools.docsite.sources import write_sources

ROOT = Path(__file__).resolve().parent.parent.parent
OUT = ROOT / "build" / "site"
READ = ("docs", "src", "tools", "bench", "deploy", "examples")
LEFT_OUT = {".pyc", ".lock"}


def build(root: Path = ROOT, out: Path = OUT) -> int:
    """The site of the repository at `root` in the folder `out`; how many pages it has.

    It is made anew only where something that it is made of has changed. Raises `Broken` for a link
    that leads nowhere, `SystemExit` where the generator has a warning.
    """
    with _alone(out):
        return _built(root, out)


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """One process at a time; the next one finds what the first has made."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.with_name(f"{out.name}-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _built(root: Path, out: Path) -> int:
    source, mark = (out.with_name(f"{out.name}-{name}") for name in ("pages", "mark"))
    if mark.is_file():
        written = mark.read_text(encoding="utf-8")
        if written == _mark(root, out, written.splitlines()[1:]):
            return _count(out)
    mark.unlink(missing_ok=True)
    pages = Pages(root)
    pages.texts |= dict(api.pages(api.modules(root)))
    shutil.rmtree(source, ignore_errors=True)
    pages.write(source)
    if made_of(source, out, sys.stderr):
        shutil.rmtree(out)
        raise SystemExit("site: the warnings above are errors")
    write_sources(root, pages.sources, out)
    mark.write_text(_mark(root, out, sorted(pages.sources)), encoding="utf-8")
    return _count(out)


def _count(out: Path) -> int:
    return sum(1 for _ in out.rglob("*.html"))


def _mark(root: Path, out: Path, named: Iterable[str]) -> str:
    """A hash of all that the site may be made of, and how many pages it has; what else is `named`.

    The repository's texts, the files beside them that pages name, the generator.
    """
    found = hashlib.blake2b()
    texts = (p for name in READ for p in (root / name).rglob("*") if p.suffix not in LEFT_OUT)
    beside = (p for name in named for p in (root / name, *(root / name).rglob("*")))
    for path in sorted({*root.glob("*.md"), *(p for p in (*texts, *beside) if p.is_file())}):
        found.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes() + b"\0")
    for name in ("sphinx", "furo", "myst-parser", "pygments"):
        found.update(f"{name} {version(name)}\0".encode())
    return "\n".join((f"{found.hexdigest()} {_count(out)}", *named))


def made_of(source: Path, out: Path, said: TextIO, jobs: int = 4) -> int:
    """Sphinx over a folder of Markdown: 0 where there was not even a warning on `said`.

    `jobs`: processes at the most; 1 forks none.
    """
    from sphinx.application import Sphinx

    trees = out.with_name(f"{out.name}-trees")
    for folder in (out, trees):
        shutil.rmtree(folder, ignore_errors=True)
    app = Sphinx(
        srcdir=source,
        confdir=Path(__file__).resolve().parent,
        outdir=out,
        doctreedir=trees,
        buildername="html",
        status=None,
        warning=said,
        freshenv=True,
        warningiserror=True,
        parallel=min(os.cpu_count() or 1, jobs),
    )
    app.build(force_all=True)
    return app.statuscode
