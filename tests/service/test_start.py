"""How a service may start: on this machine alone, or with keys."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from foveate.core.errors import BadOption
from foveate.service.app import create_app
from foveate.service.settings import Settings
from service_keys import put, take
from service_server import problem, serving

OTHERS = "0.0.0.0"
PROXY_HEADERS = (
    *("X-Forwarded-For", "Forwarded", "X-Real-IP", "X-Forwarded-Host", "X-Forwarded-Proto", "Via"),
    *("X-Client-IP", "True-Client-IP", "CF-Connecting-IP"),
)


@pytest.mark.parametrize("host", [OTHERS, "::", "192.0.2.1", "foveate.example"])
def test_others_are_served_with_keys_only(tmp_path, host):
    """X4: an address that others reach needs a key that counts; the refusal says what to do."""
    keys = tmp_path / "keys"
    settings = Settings(store="", host=host, keys=keys)
    said = []
    for prepare in (lambda: None, lambda: keys.touch(0o600), lambda: take(keys, put(keys))):
        prepare()
        with pytest.raises(BadOption, match="foveate keys add") as refused:
            create_app(settings)
        said.append(str(refused.value))
    put(keys)

    assert create_app(settings).state.key_ring.in_use
    assert said[0].startswith("keys is")
    assert said[2].startswith(f"host is {host}")


def test_without_keys_whoever_is_behind_a_proxy_is_refused():
    """X4: who passes requests of others on has to make keys, as those others are not here."""
    with serving(Settings(store="")) as client:
        plain = client.get("/v1/nowhere")
        passed = [
            client.get("/v1/nowhere", headers={name: "198.51.100.7"}) for name in PROXY_HEADERS
        ]

    assert plain.status_code == 404
    assert {answer.status_code for answer in passed} == {403}
    assert "foveate keys add" in problem(passed[0])["detail"]


def test_the_layers_stand_as_they_are_described():
    """X4: the order that `guard.py` explains is the order that is installed."""
    from foveate.service import guard

    settings = Settings(store="", origins=("https://a.example",))
    app = create_app(settings)
    listed = [line.split(" ", 2)[1] for line in guard.__doc__.splitlines() if line[:1].isdigit()]
    known = {"CORSMiddleware": "CORS"}
    installed = [known.get(one.cls.__name__, one.cls.__name__) for one in app.user_middleware]
    described = [name.strip("`") for name in listed]

    assert [name for name in installed if name in described] == described
    assert installed.index("RequestIds") < installed.index("SecurityHeaders")


def test_ready_means_warm(filled_store, caplog):
    """F3: before the first request the store is open, its embedder and the tokenizer loaded."""
    settings = Settings(store=str(filled_store), embedder="hashing")
    app = create_app(settings)
    with TestClient(app):
        state = app.state.app_state
        assert len(state.stores) == 1
        assert "foveate.pipeline.context_codec" in sys.modules
        assert "not warm" not in caplog.text


def test_the_first_request_loads_no_code(tmp_path):
    """F3: a service with an empty store has all code for fifty candidates when it is ready."""
    program = """
import sys
from foveate.service.settings import Settings
from service_server import serving
texts = [f"{'The mill stands at the river. ' * n} The wheel of page {n} turns." for n in range(50)]
body = {"query": "Where is the mill?", "candidates": [{"text": text} for text in texts]}
with serving(Settings(store=sys.argv[1], create=True, embedder="hashing")) as client:
    before = set(sys.modules)
    assert client.post("/v1/assemble", json=body).status_code == 200
    print(sorted(name for name in set(sys.modules) - before if name.startswith("foveate")))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "store"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "support")},
    )

    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr
