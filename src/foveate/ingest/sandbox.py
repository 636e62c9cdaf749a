"""A process that reads the files which could hang, exhaust or crash a parser.

It starts with the first such file and reads the next ones too. A file over its time limit ends it,
and the next file gets a new process. `concurrent.futures` cannot end a task, and one crash breaks
its pool. Bytes go in and JSON comes out, so no answer is executed.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
from array import array
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, fields
from datetime import datetime
from pathlib import Path
from threading import Timer
from typing import IO, Any, Self, TypedDict

from foveate.batch.engines.process import format_exit, start_process, wait_for_exit
from foveate.core.errors import BadInput
from foveate.ingest.loaders.blocks import Rows
from foveate.ingest.loaders.limits import DEFAULT_OPTIONS, Limits, ReadOptions
from foveate.ports import LoadedDocument, LoadedImage, Section


class ReaderAnswer(TypedDict, total=False):
    """`refused`: why the whole file was; else its `parts`, each a document or why it is none."""

    refused: str
    parts: list[dict[str, Any] | str]


def answer_from_parts(parts: Iterable[LoadedDocument | BadInput]) -> ReaderAnswer:
    """The documents as plain values."""
    return {"parts": [str(p) if isinstance(p, BadInput) else _loaded_to_json(p) for p in parts]}


def parts_from_answer(answer: ReaderAnswer) -> list[LoadedDocument | BadInput]:
    """The documents again. Raises the `BadInput` that the file was refused with."""
    if "refused" in answer:
        raise BadInput(answer["refused"])
    return [BadInput(p) if isinstance(p, str) else _loaded_from_json(p) for p in answer["parts"]]


def _loaded_to_json(loaded: LoadedDocument) -> dict[str, Any]:
    plain = {each.name: getattr(loaded, each.name) for each in fields(loaded)}
    instant = loaded.modified_at
    return plain | {
        "sections": _plain_sections(loaded.sections),
        "metadata": dict(loaded.metadata),
        "left_out": dict(loaded.left_out),
        "images": [
            asdict(image) | {"data": b64encode(image.data).decode()} for image in loaded.images
        ],
        "modified_at": instant.isoformat() if instant else None,
    }


def _loaded_from_json(plain: dict[str, Any]) -> LoadedDocument:
    instant = plain["modified_at"]
    return LoadedDocument(
        **plain
        | {
            "sections": _sections(plain["sections"]),
            "modified_at": datetime.fromisoformat(instant) if instant else None,
            "principals": tuple(plain["principals"]),
            "images": tuple(
                LoadedImage(**image | {"data": b64decode(image["data"])})
                for image in plain["images"]
            ),
        }
    )


def _plain_sections(sections: Sequence[Section]) -> Any:
    """A list for each section; columns for rows of a table, which may be a million."""
    if not isinstance(sections, Rows):
        return [astuple(section) for section in sections]
    columns = [b64encode(column.tobytes()).decode() for column in sections.columns]
    return {"columns": columns, "names": sections.names}


def _sections(plain: Any) -> Sequence[Section]:
    if isinstance(plain, dict):
        columns = (array("I", b64decode(column)) for column in plain["columns"])
        return Rows(columns, plain["names"])
    names = [each.name for each in fields(Section)]
    return tuple(Section(**dict(zip(names, values, strict=True))) for values in plain)


class Sandbox:
    """Reads files in another process, at most one at a time. Use it as a context manager."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_process()

    def load(
        self, data: bytes, path: Path, options: ReadOptions = DEFAULT_OPTIONS
    ) -> Sequence[LoadedDocument | BadInput]:
        """The file's documents. Raises `BadInput`, also if the reader had to be ended."""
        asked = {"name": path.name, "options": asdict(options)}
        process = self._process = self._process or start_process(
            "foveate.ingest.reader", json.dumps(asdict(self.limits))
        )
        overtime: list[bool] = []

        def end() -> None:
            overtime.append(True)
            process.kill()

        timer = Timer(self.limits.seconds, end)
        timer.daemon = True
        timer.start()
        try:
            line = _send_file(process, data, asked)
        except BaseException:  # Ctrl-C: half a question is in the pipe
            process.kill()
            self._end_process()
            raise
        finally:
            timer.cancel()
        if line.endswith(b"\n") and not overtime:
            return _parse_answer(line)
        code = self._end_process()
        if overtime:
            raise BadInput(f"takes longer than {self.limits.seconds} seconds (limit `seconds`)")
        raise BadInput(
            f"its reader broke down ({format_exit(code)}); the file is damaged or hostile"
        )

    def _end_process(self) -> int:
        """End the process; its exit code."""
        process, self._process = self._process, None
        if process is None:
            return 0
        return wait_for_exit(process)


def _send_file(process: subprocess.Popen[bytes], data: bytes, asked: dict[str, Any]) -> bytes:
    """The answering line; incomplete if the process ended before."""
    question = json.dumps({**asked, "size": len(data)}).encode() + b"\n"
    to, back = _require_pipe(process.stdin), _require_pipe(process.stdout)
    with contextlib.suppress(BrokenPipeError):
        to.write(question)
        to.write(data)
        to.flush()
    return bytes(back.readline())


def _parse_answer(line: bytes) -> list[LoadedDocument | BadInput]:
    try:
        answer: ReaderAnswer = json.loads(line)
        return parts_from_answer(answer)
    except BadInput:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise BadInput("its reader gave no answer; the file is damaged or hostile") from None


def _require_pipe(pipe: IO[bytes] | None) -> Any:
    assert pipe is not None
    return pipe
