"""The repository's pages as the site's: each Markdown file, and what else they name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from tools.docsite.links import FENCE, led
from tools.docsite.order import FOLDERS, folder_of, placed
from tools.docsite.sources import source_place

OUTER = {
    "README.md": "index",
    "DESIGN.md": "design",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
    "docs/README.md": "pages",
}
"""Pages that have another name on the site than in the repository."""
PICTURES = {".png", ".svg"}
SHOWN = re.compile(r"^# ?> ?(.*)$")


class Pages:
    """What the site is made of: `texts` by site name (no suffix), `pictures` by site path.

    `sources`: the files and folders that they name and that have no page of the documentation.
    """

    def __init__(self, root: Path) -> None:
        """Read the Markdown files of `root`."""
        self.root = root
        self.texts: dict[str, str] = {}
        self.pictures: dict[str, Path] = {}
        self.sources: set[str] = set()
        written = [*sorted((root / "docs").rglob("*.md")), *(root / n for n in OUTER)]
        for path in dict.fromkeys(written):
            page = path.relative_to(root).as_posix()
            self.add(site_name(page), path.read_text(encoding="utf-8"), page)

    def add(self, name: str, text: str, page: str) -> None:
        """A page, its links led; `page`: the file in the repository that its links start from."""
        self.texts[name] = with_output_apart(led(text, page, f"{name}.md", self.place))

    def place(self, path: str) -> str | None:
        """Where a file or a folder of the repository stands on the site."""
        full = self.root / path
        if not full.exists():
            return None
        if full.suffix == ".md" and (path in OUTER or path.startswith("docs/")):
            return f"{site_name(path)}.md"
        if full.suffix in PICTURES and path.startswith("docs/"):
            self.pictures[path.removeprefix("docs/")] = full
            return path.removeprefix("docs/")
        self.sources.add(path)
        return source_place(path)

    def write(self, folder: Path) -> None:
        """Everything as files, the start page with the order of the others."""
        texts = dict(self.texts)
        texts["index"] += "\n" + "\n".join(self._trees())
        for head in FOLDERS:
            below = sorted(name for name in texts if folder_of(name) == head)
            if below:
                lines = [f"{PurePosixPath(head).name}/{PurePosixPath(n).name}" for n in below]
                texts[head] += "\n" + _tree("", lines)
        for name, text in texts.items():
            path = folder / f"{name}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for name, picture in self.pictures.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(picture.read_bytes())

    def _trees(self) -> Iterator[str]:
        for section, names in placed(self.texts):
            yield _tree(section, names)


def site_name(page: str) -> str:
    """A page's name on the site."""
    return OUTER.get(page, page.removeprefix("docs/").removesuffix(".md"))


def _tree(caption: str, names: list[str]) -> str:
    """The pages in an order, for the column beside the text."""
    said = f":caption: {caption}\n" if caption else ""
    return "```{toctree}\n:hidden:\n:titlesonly:\n" + said + "\n" + "\n".join(names) + "\n```\n"


def with_output_apart(text: str) -> str:
    """Python blocks that end with lines `# > …`: what they print in a block of its own."""

    def one(found: re.Match[str]) -> str:
        head, *lines, last = found[0].rstrip("\n").split("\n")
        if head != "```python":
            return found[0]
        count = 0
        while count < len(lines) and SHOWN.match(lines[-1 - count]):
            count += 1
        if not count or any(SHOWN.match(line) for line in lines[:-count]):
            return found[0]
        printed = [SHOWN.sub(r"\1", line) for line in lines[-count:]]
        ticks = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", "\n".join(printed))), 3)
        return "\n".join(
            (head, *lines[:-count], last, "", f"{ticks}{{code-block}} text", ":class: output", "",
             *printed, ticks, "")
        )  # fmt: skip

    return FENCE.sub(one, text)
