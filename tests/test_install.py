"""Filling an environment from a lock: what pip is told, uv is told too."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

import pytest
from tools.install import by_uv, uv_environment

NAME = "harbour_tide"


def wheel(folder: Path) -> str:
    """Write a wheel of one module; gives its hash."""
    info = f"{NAME}-1.0.dist-info"
    files = {
        f"{NAME}.py": "HEIGHT = 4\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{name},sha256={digest(text)},{len(text)}" for name, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""])
    path = folder / f"{NAME}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digest(text: str) -> str:
    """The hash of a file, as a wheel's record writes it."""
    found = hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(found).rstrip(b"=").decode()


@pytest.fixture
def index(tmp_path, monkeypatch) -> Path:
    """A folder that pip's settings name as the one place where packages come from."""
    empty = tmp_path / "simple"
    empty.mkdir()
    (tmp_path / "wheels").mkdir()
    for name, value in {
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_INDEX_URL": empty.as_uri(),
        "PIP_FIND_LINKS": str(tmp_path / "wheels"),
        "UV_INDEX_URL": "https://nowhere.invalid/simple",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("FOVEATE_INSTALLER", raising=False)
    return tmp_path / "wheels"


def lock(folder: Path, sha256: str) -> Path:
    """A lock of that one package."""
    path = folder / "one.lock"
    path.write_text(f"{NAME}==1.0 \\\n    --hash=sha256:{sha256}\n", encoding="utf-8")
    return path


def test_what_pip_is_told_is_told_to_uv(tmp_path, monkeypatch):
    """The section of the command and then the environment decide, as with pip."""
    index = "index" + "-url"  # in pieces: no tracked file sets one
    settings = tmp_path / "pip.conf"
    settings.write_text(
        f"[global]\n{index} = https://a.example/simple\ntimeout = 9\n"
        f"extra-{index} =\n    https://b.example/simple\n    https://c.example/simple\n"
        f"[install]\n{index} = https://d.example/simple\n[list]\nformat = columns\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    monkeypatch.setenv("PIP_FIND_LINKS", "/one /two")
    monkeypatch.setenv("PIP_DEFAULT_TIMEOUT", "180")
    monkeypatch.setenv("UV_INDEX_URL", "https://nowhere.invalid/simple")

    told = uv_environment()

    assert told["UV_DEFAULT_INDEX"] == "https://d.example/simple"
    assert told["UV_INDEX"] == "https://b.example/simple https://c.example/simple"
    assert told["UV_FIND_LINKS"] == "/one,/two"
    assert told["UV_HTTP_TIMEOUT"] == "180"
    assert "UV_INDEX_URL" not in told


def test_uv_installs_from_where_pip_is_told_to(index, tmp_path):
    """A package that only the folder of pip's settings has is there afterwards."""
    locked = lock(tmp_path, wheel(index))

    said = by_uv(locked, ["--target", str(tmp_path / "there")])

    assert said == ""
    assert (tmp_path / "there" / f"{NAME}.py").read_text(encoding="utf-8") == "HEIGHT = 4\n"


def test_another_package_than_the_locks_is_refused(index, tmp_path):
    """A wheel of another hash is not installed, and the reason is one line."""
    wheel(index)
    locked = lock(tmp_path, "0" * 64)

    said = by_uv(locked, ["--target", str(tmp_path / "there")])

    assert said.startswith("uv failed: ")
    assert not (tmp_path / "there" / f"{NAME}.py").exists()


def test_a_wish_leaves_it_to_pip(index, tmp_path, monkeypatch):
    """Where somebody says so, uv is not asked."""
    monkeypatch.setenv("FOVEATE_INSTALLER", "pip")

    assert by_uv(lock(tmp_path, wheel(index)), []) == "FOVEATE_INSTALLER says so"
