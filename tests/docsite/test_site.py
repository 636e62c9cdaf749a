"""The site as it is built: whole, without the network, and fit to be read by everybody."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

import foveate
from browsing import NARROW, WIDE, Visit, started
from source_tree import ROOT

FOLDERS = ("api",)
pytestmark = pytest.mark.xdist_group("browser")
ADDRESS = re.compile(
    r"<(?:script|img|iframe|source|use)\b[^>]*\b(?:src|href)=\"(?P<a>[^\"]*)\""
    r"|<link\b(?=[^>]*\brel=\"(?:stylesheet|preload|icon|prefetch)\")[^>]*\bhref=\"(?P<b>[^\"]*)\""
)
FETCHED = re.compile(
    r"@import|url\(\s*['\"]?(?:https?:)?//|\bfetch\(\s*['\"`]https?:|src:\s*['\"]http"
)
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
API = "docs/reference/api"
LOOKED_AT = (
    *("docs/README", "README", "docs/how-it-works", "docs/reference/stages"),
    f"{API}/foveate.testing.stages",  # axe takes ten seconds for the largest of its kind
)


@pytest.fixture(scope="module")
def site() -> Path:
    """The folder of the built site; what `make site` left, where nothing has changed since."""
    done = subprocess.run(
        ["make", "-s", "site"], cwd=ROOT, capture_output=True, check=False, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return ROOT / "build" / "site"


def test_every_page_is_there_and_can_be_reached(site: Path):
    """Each Markdown file has a page, and columns lead to it: any page's, or that of its folder."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    names = {str(page.relative_to(ROOT).with_suffix("")) for page in pages}

    led = {"docs/README"}
    for start in ("docs/README", *(f"docs/reference/{one}" for one in FOLDERS)):
        text = (site / f"{start}.html").read_text(encoding="utf-8").partition("sidebar-tree")[2]
        for address in re.findall(r'href="([^"#]+)\.html"', text.partition("</aside>")[0]):
            led.add(os.path.normpath(Path(start).parent / address))

    assert [name for name in sorted(names) if not (site / f"{name}.html").is_file()] == []
    assert names - led == set()
    assert "docs/README.html" in (site / "index.html").read_text(encoding="utf-8")


def test_the_front_page_leads_to_each_common_task(site: Path):
    """F1: what most people come for is one link away, by the words of the task."""
    page = (site / "docs" / "README.html").read_text(encoding="utf-8")
    rows = re.findall(r"<tr[^>]*>\s*<td><p>(.*?)</p></td>\s*<td>.*?href=\"(.*?)\"", page, re.DOTALL)
    tasks = {
        "install": "install", "first context": "quickstart", "LangChain": "langchain",
        "reranker": "rerankers", "budget for a model": "budget-for-a-model",
        "dropped": "decisions", "customers": "multi-tenant", "keys": "service-safety",
        "beyond one folder": "scale", "measure": "evaluation", "write a stage": "add-a-stage",
        "repeated prompts": "prompt-caching",
    }  # fmt: skip

    for words, target in tasks.items():
        (led,) = [address for said, address in rows if words in said][:1]
        assert led.partition("#")[0] == f"{target}.html", words


def test_every_public_name_is_described(site: Path):
    """F1: each name of the package has its place in the reference, with its signature."""
    page = (site / API / "foveate.html").read_text(encoding="utf-8")
    described = set(re.findall(r'id="foveate\.(\w+)"', page))

    assert {name for name in foveate.__all__ if not name.startswith("_")} - described == set()
    # nor does a signature hold a placeholder of dataclasses
    found = (site / API).glob("*.html")
    assert [one.name for one in found if "&lt;factory&gt;" in one.read_text("utf-8")] == []
    # what the pages name has its page too
    assert (site / API / "foveate.testing.stages.html").is_file()


def test_links_inside_of_the_site_lead_somewhere(site: Path):
    """Every relative address of every page, sources included, is a file of the site."""
    broken = set()
    for page in site.rglob("*.html"):
        for address in re.findall(r'(?:href|src)="([^"]+)"', page.read_text(encoding="utf-8")):
            path = address.partition("#")[0].partition("?")[0]
            if re.match(r"[a-z]+:|//", address) or not path:
                continue
            if not (page.parent / path).exists():
                broken.add(f"{page.relative_to(site)}: {address}")

    assert broken == set()


def test_nothing_is_fetched_from_elsewhere(site: Path):
    """No page, style or program of the site names another host to load something from."""
    found = []
    for path in site.rglob("*"):
        if path.suffix == ".html":
            found += [
                f"{path.relative_to(site)}: {match[0]}"
                for match in ADDRESS.finditer(path.read_text(encoding="utf-8"))
                if re.match(r"(?:https?:)?//", match["a"] or match["b"])
            ]
        elif path.suffix in {".css", ".js"}:
            text = path.read_text(encoding="utf-8")
            found += [f"{path.relative_to(site)}: {match[0]}" for match in FETCHED.finditer(text)]

    assert found == []


@pytest.fixture(scope="module")
def browser():
    """One for all pages."""
    with started() as running:
        yield running


@pytest.mark.parametrize(
    ("theme", "size", "pages"),
    [
        ("light", WIDE, LOOKED_AT),
        ("dark", NARROW, LOOKED_AT),
        ("dark", WIDE, LOOKED_AT[:1]),
        ("light", NARROW, LOOKED_AT[:1]),
    ],
    ids=["light-1280", "dark-390", "dark-1280", "light-390"],
)
def test_pages_read_well(
    site: Path, browser, theme: str, size: tuple[int, int], pages: tuple[str, ...]
):
    """No fault that axe knows, no sideways scrolling, nothing on the console, no other host."""
    with browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=theme
    ) as context:
        for name in pages:
            here = Visit(page=context.new_page(), site="file://")
            here.watch()
            here.page.goto((site / f"{name}.html").as_uri())

            here.check_quiet(())
            wrong = Axe().run(here.page).response["violations"]
            assert [(w["id"], [n["html"][:160] for n in w["nodes"][:3]]) for w in wrong] == [], name
            assert here.page.evaluate(OVERFLOW) == 0, name
            here.page.close()


def test_the_first_program_works_when_pasted(site: Path, browser, tmp_path: Path):
    """F1: a page's button copies a program that prints what it says; of a console the commands."""
    with browser.new_context(permissions=["clipboard-read", "clipboard-write"]) as context:
        page = context.new_page()

        def copied(name: str, kind: str, number: int = 0) -> list[str]:
            page.goto((site / f"{name}.html").as_uri())
            box = page.locator(f".highlight-{kind}").nth(number)
            box.hover()
            box.locator(".copybtn").click()
            box.locator(".copybtn.success").wait_for()
            return page.evaluate("() => navigator.clipboard.readText()").splitlines()

        program = copied("README", "python", 1)  # the first needs a folder of documents
        commands = copied("docs/how-it-works", "console")

    done = subprocess.run(
        [sys.executable, "-"],
        input="\n".join(program),
        cwd=tmp_path,
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    shown = [line.removeprefix("# >").removeprefix(" ") for line in program if line[:3] == "# >"]
    assert (done.stderr, done.stdout.splitlines()) == ("", shown)
    assert commands
    assert {line.partition(" ")[0] for line in commands if line} <= {"foveate", ""}


def test_a_word_is_found(site: Path, browser):
    """The search works without a server: a stage is found by its name."""
    page = browser.new_page()
    page.goto((site / "search.html").as_uri() + "?q=supplement_gate")
    page.locator("#search-results a", has_text="supplement_gate").first.click()

    assert page.url.endswith("docs/reference/stages.html#supplement-gate")
    assert page.locator("#supplement-gate h2").inner_text().startswith("supplement_gate")
    page.close()
