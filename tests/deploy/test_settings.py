"""Every setting that a deployment names is one of the service, with a value that it takes."""

from __future__ import annotations

import re
import tomllib

import pytest

from deploy_files import COMPOSE, DEPLOY, image_environment, kind, settings_in
from foveate.core.errors import BadOption, UnknownName
from foveate.service.settings import PREFIX, Settings, load_settings

PLACES = {
    "image": image_environment(),
    "compose": {**image_environment(), **COMPOSE["services"]["foveate"]["environment"]},
    "kubernetes": {**image_environment(), **kind("ConfigMap")["data"]},
}
SECRETS = """\
store = "postgresql://foveate:secret@postgres:5432/foveate"
cache = "redis://:secret@redis:6379/0"
"""


@pytest.mark.parametrize("place", PLACES)
def test_the_service_takes_them(place, monkeypatch, tmp_path):
    """F3: the environment over a file of secrets, as the container has it."""
    told = settings_in(PLACES[place])
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    file = tmp_path / "settings.toml"
    file.write_text(SECRETS)

    found = load_settings(file)

    assert found.store.startswith("postgresql://foveate:")
    assert (found.host, found.port) == ("0.0.0.0", 8020)
    assert {name.removeprefix(PREFIX).lower() for name in told} <= set(Settings.model_fields)


@pytest.mark.parametrize("place", PLACES)
def test_no_variable_stands_over_a_secret(place):
    """X4: what the file of secrets says is not said by a variable too, which would win."""
    secret = {f"{PREFIX}{name}".upper() for name in tomllib.loads(SECRETS)}

    assert secret & set(PLACES[place]) == set()


def test_a_variable_that_is_no_setting_is_refused(monkeypatch):
    """F3: so that a slip in a manifest does not go unnoticed."""
    monkeypatch.setenv(f"{PREFIX}PROT", "8020")
    with pytest.raises(UnknownName, match="did you mean 'port'"):
        load_settings()
    monkeypatch.delenv(f"{PREFIX}PROT")
    monkeypatch.setenv(f"{PREFIX}PORT", "tcp://10.0.0.1:80")
    with pytest.raises(BadOption, match="port"):
        load_settings()


def test_the_page_shows_the_same_file():
    """F3: docs/deploy.md names the settings that stand in the file of secrets."""
    page = (DEPLOY.parent / "docs" / "deploy.md").read_text(encoding="utf-8")

    for name in tomllib.loads(SECRETS):
        assert f"{name} = " in page
    named = {name.lower() for name in re.findall(rf"{PREFIX}(\w+)", page)}
    assert named <= set(Settings.model_fields)
