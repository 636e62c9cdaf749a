"""The commands of docs/service.md, run in their order against a service."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import model_servers
from foveate.service.settings import Settings, load_settings
from service_server import serving
from source_tree import ROOT

PAGE = ROOT / "docs" / "service.md"
HOST = "http://127.0.0.1:8020"
REFUSED = {'"budget": 3}\'': 422, "b38884b72dcabceb\"}'": 400}
"""Commands that show a refusal, by how they end."""


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> Iterator[httpx.Client]:
    """A client of a service whose store is empty, with one model."""
    folder = tmp_path_factory.mktemp("page")
    with model_servers.serving("ollama", pieces=("Between one ", "and two bar [1].")) as model:
        settings = Settings(
            store=str(folder / "store"), embedder="hashing", models={"small": model.name}
        )
        with serving(settings) as client:
            yield client


def blocks(language: str) -> list[str]:
    """The page's blocks in a language."""
    fence = re.compile(rf"^```{language}\n(.*?)^```", re.MULTILINE | re.DOTALL)
    return fence.findall(PAGE.read_text("utf-8"))


def commands() -> list[str]:
    """Each curl command, on one line."""
    lines = "".join(blocks("sh")).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith("curl ")]


def curl(client: httpx.Client, command: str, folder: Path) -> httpx.Response:
    """What curl would do, for the few of its flags that the page uses."""
    filled = re.sub(
        r"\$\(jq \.(\w+) (\S+)\)",
        lambda m: (
            json.dumps(json.loads((folder / m[2]).read_text("utf-8"))[m[1]])
            .replace("\\", "\\\\")
            .replace('"', '\\"')
        ),
        command,
    )
    words = iter(shlex.split(filled)[1:])
    method, address, body, kept = "GET", "", None, None
    for word in words:
        if word == "-X":
            method = next(words)
        elif word == "--json":
            body = json.loads(next(words))
            method = "POST" if method == "GET" else method
        elif word == ">":
            kept = folder / next(words)
        elif word != "-N":
            assert word.startswith(HOST), word
            address = word.removeprefix(HOST)
    sent: dict[str, Any] = {} if body is None else {"json": body}
    answer = client.request(method, address, **sent)
    if kept is not None:
        kept.write_text(answer.text, encoding="utf-8")
    return answer


def test_every_command_does_what_the_page_says(fresh, tmp_path):
    """F3: each is answered, with the status that the page shows; what it shows is what comes."""
    answers = {}
    for command in commands():
        answer = curl(fresh, command, tmp_path)
        refused = (status for end, status in REFUSED.items() if end in command)
        status = next(refused, 204 if "DELETE" in command else 200)
        assert answer.status_code == status, (command, answer.text)
        answers[command] = answer

    assert len(answers) > 15
    (replayed,) = (a.json() for c, a in answers.items() if "/v1/replay" in c)
    shown = [json.loads(b) for b in blocks("json") if '"identical"' in b]
    assert shown == [replayed]
    (refused,) = (a.json() for a in answers.values() if a.status_code == 422)
    (example,) = (json.loads(b) for b in blocks("json") if "too-small" in b)
    assert {**example, "instance": ""} == {**refused, "instance": ""}
    (streamed,) = (a.text for c, a in answers.items() if "curl -N" in c)
    names = re.findall(r"^event: (\w+)$", "".join(blocks("text")), re.MULTILINE)
    assert list(dict.fromkeys(re.findall(r"^event: (\w+)$", streamed, re.MULTILINE))) == names


def test_every_endpoint_is_on_the_page(fresh):
    """F3: no address of the API is left out."""
    page = "".join(commands())
    for path in fresh.get("/openapi.json").json()["paths"]:
        assert path.partition("{")[0] in page, path


def test_the_settings_shown_are_settings(tmp_path):
    """F3: the files of the page are read as they stand."""
    shown = [block for block in blocks("toml") if "[models]" in block]
    for block in shown:
        path = tmp_path / "serve.toml"
        path.write_text(block, encoding="utf-8")
        assert load_settings(path).models["small"].startswith("ollama:")

    assert len(shown) == 2
