"""How big the house is: lines per room, and the files and functions over the caps, which fail."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "foveate"
FILE_CAP = 500
FUNCTION_CAP = 100


def main() -> int:
    """Print the report; 1 where something is over a hard cap."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    if not texts:
        sys.exit(f"sizes: no file in {SOURCE}")
    rooms: Counter[str] = Counter()
    found: list[tuple[int, int, str]] = []  # lines, the cap, where
    for path, text in texts.items():
        lines, where = len(text.splitlines()), str(path.relative_to(ROOT))
        rooms["/".join(path.relative_to(SOURCE).parts[:-1][:2]) or "."] += lines
        found.append((lines, FILE_CAP, where))
        found += [
            ((node.end_lineno or 0) - node.lineno + 1, FUNCTION_CAP, f"{where} {node.name}")
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
    for room, count in sorted(rooms.items()):
        print(f"{count:7,}  {room}")
    print(f"{rooms.total():7,}  lines in {len(texts)} files; nearest to their caps:")
    for lines, cap, where in sorted(found, key=lambda one: -one[0] / one[1])[:8]:
        print(f"{lines:7,}  of {cap}: {where}")
    return int(any(lines > cap for lines, cap, _ in found))


if __name__ == "__main__":
    sys.exit(main())
