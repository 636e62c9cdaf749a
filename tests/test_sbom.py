"""The bill of materials: what the lock pins, what is known of it, and the schema holds it."""

from __future__ import annotations

import json

import pytest
from tools.sbom import GROUPS, IMAGE, LOCKS, ROOT, ROOT_REF, completed, faults, gaps, listed

from foveate._version import __version__
from project import PROJECT, pinned_versions


@pytest.fixture(scope="module")
def bill():
    """The bill of the small install."""
    return completed(listed("base"), LOCKS["base"].asked)


@pytest.fixture(scope="module")
def image():
    """The bill of the container image."""
    return completed(listed("image"), LOCKS["image"].asked)


def needs(bill, name):
    """The names that one depends on; `foveate` is what the bill is about."""
    names = {part["bom-ref"]: part["name"] for part in bill["components"]}
    names[ROOT_REF] = "foveate"
    return {
        names[ref]
        for one in bill["dependencies"]
        if names[one["ref"]] == name
        for ref in one["dependsOn"]
    }


def test_every_pin_of_the_lock_is_a_component_with_its_hashes(bill):
    """F1: names and versions are the lock's, and each has what its files must hash to."""
    found: dict[str, set[str]] = {}
    for part in bill["components"]:
        found.setdefault(part["name"], set()).add(part["version"])
        hashes = [one for place in part["externalReferences"] for one in place["hashes"]]
        assert all(one["alg"] == "SHA-256" for one in hashes)
        assert hashes

    assert found == pinned_versions("base")


def test_it_says_what_it_is_about_and_what_depends_on_what(bill):
    """F1: our version, a licence for what is installed, and the direct dependencies at the root."""
    names = {part["bom-ref"]: part["name"] for part in bill["components"]}
    graph = {one["ref"]: {names[ref] for ref in one["dependsOn"]} for one in bill["dependencies"]}
    licences = {part["name"] for part in bill["components"] if "licenses" in part}

    assert bill["metadata"]["component"]["version"] == __version__
    assert len(graph["root-component"]) == len(PROJECT["dependencies"])
    assert "rich" in graph[next(ref for ref, name in names.items() if name == "typer")]
    assert {"numpy", "typer", "blake3"} <= licences


def test_the_schema_holds_it(bill):
    """Valid as CycloneDX 1.6; and what is not valid is told."""
    assert faults(json.dumps(bill)) == ""
    assert "components" in faults(json.dumps({**bill, "components": "none"}))


def test_what_an_extra_brings_hangs_on_what_asks_for_it(image):
    """F1: extras of ours and of others are part of the graph, on this machine and on others."""
    assert {"wordllama", "uvicorn", "psycopg", "redis"} <= needs(image, "foveate")
    assert "psycopg-binary" in needs(image, "psycopg")
    assert "colorama" in needs(image, "click") | needs(image, "typer") | needs(image, "uvicorn")
    assert list(gaps(image, ROOT / "requirements" / "image.lock")) == []


def test_a_bill_with_a_gap_is_told(image, tmp_path):
    """A pin that is left out, and a component without a way to it or a licence, are named."""
    lock = tmp_path / "image.lock"
    text = (ROOT / "requirements" / "image.lock").read_text(encoding="utf-8")
    lock.write_text(f"harbour-tide==1.0\n{text}", encoding="utf-8")
    alone = [one for one in image["dependencies"] if one["ref"] != ROOT_REF]

    assert list(gaps(image, lock)) == [
        "harbour-tide 1.0 is pinned, and not in the bill",
        "harbour-tide is not installed here, so nobody knows what it needs",
    ]
    parts = [{k: v for k, v in one.items() if k != "licenses"} for one in image["components"]]
    whole = ROOT / "requirements" / "image.lock"

    found = [
        *gaps({**image, "dependencies": alone}, whole),
        *gaps({**image, "components": parts}, whole),
    ]
    assert {"nothing leads to wordllama", "nobody knows the licence of pywin32"} <= set(found)


def test_the_bills_are_of_what_the_locks_are_made_of():
    """F1: the extras and groups of each bill are those that `make lock` resolves it from."""
    commands = (ROOT / "Makefile").read_text(encoding="utf-8")

    assert f"IMAGE := {' '.join(IMAGE)}\n" in commands
    assert "--extra local --group build -o $(LOCKS)/local.lock" in commands
    assert set(LOCKS["local"].asked) > set(GROUPS["build"])
