"""How big the house is: lines per room, the longest files and functions.

Fails above the hard caps. Long functions under the cap are listed, so that they stay few.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "foveate"
FILE_CAP = 500
FUNCTION_CAP = 100
FUNCTION_LISTED = 60


def function_lengths(path: Path) -> list[tuple[int, str]]:
    """(lines, `file:line name`) of every function in a file, docstring included."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        (
            (node.end_lineno or node.lineno) - node.lineno + 1,
            f"{path.relative_to(ROOT)}:{node.lineno} {node.name}",
        )
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def main() -> int:
    """Print the report; 1 where something is over a hard cap."""
    files = sorted(SOURCE.rglob("*.py"))
    if not files:
        sys.exit(f"sizes: no file in {SOURCE}")
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    rooms: Counter[str] = Counter()
    for path, count in lines.items():
        parts = path.relative_to(SOURCE).parts
        rooms["/".join(parts[: min(2, len(parts) - 1)]) or "."] += count
    functions = sorted((f for path in files for f in function_lengths(path)), reverse=True)
    short = sum(length <= 20 for length, _ in functions)

    for room, count in sorted(rooms.items()):
        print(f"{count:7,}  {room}")
    print(f"{sum(lines.values()):7,}  lines in {len(files)} files", end="; ")
    print(f"{short / max(1, len(functions)):.0%} of {len(functions)} functions within 20 lines")
    for path in sorted(files, key=lambda p: -lines[p])[:3]:
        print(f"  longest files: {lines[path]:4} {path.relative_to(ROOT)}")
    for length, where in functions:
        if length > FUNCTION_LISTED:
            print(f"  long function: {length:4} {where}")

    over = [f"{p.relative_to(ROOT)}: {n} lines" for p, n in lines.items() if n > FILE_CAP]
    over += [f"{where}: {length} lines" for length, where in functions if length > FUNCTION_CAP]
    for what in over:
        print(f"over the cap: {what}", file=sys.stderr)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
