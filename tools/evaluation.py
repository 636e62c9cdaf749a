"""Puts an evaluation's tables and chart into docs/evaluation.md, between its marks.

    foveate eval --dataset F... --out build/eval
    python tools/evaluation.py build/eval "foveate eval --dataset F... --out build/eval"

The second word is the command that is shown beside the figures.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "evaluation.md"
CHART = Path("figures") / "evidence-recall.png"
BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"


def body(report: str, command: str) -> str:
    """The report as a part of the page: headings one level down, the chart where docs keep it."""
    _, _, rest = report.partition("\n\n")
    rest = re.sub(r"^##", "###", rest, flags=re.MULTILINE)
    rest = rest.replace("(recall.png)", f"({CHART.as_posix()})").strip()
    return f"Made by `{command}`.\n\n{rest}"


def placed(page: str, text: str) -> str:
    """The page with the text between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Rewrite the page; 2 where the words are not a folder and a command."""
    if len(arguments) != 2 or not (Path(arguments[0]) / "report.md").is_file():
        print("give the folder of an evaluation and the command that made it", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    if (folder / "recall.png").is_file():
        (DOCS / CHART).parent.mkdir(exist_ok=True)
        shutil.copyfile(folder / "recall.png", DOCS / CHART)
    report = (folder / "report.md").read_text(encoding="utf-8")
    page = placed(PAGE.read_text(encoding="utf-8"), body(report, arguments[1]))
    PAGE.write_text(page, encoding="utf-8", newline="\n")
    print(f"wrote {PAGE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
