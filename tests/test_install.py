"""Filling an environment from a lock: what pip is told, uv is told too."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

import pytest
from tools.install import NoCounterpartError, by_uv, contradicted, settings, translated

NAME = "harbour_tide"
INDEX = "index" + "-url"  # in pieces: no tracked file sets one
LISTED = f"""\
global.{INDEX}='https://a.example/simple'
global.extra-{INDEX}='https://b.example/simple https://c.example/simple'
install.{INDEX}='https://d.example/simple'
list.format='columns'
:env:.find-links='/one /two'
:env:.default-timeout='180'
:env:.progress-bar='off'
"""


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


def test_what_pip_is_told_is_told_to_uv():
    """The section of the command and then the environment decide, as with pip."""
    assert translated(settings(LISTED)) == {
        "UV_DEFAULT_INDEX": "https://d.example/simple",
        "UV_INDEX": "https://b.example/simple https://c.example/simple",
        "UV_FIND_LINKS": "/one,/two",
        "UV_HTTP_TIMEOUT": "180",
    }


@pytest.mark.parametrize(
    "told", [{"target": "elsewhere"}, {"cert": "~/own.pem"}, {"find-links": "/a,b"}]
)
def test_what_cannot_be_told_to_uv_is_left_to_pip(told):
    """A setting without a known counterpart is no reason to guess."""
    with pytest.raises(NoCounterpartError, match=f"pip's setting '{next(iter(told))}'"):
        translated(told)


def test_a_constraint_is_held_against_the_lock():
    """The lock pins everything: a constraint can only agree, be about others, or contradict."""
    pins = "numpy==2.4.0 \\\n    --hash=sha256:12\n"

    assert contradicted(pins, ["numpy<3  # for us", "torch<=2", ""]) == ""
    assert contradicted(pins, ["torch<=2", "NumPy<2"]) == "NumPy<2"


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


def test_a_contradiction_and_a_wish_leave_it_to_pip(index, tmp_path, monkeypatch):
    """Where a constraint contradicts the lock, or somebody says so, uv is not asked."""
    locked = lock(tmp_path, wheel(index))
    (tmp_path / "caps.txt").write_text(f"{NAME}<1\n", encoding="utf-8")

    monkeypatch.setenv("PIP_CONSTRAINT", str(tmp_path / "caps.txt"))
    assert by_uv(locked, ["--target", str(tmp_path / "there")]) == (
        f"a constraint of pip's settings contradicts the lock: {NAME}<1"
    )
    monkeypatch.setenv("FOVEATE_INSTALLER", "pip")
    assert by_uv(locked, ["--target", str(tmp_path / "there")]) == "FOVEATE_INSTALLER says so"
