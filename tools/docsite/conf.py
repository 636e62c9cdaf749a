"""The site of the documentation, by Sphinx: the repository's pages as they are, and the docstrings.

make site        writes build/site; a warning is an error
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

import foveate
from foveate.core.errors import MissingExtra

ROOT = Path(__file__).resolve().parent.parent.parent
FRONT = "docs/README"
API = ROOT / "docs" / "reference" / "api"
REFERENCE = [f"reference/{name}.md" for name in ("stages", "formats", "recipes", "commands")]
REFERENCE += ["reference/api.rst"]
"""Written when the site is built, and in the column of the section that says so."""
CODE = re.compile(r"(`[^`]+`)")

project = "foveate"
language = "en"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
root_doc = FRONT
include_patterns = ["*.md", "docs/**"]
exclude_patterns = [".*", "build"]

myst_heading_anchors = 6
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
autodoc_member_order = "bysource"
default_role = "code"
copybutton_prompt_text = "$ "
copybutton_selector = "div.highlight pre"

html_theme = "furo"
html_title = f"foveate {foveate.__version__}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
highlight_language = "text"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
python_maximum_signature_line_length = 88
toc_object_entries = False
# where two things have one name, a type's name leads to neither; it does not stop the build
suppress_warnings = ["ref.python"]


def setup(app: Any) -> None:
    """Sphinx's own place for what its settings cannot say."""
    app.connect("builder-inited", write_api)
    app.connect("source-read", add_trees)
    app.connect("autodoc-process-docstring", escape)
    app.connect("autodoc-process-signature", shorten)
    app.connect("autodoc-skip-member", skip)
    app.connect("build-finished", write_index)


def modules() -> set[str]:
    """The packages with an `__all__`, the law suites, and what the pages name or import."""
    source = ROOT / "src"
    texts = {path: path.read_text("utf-8") for path in (source / "foveate").rglob("__init__.py")}
    files = [path.parent for path, text in texts.items() if "\n__all__ = " in text]
    files += (source / "foveate" / "testing").glob("[a-z]*.py")
    found = {".".join(path.relative_to(source).with_suffix("").parts) for path in files}
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for name, more in re.findall(
            r"\b(foveate(?:\.\w+)+)(?: import (\w+))?", page.read_text("utf-8")
        ):
            names = (name, name.rpartition(".")[0], f"{name}.{more}")
            found |= {one for one in names if (source / f"{one.replace('.', '/')}.py").is_file()}
    return found


def described(name: str) -> str:
    """The page of a module; empty where it cannot be read here, as a face without its framework.

    Read before the generator does, which would read it with other flags.
    """
    try:
        module = import_module(name)
    except (ModuleNotFoundError, MissingExtra):
        return ""
    # an alias of a type with parameters is passed over among the members
    more = "\n.. autodata:: foveate.Stage\n" if module is foveate else ""
    return f".. automodule:: {name}\n   :members:\n   :undoc-members:\n{more}"


def write_api(app: Any) -> None:
    """A page a module, written where it is new: Sphinx reads again what has changed."""
    sys.path[:0] = [str(ROOT)]
    import_module("tools.docsite.reference").write_reference()
    API.mkdir(parents=True, exist_ok=True)
    pages = {API / f"{name}.rst": text for name in modules() if (text := described(name))}
    pages[API.with_suffix(".rst")] = ".. toctree::\n   :glob:\n\n   api/*\n"
    for path in {*API.glob("*.rst")} - pages.keys():
        path.unlink()
    for path, text in pages.items():
        title = "The Python interface" if path.stem == "api" else path.stem
        whole = f"{title}\n{'=' * len(title)}\n\n{text}"
        if not path.is_file() or path.read_text("utf-8") != whole:
            path.write_text(whole, "utf-8")


def add_trees(app: Any, page: str, content: list[str]) -> None:
    """The column beside the text: what the front page lists, section by section."""
    folder = ROOT / page
    if page == FRONT:
        used = {"docs/README.md"}
        for part in content[0].split("\n## ")[1:]:
            caption = part.partition("\n")[0]
            targets = re.findall(r"\]\(([\w./-]+\.md)\)", part)
            targets += REFERENCE if "make site" in part else []
            fresh = [one for one in dict.fromkeys(targets) if one not in used]
            used |= {*fresh}
            content[0] += tree(fresh, f":caption: {caption}")
        content[0] += tree(["../CONTRIBUTING.md", "../CHANGELOG.md"], ":caption: More")
    elif folder.is_dir() and folder.with_suffix(".md").is_file():
        content[0] += tree([f"{folder.name}/*"], ":glob:")


def tree(names: list[str], option: str) -> str:
    """A toctree that is not shown in the text."""
    return "\n".join(("\n\n```{toctree}", ":hidden:", ":titlesonly:", option, "", *names, "```\n"))


def escape(app: Any, *given: Any) -> None:
    """Docstrings are Markdown with code spans and examples: nothing else of them is a mark."""
    lines = given[-1]
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = CODE.split(line)
            parts[::2] = [re.sub(r"([*|\\]|_\b)", r"\\\1", part) for part in parts[::2]]
            lines[number] = "".join(parts)


def shorten(app: Any, *given: Any) -> tuple[str | None, str]:
    """A default that is made for each value has no name to be shown."""
    signature, returns = given[-2:]
    return signature and signature.replace("<factory>", "..."), returns


def skip(app: Any, what: str, name: str, thing: Any, *_: Any) -> bool | None:
    """What `foveate` itself has is described there, and where it is written."""
    page = app.env.docname.rpartition("/")[2]
    shared = what == "module" and getattr(foveate, name, None) is thing
    elsewhere = page not in {"foveate", getattr(thing, "__module__", "")}
    return True if shared and elsewhere else None


def write_index(app: Any, error: Exception | None) -> None:
    """Who opens the folder comes to the front page."""
    target = f'<meta http-equiv="refresh" content="0; url={PurePosixPath(FRONT)}.html">'
    Path(app.outdir, "index.html").write_text(
        f'<!doctype html><html lang="en"><title>foveate</title>{target}', "utf-8"
    )
