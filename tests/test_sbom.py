"""The bill of materials: what the lock pins, what is known of it, and the schema holds it."""

from __future__ import annotations

import json

import pytest
from tools.sbom import completed, faults, listed

from foveate._version import __version__
from test_packaging import PROJECT, _locked


@pytest.fixture(scope="module")
def bill():
    """The bill of the small install."""
    return completed(listed("base"))


def test_every_pin_of_the_lock_is_a_component_with_its_hashes(bill):
    """F1: names and versions are the lock's, and each has what its files must hash to."""
    found: dict[str, set[str]] = {}
    for part in bill["components"]:
        found.setdefault(part["name"], set()).add(part["version"])
        hashes = [one for place in part["externalReferences"] for one in place["hashes"]]
        assert all(one["alg"] == "SHA-256" for one in hashes)
        assert hashes

    assert found == _locked("base")


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
