"""The workload: what a retriever hands over, and the truth about it that no system is shown.

    python -m bench.peers.workload            writes all sizes below build/bench/workloads

Candidates are sorted by score, best first, and are the same for the same size and seed. The text
is that of the running Python's language reference (`prose.py`), so `about` names its version.
Making one needs toktok; loading one needs numpy alone, so that every system's own environment can.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from bench.peers.facts import QUERY, Fact, plant
from bench.peers.prose import fingerprint, stream, titles
from bench.peers.shape import Slot, shape
from bench.peers.texts import Text, Tokens, write
from bench.peers.vectors import embed

if TYPE_CHECKING:
    from bench.peers.vectors import Floats

SIZES = (10, 50, 200, 1_000, 10_000)
SEED = 7
FOLDER = Path("build/bench/workloads")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One candidate, as every system gets it. `tokens`: of its text alone, by cl100k_base."""

    id: str
    document: str
    title: str
    sequence: int
    start: int
    end: int
    text: str
    score: float
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What the judge knows of the candidate in the same place.

    `group` is shared by all copies of one text; `overlap`: how many characters of the text's
    beginning are the end of the candidate `after`.
    """

    kind: str
    group: int
    after: str = ""
    overlap: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Workload:
    """Rows, truths and vectors side by side; the facts name the ids that carry them."""

    rows: tuple[Row, ...]
    truths: tuple[Truth, ...]
    vectors: Floats
    query_vector: Floats
    facts: tuple[dict[str, Any], ...]
    about: dict[str, Any]
    query: str = QUERY


def generate(n: int, seed: int = SEED) -> Workload:
    """Make the workload of this size."""
    import numpy as np

    dice = Random(f"{seed}/{n}")  # noqa: S311
    slots = shape(n, dice)
    vectors, query_vector, scores = embed(slots, n, dice.getrandbits(32))
    order = sorted(range(n), key=lambda uid: (-scores[uid], uid))
    facts = plant(slots, {uid: rank for rank, uid in enumerate(order)})
    planted = {uid: fact.text for fact in facts for uid in fact.uids}
    texts = write(slots, planted, stream(dice), dice)
    ids = {uid: f"c{rank:05d}" for rank, uid in enumerate(order)}
    counts = Tokens().many([texts[uid].text for uid in order])
    return Workload(
        rows=tuple(
            _row(slots[uid], texts[uid], ids[uid], scores[uid], count)
            for uid, count in zip(order, counts, strict=True)
        ),
        truths=tuple(_truth(slots[uid], texts[uid], ids) for uid in order),
        vectors=np.ascontiguousarray(vectors[order]),
        query_vector=query_vector,
        facts=tuple(_fact(fact, ids) for fact in facts),
        about={
            "n": n,
            "seed": seed,
            "python": platform.python_version(),
            "prose": fingerprint(),
            "generator": generator(),
            "tokens": sum(counts),
        },
    )


def _row(slot: Slot, text: Text, name: str, score: float, tokens: int) -> Row:
    named = titles()
    title = f"{named[slot.document % len(named)]} {slot.document // len(named) + 1}"
    return Row(
        id=name,
        document=f"doc-{slot.document:05d}",
        title=title,
        sequence=slot.sequence,
        start=text.start,
        end=text.end,
        text=text.text,
        score=score,
        tokens=tokens,
    )


def _truth(slot: Slot, text: Text, ids: dict[int, str]) -> Truth:
    if slot.kind != "adjacent" or slot.parent is None:
        return Truth(kind=slot.kind, group=slot.group)
    return Truth(kind=slot.kind, group=slot.group, after=ids[slot.parent], overlap=text.overlap)


def _fact(fact: Fact, ids: dict[int, str]) -> dict[str, Any]:
    return {"text": fact.text, "where": fact.where, "ids": [ids[uid] for uid in fact.uids]}


def save(workload: Workload, folder: Path = FOLDER) -> None:
    """Write `<n>.json` and `<n>.npy`."""
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / str(len(workload.rows))
    held = {
        "about": workload.about,
        "query": workload.query,
        "facts": workload.facts,
        "rows": [asdict(row) for row in workload.rows],
        "truths": [asdict(truth) for truth in workload.truths],
    }
    np.save(stem.with_suffix(".npy"), np.vstack((workload.vectors, workload.query_vector)))
    stem.with_suffix(".json").write_text(json.dumps(held), encoding="utf-8")


def load(n: int, folder: Path = FOLDER) -> Workload:
    """Read what `save` wrote."""
    import numpy as np

    held = json.loads((folder / f"{n}.json").read_text(encoding="utf-8"))
    vectors = np.load(folder / f"{n}.npy")
    return Workload(
        rows=tuple(Row(**row) for row in held["rows"]),
        truths=tuple(Truth(**truth) for truth in held["truths"]),
        vectors=vectors[:-1],
        query_vector=vectors[-1],
        facts=tuple(held["facts"]),
        about=held["about"],
        query=held["query"],
    )


def generator() -> str:
    """Names the generator's own code: a change makes the workloads anew."""
    own = ("prose", "facts", "shape", "vectors", "texts", "workload")
    code = b"".join((Path(__file__).parent / f"{name}.py").read_bytes() for name in own)
    return blake2b(code, digest_size=8).hexdigest()


def stored(n: int, folder: Path = FOLDER) -> bool:
    """Whether this size is there, made by this code of this Python's text."""
    path = folder / f"{n}.json"
    if not path.exists():
        return False
    about = json.loads(path.read_text(encoding="utf-8"))["about"]
    return bool((about["prose"], about["generator"]) == (fingerprint(), generator()))


def make(sizes: Iterable[int], folder: Path = FOLDER) -> None:
    """Write the sizes that are not there yet."""
    for n in sizes:
        if not stored(n, folder):
            print(f"workload of {n}", file=sys.stderr)
            save(generate(n), folder)


if __name__ == "__main__":
    make([int(size) for size in sys.argv[1:]] or SIZES)
