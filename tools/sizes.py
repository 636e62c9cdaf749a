"""How big the house is: lines per room beside its ceiling, and files and functions over the caps.

`pyproject.toml` holds the ceilings. A room, a file or a function above its own fails.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "foveate"
FILE_CAP = 500
FUNCTION_CAP = 100
GOAL = 400
"""Lines of a file that all are to come down to."""
COUNTED = {"docs": "*.md"}
"""What is counted of a folder where it is not `*.py`."""
GENERATED = ROOT / "docs" / "reference"
"""Written when the site is built, and in no repository."""


def ceilings() -> tuple[dict[str, int], dict[str, int]]:
    """Ceilings of the rooms of the package, and of whole folders."""
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["foveate"]
    return tables["rooms"], tables["folders"]


def room_lines(lines: Mapping[Path, int], rooms: Mapping[str, int]) -> Counter[str]:
    """Lines of each room; a room is folders joined by ` + `, less the rooms within them.

    `.` stands for the files of the package itself. A file in no room counts
    under its outermost folder.
    """
    owners = {folder: room for room in rooms for folder in room.split(" + ")}
    found: Counter[str] = Counter(dict.fromkeys(rooms, 0))
    for path, count in lines.items():
        folders = [str(folder) for folder in path.relative_to(SOURCE).parents]
        within = folders[:-1] or folders
        own = next((one for one in within if one in owners), "")
        found[owners[own] if own else within[-1]] += count
    return found


def folder_lines(folder: str) -> int:
    """Lines of the files of a folder of the repository."""
    files = (ROOT / folder).rglob(COUNTED.get(folder, "*.py"))
    kept = (path for path in files if not path.is_relative_to(GENERATED))
    return sum(len(path.read_bytes().splitlines()) for path in kept)


def measured() -> Iterator[tuple[str, int, int]]:
    """Each room and folder with its lines and its ceiling, which is 0 where none is written."""
    rooms, folders = ceilings()
    lines = {path: len(path.read_bytes().splitlines()) for path in sorted(SOURCE.rglob("*.py"))}
    for room, count in room_lines(lines, rooms).items():
        yield room, count, rooms.get(room, 0)
    for folder, ceiling in folders.items():
        yield folder, folder_lines(folder), ceiling


def main() -> int:
    """Print the report; 1 where something is over a hard cap."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    if not texts:
        sys.exit(f"sizes: no file in {SOURCE}")
    found: list[tuple[int, int, str]] = []  # lines, the cap, where
    for path, text in texts.items():
        lines, where = len(text.splitlines()), str(path.relative_to(ROOT))
        found.append((lines, FILE_CAP, where))
        found += [
            ((node.end_lineno or 0) - node.lineno + 1, FUNCTION_CAP, f"{where} {node.name}")
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
    for room, lines, ceiling in measured():
        found.append((lines, ceiling, room))
        print(f"{lines:7,}  of {ceiling:7,}: {room}")
    long = [(lines, where) for lines, cap, where in found if cap == FILE_CAP and lines > GOAL]
    print(f"{len(texts)} files; {len(long)} have more than {GOAL} lines:")
    for lines, where in sorted(long, reverse=True):
        print(f"{lines:7,}  {where}")
    over = [one for one in found if one[0] > one[1]]
    for lines, cap, where in over:
        print(f"{where} has {lines:,} lines, {cap:,} at most", file=sys.stderr)
    return int(bool(over))


if __name__ == "__main__":
    sys.exit(main())
