"""How often the check of answers accuses what people call right, and misses what they call wrong.

    python -m bench.labelled_answers FOLDER

FOLDER holds `*.toml` files, one a language by its name: `[[text]]` with `id`, `text`, and the
answers that a reader labelled `right` and `wrong`. Each answer cites its text, which stands in one
context with the other texts of its file. An answer is accused if anything of it is at fault.

FOLDER may instead hold `response.jsonl` and `source_info.jsonl` (or `.gz`) as RAGTruth has them:
answers of models with the spans that people marked. Each sentence of the good answers of its part
`test` is then right, or wrong if a span is in it, and is checked as a spoken one, without a marker.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foveate import assemble, check_answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An answer, what people say of it, and the faults that were found."""

    language: str
    text: str
    answer: str
    right: bool
    faults: tuple[str, ...]


def judged(folder: Path) -> Iterator[Judged]:
    """Every answer of the folder's files; sentences where people marked spans."""
    return _with_spans(folder) if [*folder.glob("response.jsonl*")] else _with_labels(folder)


def _with_spans(folder: Path) -> Iterator[Judged]:
    sources = {one["source_id"]: one["source_info"] for one in _records(folder, "source_info")}
    for given in _records(folder, "response"):
        if (given["split"], given["quality"]) != ("test", "good"):
            continue
        pool = [{"text": text, "score": 1} for text in _passages(sources[given["source_id"]])]
        context = assemble("?", pool, recipe="citations", budget=100_000)
        spans = [(one["start"], one["end"]) for one in given["labels"]]
        for claim in check_answer(given["response"], context, channel="voice").claims:
            begin, stop = claim.span
            wrong = any(start < stop and begin < end for start, end in spans)
            yield Judged(
                language="en",
                text=given["source_id"],
                answer=claim.text,
                right=not wrong,
                faults=claim.faults,
            )


def _records(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    path = next(folder.glob(f"{name}.jsonl*"))
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _passages(source: Any) -> list[str]:
    """A text, the passages of a question, or fields as they were shown to the model."""
    if isinstance(source, str):
        return [source]
    if "passages" in source:
        return [one for one in source["passages"].split("\n\n") if one.strip()]
    return [json.dumps(source, ensure_ascii=False)]


def _with_labels(folder: Path) -> Iterator[Judged]:
    for path in sorted(folder.glob("*.toml")):
        texts = tomllib.loads(path.read_text("utf-8"))["text"]
        pool = [{"text": one["text"].strip(), "source": one["id"], "score": 1} for one in texts]
        context = assemble("?", pool, recipe="citations", budget=100_000, language=path.stem)
        markers = {entry.source: entry.marker for entry in context.citations}
        for one in texts:
            for label in ("right", "wrong"):
                for answer in one[label]:
                    said = f"{answer[:-1]} [{markers[one['id']]}]{answer[-1]}"
                    claims = check_answer(said, context, language=path.stem).claims
                    yield Judged(
                        language=path.stem,
                        text=one["id"],
                        answer=answer,
                        right=label == "right",
                        faults=tuple(fault for claim in claims for fault in claim.faults),
                    )


def main(arguments: Sequence[str]) -> int:
    """Print, per language, the share of right answers accused and of wrong ones found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", help="print each mistake")
    given = parser.parse_args(arguments)
    found = list(judged(given.folder))
    print("| language | answers | right ones accused | wrong ones found |\n|---|---|---|---|")
    for language in (*sorted({one.language for one in found}), "all"):
        mine = [one for one in found if language in ("all", one.language)]
        right, wrong = (
            [bool(o.faults) for o in mine if o.right is label] for label in (True, False)
        )
        print(
            f"| {language} | {len(mine)} | {sum(right)} of {len(right)} "
            f"| {sum(wrong)} of {len(wrong)} |"
        )
    for one in found if given.list else ():
        if one.right is bool(one.faults):
            print(
                "accused" if one.right else "missed", one.language, one.text, one.answer, one.faults
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
