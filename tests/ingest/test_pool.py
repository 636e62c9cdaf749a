"""Several processes: the same outcome as one, and a clean end whatever happens to them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from documents import write_mixed_folder
from foveate.batch.engines import pool as pool_module
from foveate.batch.engines.worker import make_picklable
from foveate.core.errors import BadOption, ExternalError, UnknownName
from foveate.ingest import Report, ingest
from foveate.ingest.document_task import (
    PreparedDocument,
    PreparedPart,
    Preparer,
    Refusal,
    Task,
)
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.prepare import Settings
from foveate.ingest.run import prepare_in_process, prepare_in_processes, walk_paths
from foveate.ports import Embedder
from foveate.providers.embedders import load_embedder
from foveate.providers.tokenizers.simple import Simple
from foveate.stores import open_store

SOURCES = Path(__file__).parents[2] / "src"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Some thirty files."""
    root = tmp_path / "docs"
    write_mixed_folder(root, pages=12, rows=50)
    return root


def _indexed(docs: Path, store: Path, embedder: Embedder, **options: Any) -> tuple[Report, str]:
    opened = open_store(store, embedder_name=embedder.name, dimensions=embedder.dimensions)
    try:
        return ingest(docs, opened, embedder, Simple(), **options), opened.state_root()
    finally:
        opened.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """An embedder that stays where it is, and counts how often it is asked."""

    asked: list[int]
    inner: Any

    name = "remote@1"
    dimensions = 256

    def embed(self, texts: Sequence[str]) -> Any:
        """The inner one's."""
        self.asked.append(len(texts))
        return self.inner.embed(texts)


def test_the_outcome_is_that_of_one_process(docs: Path, tmp_path: Path) -> None:
    """T2, D3: report, errors and state root are the same, anew and after a change."""
    embedder = load_embedder("hashing")
    one, many = tmp_path / "one", tmp_path / "many"
    first = _indexed(docs, one, embedder)
    assert _indexed(docs, many, embedder, jobs=3) == first
    assert [each.path for each in first[0].failed] == [
        "docs/binary.md",
        "docs/broken.pdf",
        "docs/rows.jsonl",
        "docs/taken.jsonl",
    ]
    (docs / "sub" / "03.md").write_text("# Milk\n\nCold.\n")
    (docs / "sub" / "04.md").unlink()
    again = _indexed(docs, one, embedder)
    assert _indexed(docs, many, embedder, jobs=3) == again
    assert (again[0].updated, again[0].deleted) == (1, 1)


def test_an_embedder_that_stays_gets_batches(docs: Path, tmp_path: Path) -> None:
    """T2, T6: texts of many documents go to it at once, and the vectors are the same ones."""
    asked: list[int] = []
    remote = Remote(asked=asked, inner=load_embedder("hashing"))
    here = _indexed(docs, tmp_path / "here", remote)
    chunks = here[0].chunks
    assert sum(asked) == chunks
    assert len(asked) <= chunks // 256 + 1
    assert _indexed(docs, tmp_path / "apart", remote, jobs=2) == here


def _preparer(**changed: Any) -> Preparer:
    settings = Settings(
        size=100, overlap=0, language="en", fingerprint="f", embedder="", principals=()
    )
    return Preparer(settings=settings, tokenizer=Simple(), **changed)


def _tasks(docs: Path) -> list[Task]:
    return [Task(file=file) for each in walk_paths(docs) for file in each.files]


def _parts(prepared: Any) -> list[list[PreparedPart]]:
    return [list(parts) for parts in prepared]


def test_parts_are_those_of_one_process(docs: Path) -> None:
    """T2: part by part, also with more processes than files."""
    tasks = _tasks(docs)
    here = _parts(prepare_in_process(_preparer(), tasks))
    for some, jobs in ((tasks, 2), (tasks[:1], 4), ([], 2)):
        assert _parts(prepare_in_processes(_preparer(), some, jobs)) == here[: len(some)]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Every process that is started, in order."""
    found: list[subprocess.Popen[bytes]] = []
    start = pool_module.start_process

    def noted(*words: Any, **options: Any) -> subprocess.Popen[bytes]:
        found.append(start(*words, **options))
        return found[-1]

    monkeypatch.setattr(pool_module, "start_process", noted)
    return found


def test_a_killed_process_has_a_successor(docs: Path, started: list[Any]) -> None:
    """T5, X2: what it was at is done again, nothing twice and nothing lost."""
    tasks = _tasks(docs)
    here = _parts(prepare_in_process(_preparer(), tasks))
    prepared = prepare_in_processes(_preparer(), tasks, 1)
    first = list(next(prepared))
    started[0].kill()
    assert [first, *_parts(prepared)] == here
    assert len(started) >= 1
    assert all(process.poll() is not None for process in started)


def test_a_file_that_ends_two_processes_is_refused(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X2: it is named with how they ended, and the rest go on."""
    real = pool_module.start_process

    def dying(module: str, **options: Any) -> subprocess.Popen[bytes]:
        if options.pop("seen", True) and len(lives) < 2:
            lives.append(1)
            script = "import os, sys; sys.stdin.buffer.read(8); os.abort()"
            return subprocess.Popen(
                [sys.executable, "-c", script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                process_group=0,
            )
        return real(module, **options)

    lives: list[int] = []
    monkeypatch.setattr(pool_module, "start_process", dying)
    first, second = _parts(prepare_in_processes(_preparer(), _tasks(docs)[:2], 1))
    (refused,) = first
    assert isinstance(refused, Refusal)
    assert refused.reason.startswith(
        "could not be prepared: its process broke down twice (SIGABRT): out of memory"
    )
    assert isinstance(second[0], Refusal | PreparedDocument)


def test_whoever_stops_leaves_no_process(docs: Path, started: list[Any]) -> None:
    """T5: an error, or Ctrl-C, in the midst of it ends them all."""

    def interrupted() -> None:
        with closing(prepare_in_processes(_preparer(), _tasks(docs), 2)) as prepared:
            next(prepared)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert all(process.poll() is not None for process in started)


def test_a_hanging_file_takes_its_time_and_no_more(docs: Path, tmp_path: Path) -> None:
    """X2: limits hold in every process: the CSV that is too long for its reader is refused."""
    (tmp_path / "big").mkdir()
    (tmp_path / "big" / "long.csv").write_bytes(b"a,b\n" + b"1,2\n" * 900_000)
    preparer = _preparer(limits=Limits(seconds=1, rows=1_000_000))
    (long,) = _parts(prepare_in_processes(preparer, _tasks(tmp_path / "big"), 2))
    assert long == [Refusal(reason="takes longer than 1 seconds (limit `seconds`)")]


class Broken:
    """An embedder that is never there."""

    name, dimensions, copies = "broken@1", 256, True

    def __reduce__(self) -> Any:
        """It is made by what fails."""
        return load_embedder, ("no-such-embedder",)

    def embed(self, texts: Sequence[str]) -> Any:
        """Not here."""
        raise ExternalError("the endpoint is down")


def test_what_fails_there_is_raised_here(docs: Path) -> None:
    """X1: the run ends with the error of the embedder, whole."""
    with pytest.raises((UnknownName, ExternalError), match="unknown embedder 'no-such-embedder'"):
        _parts(prepare_in_processes(_preparer(embedder=Broken()), _tasks(docs), 2))


class Unsent:
    """A tokenizer that cannot be pickled."""

    fingerprint = "x"

    def __reduce__(self) -> Any:
        """Refuses."""
        raise TypeError("holds a lock")


def test_what_cannot_be_sent_is_said(docs: Path) -> None:
    """X1: with what to do."""
    settings = _preparer().settings
    preparer = Preparer(settings=settings, tokenizer=Unsent())  # type: ignore[arg-type]
    with pytest.raises(BadOption, match="holds a lock.*use one process"):
        next(prepare_in_processes(preparer, _tasks(docs), 2))


def test_errors_survive_the_way() -> None:
    """X1: as they are where that goes, else saying the same."""
    same = make_picklable(BadOption("no"))
    assert (type(same), str(same)) == (BadOption, "no")
    other = make_picklable(UnknownName("recipe", "x", ["y"]))
    assert isinstance(other, ExternalError)
    assert str(other) == "unknown recipe 'x'; known: y"
    assert str(make_picklable(ValueError("odd"))) == "odd"


SCRIPT = """
import sys
from foveate.providers.embedders import load_embedder
from foveate.stores import open_store
from foveate.providers.tokenizers.simple import Simple
from foveate.ingest import ingest
print("once", flush=True)
hashing = load_embedder("hashing")
store = open_store(sys.argv[2], embedder_name=hashing.name, dimensions=256)
print(ingest(sys.argv[1], store, hashing, Simple(), jobs=2).added)
"""


def test_a_script_needs_no_guard(docs: Path, tmp_path: Path) -> None:
    """F1: a script without `if __name__ == "__main__"` runs once, whatever it starts."""
    (tmp_path / "script.py").write_text(SCRIPT)
    ran = subprocess.run(
        [sys.executable, tmp_path / "script.py", docs, tmp_path / "s"],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        capture_output=True,
        check=True,
        text=True,
    )
    once, added = ran.stdout.split()
    assert once == "once"
    assert int(added) > 60


INTERRUPTED = """
import contextlib, sys
from foveate.cli import main, output

@contextlib.contextmanager
def told():
    yield lambda done, total, name: print(done, flush=True)

output.progress_bar = told
sys.exit(main(["index", sys.argv[1], "--embedder", "hashing", "--jobs", "2"]))
"""


def test_ctrl_c_ends_the_program_and_all_that_it_started(docs: Path, tmp_path: Path) -> None:
    """F2, T5: 130, nothing on stderr, no process left, and the next run goes on."""
    for i in range(120):
        (docs / "sub" / f"more{i}.md").write_text(f"# Page {i}\n\n" + "Boil it again. " * 99)
    words = [sys.executable, "-c", INTERRUPTED, docs]
    started: dict[str, Any] = {
        "env": {**os.environ, "PYTHONPATH": str(SOURCES)},
        "cwd": tmp_path,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    }
    with subprocess.Popen(words, **started) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for _ in range(9):
            process.stdout.readline()
        os.kill(process.pid, signal.SIGINT)
        process.stdout.read()  # to the end: nobody holds it open any more
        assert process.stderr.read() == b""
        assert process.wait() == 130
    words = [sys.executable, "-m", "foveate", "index", docs, "--embedder", "hashing", "--json"]
    again = json.loads(subprocess.run(words, **started, check=True).stdout)
    assert again["added"] + again["unchanged"] > 180  # at most a batch is done again
    assert "docs/sub/more9.md" not in [each["path"] for each in again["failed"]]
