"""The reading process: the same answers, and an end for what hangs, crashes or swells."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from documents import SMALL, pdf
from foveate.core.errors import BadInput
from foveate.ingest import sandbox as sandbox_module
from foveate.ingest.load import load_in_process
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.sandbox import Sandbox, answer_from_parts, parts_from_answer
from foveate.ports import LoadedDocument, Section

SCRIPTS = {
    "hangs": "import sys; sys.stdin.buffer.readline(); sys.stdin.buffer.read()",
    "crashes": "import os, sys; sys.stdin.buffer.readline(); os.abort()",
    "stops": "import sys; sys.exit(3)",
    "mumbles": "import sys; sys.stdin.buffer.readline(); sys.stdout.write('{\"par')",
}


@pytest.fixture
def reader() -> Iterator[Sandbox]:
    """A reader with short patience."""
    with Sandbox(Limits(seconds=1)) as sandbox:
        yield sandbox


@pytest.mark.parametrize("suffix", SMALL)
def test_it_answers_what_the_loader_does(suffix: str) -> None:
    """T2: whichever process reads a file, the documents are the same."""
    data, path = SMALL[suffix](), Path(f"a{suffix}")
    with Sandbox(Limits()) as sandbox:
        there = sandbox.load(data, path)
    assert list(there) == list(load_in_process(data, path, Limits()))


def test_a_document_survives_the_way(reader: Sandbox) -> None:
    """T2: all that a document says is said again, to the last field."""
    loaded = LoadedDocument(
        text="Zwölf \U0001f9ef\n",
        title="T",
        sections=(Section(start=0, end=3, path="A > B", page=2, row=7),),
        metadata={"from": "Anna"},
        id="#x",
        own_id=False,
        source="s",
        summary="u",
        modified_at=datetime(2024, 3, 1, 10, tzinfo=timezone(timedelta(hours=1))),
        principals=("a", "b"),
        lines=False,
    )
    there = parts_from_answer(answer_from_parts([loaded, BadInput("no", line=3)]))
    assert there[0] == loaded
    assert str(there[1]) == "line 3: no"


@pytest.mark.parametrize("line", ["7", "{", "{}", '{"parts": 3}', '{"parts": [{}]}', "[" * 99_999])
def test_an_answer_that_is_none_is_refused(line: str) -> None:
    """X2: whatever comes back, it is documents or a reason."""
    with pytest.raises(BadInput) as caught:
        sandbox_module._parse_answer(line.encode())
    assert "gave no answer" in str(caught.value)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("hangs", "takes longer than 1 seconds (limit `seconds`)"),
        ("crashes", f"its reader broke down ({signal.Signals.SIGABRT.name})"),
        ("stops", "its reader broke down (exit code 3)"),
        ("mumbles", "its reader broke down (exit code 0)"),
    ],
)
def test_a_reader_that_fails_is_ended_and_replaced(
    script: str, reason: str, reader: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X2: the file is refused with the reason, and the next one is read by a new process."""

    def started(module: str, argument: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", SCRIPTS[script]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    with monkeypatch.context() as patched:
        patched.setattr(sandbox_module, "start_process", started)
        with pytest.raises(BadInput) as caught:
            reader.load(b"x" * 1_000_000, Path("a.csv"))
    assert reason in str(caught.value)
    with Sandbox(Limits()) as patient:
        patient._process = reader._process
        (loaded,) = patient.load(b"a,b\n1,2\n", Path("a.csv"))
    assert isinstance(loaded, LoadedDocument)


def test_one_process_reads_many_files() -> None:
    """T2: it is started once, also where files between are refused, and gone afterwards."""
    with Sandbox(Limits()) as sandbox:
        sandbox.load(SMALL[".pdf"](), Path("a.pdf"))
        first = sandbox._process
        with pytest.raises(BadInput):
            sandbox.load(b"%PDF-", Path("b.pdf"))
        sandbox.load(SMALL[".docx"](), Path("a.docx"))
        assert sandbox._process is first
    assert first is not None
    assert first.poll() is not None


def test_memory_is_bounded() -> None:
    """X2: a file that takes more memory than the limit is refused by name."""
    least = Limits(memory_bytes=128 << 20)
    with Sandbox(least) as sandbox, pytest.raises(BadInput) as caught:
        sandbox.load(b"x,y\n" * 8_000_000, Path("a.csv"))
    assert "limit `memory_bytes`" in str(caught.value)


def test_what_lies_in_the_folder_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X2: a module of a name that is imported, in the current folder, is no module of ours."""
    (tmp_path / "json.py").write_text("import os; os.abort()", encoding="utf-8")
    (tmp_path / "foveate.py").write_text("import os; os.abort()", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with Sandbox(Limits()) as sandbox:
        (loaded,) = sandbox.load(pdf(["hi"]), Path("a.pdf"))
    assert isinstance(loaded, LoadedDocument)
