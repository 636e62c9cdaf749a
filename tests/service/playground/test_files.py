"""The page's files as the service hands them out, and what must not stand in them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from foveate.core.stages.order import LOST_IN_THE_MIDDLE
from foveate.pipeline.reason_messages import REASON_SENTENCES
from foveate.service.playground.routes import POLICY, load_files
from service_server import problem
from source_tree import PACKAGE, short

PAGE = PACKAGE / "service" / "playground" / "page"
FILES = sorted(path for path in PAGE.rglob("*") if path.is_file())
SCRIPTS = [path for path in FILES if path.suffix == ".js"]
LINK = re.compile(r'(?:src|href)="([^"#][^"]*)"|from "(\./[^"]+)"|url\("([^"]+)"\)')
AS_HTML = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|"
    r"DOMParser|srcdoc|\beval\(|new Function"
)
MOST_LINES = 300


def test_the_page_is_found_where_one_looks_for_it(service):
    """F5: / and /playground lead to the page, which asks nothing of any other origin."""
    front = service.get("/")
    away = service.get("/playground")
    answer = service.get("/playground/")

    assert (front.status_code, front.headers["location"]) == (307, "/playground/")
    assert (away.status_code, away.headers["location"]) == (308, "/playground/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert "<h1" in answer.text


def test_every_link_of_the_page_leads_to_a_file(service):
    """F5: all that the page, its modules and its sheets name is there, of the right type."""
    seen, waiting, types = set(), ["/playground/"], {}
    while waiting:
        address = waiting.pop()
        if address in seen:
            continue
        seen.add(address)
        answer = service.get(address)
        assert answer.status_code == 200, address
        types[address] = answer.headers["content-type"]
        if "text" in types[address]:
            found = [next(filter(None, m.groups())) for m in LINK.finditer(answer.text)]
            waiting += [str(answer.url.join(link).path) for link in found]

    named = {address.rpartition("/")[2] for address in seen}
    assert {path.name for path in FILES} - named == {"index.html"}
    assert {types[a] for a in seen if a.endswith(".js")} == {"text/javascript; charset=utf-8"}


def test_parts_are_kept_for_good_and_the_page_is_asked_for_again(service):
    """F5: the parts' addresses change with their content, so no browser mixes two versions."""
    whole = service.get("/playground/")
    part = next(name for name in load_files() if name.endswith("js/main.js"))
    kept = service.get(f"/playground/{part}")
    again = service.get("/playground/", headers={"If-None-Match": whole.headers["etag"]})

    assert whole.headers["cache-control"] == "no-cache"
    assert kept.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert f'src="{part}"' in whole.text
    assert (again.status_code, again.content) == (304, b"")


def test_the_chart_library_is_that_of_the_installed_package(service):
    """F5: charts need no network, and travel packed."""
    name = next(name for name in load_files() if name.endswith("plotly.min.js"))
    answer = service.get(f"/playground/{name}")
    plain = service.get(f"/playground/{name}", headers={"Accept-Encoding": "identity"})

    assert answer.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert answer.content == plain.content
    assert b"plotly.js v" in answer.content[:200]


@pytest.mark.parametrize(
    "name",
    [
        "nothing.js",
        "../files.py",
        "%2e%2e/files.py",
        "..%2f..%2fapp.py",
        "js/",
        "index.html",
        "%00",
    ],
)
def test_what_is_not_of_the_page_is_not_there(service, name):
    """X4: no path of a request is opened: names are looked up in a closed list."""
    answer = service.get(f"/playground/{name}")

    assert problem(answer)["status"] == 404


def test_the_page_knows_what_the_command_line_says(service):
    """D7: the same reason codes and sentences on the page as on the command line."""
    name = next(name for name in load_files() if name.endswith("known.json"))
    known = json.loads(service.get(f"/playground/{name}").content)

    assert known["sentences"] == dict(REASON_SENTENCES)
    assert tuple(known["curve"]) == LOST_IN_THE_MIDDLE


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_text_is_read_as_html(path: Path):
    """F5, X4: texts of documents go into the page as text nodes, whatever stands in them."""
    found = AS_HTML.search(path.read_text(encoding="utf-8"))

    assert found is None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_name_no_other_origin_and_are_short(path: Path):
    """F5: nothing is loaded from elsewhere; no script and no style stands in the page itself."""
    text = path.read_text(encoding="utf-8").replace('"http://www.w3.org/2000/svg"', "")

    assert re.findall(r"https?:|//\w+\.", text) == []
    assert re.findall(r"<script(?![^>]* src=)|<style| style=| on\w+=\"", text) == []
    assert len(text.splitlines()) <= MOST_LINES, short(path)
