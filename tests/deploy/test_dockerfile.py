"""The Dockerfile: read by a linter and by us; the steps that need no container are run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile

from packaging.specifiers import SpecifierSet

from deploy_files import DEPLOY, dockerfile, image_environment
from foveate import __version__
from foveate.service.settings import Settings
from source_tree import PACKAGE, ROOT, short, tracked_files

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = ("local", "documents", "fast", "postgres", "redis", "models", "serve", "mcp", "otel")


def named(stage: str, name: str) -> list[str]:
    """What follows these instructions of a stage."""
    return [i.text for i in dockerfile() if (i.stage, i.name) == (stage, name)]


def pins(lock: str) -> dict[str, str]:
    """Name → version, markers left out."""
    text = (ROOT / "requirements" / f"{lock}.lock").read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9.-]+)==([^ ;\\]+)", text, re.MULTILINE))


def test_the_linter_finds_nothing():
    """F3: hadolint has nothing to say."""
    linter = shutil.which("hadolint", path=f"{sys.prefix}/bin")
    assert linter
    done = subprocess.run(
        [linter, str(DEPLOY / "Dockerfile")], capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.returncode) == ("", 0)


def test_the_base_is_one_version_that_we_support():
    """F3: a tag that names a version, in range; the version that the locks were made for."""
    (tag,) = named("", "ARG")
    version = re.fullmatch(r"PYTHON=(\d+\.\d+\.\d+)-slim-[a-z]+", tag)

    assert version
    assert version[1] in SpecifierSet(PROJECT["requires-python"])
    froms = [i.text for i in dockerfile() if i.name == "FROM"]
    assert {each.partition(" AS ")[0] for each in froms} == {"python:${PYTHON}"}


def test_everything_is_installed_from_locks_with_hashes():
    """F3: every pip install wants hashes, or takes the wheel that was built from this source."""
    runs = [text for i in dockerfile() if i.name == "RUN" for text in i.text.split(" && ")]
    installs = [text for text in runs if " pip install " in text]

    locked = [text for text in installs if "--require-hashes --requirement" in text]
    ours = [text for text in installs if text.endswith("--no-deps --no-index /wheels/*.whl")]
    assert [len(locked), len(ours), len(installs)] == [2, 1, 3]
    assert all("--only-binary :all:" in text for text in locked)


def test_the_locks_hold_what_the_image_is_for():
    """F3: its extras and no version of their own; the build needs its back end alone."""
    dev, image, build = pins("dev"), pins("image"), pins("build")
    listed = PROJECT["optional-dependencies"]
    wanted = [r for extra in EXTRAS for r in listed[extra] if not r.startswith("foveate[")]
    names = {re.match(r"[\w.-]+", r)[0].lower() for r in [*PROJECT["dependencies"], *wanted]}

    assert names - set(image) == set()
    assert {name: v for name, v in (image | build).items() if dev[name] != v} == {}
    assert "hatchling" in build
    assert not {"pytest", "hypothesis", "hatchling"} & set(image)


def test_what_runs_is_not_root_and_asks_itself_how_it_is():
    """F3: a numeric user, one check without curl, the service's port, a signal that it knows."""
    assert named("final", "USER") == ["10001:10001"]
    (check,) = named("final", "HEALTHCHECK")
    assert check.endswith('CMD ["python", "-I", "/opt/foveate/healthcheck.py"]')
    assert named("final", "COPY")[-1] == "deploy/healthcheck.py /opt/foveate/healthcheck.py"
    assert named("final", "EXPOSE") == [str(Settings.model_fields["port"].default)]
    assert named("final", "STOPSIGNAL") == ["SIGTERM"]
    assert named("final", "ENTRYPOINT") == ['["foveate"]']
    assert named("final", "CMD") == ['["serve"]']
    assert image_environment()["FOVEATE_SERVE_HOST"] == "0.0.0.0"


def test_no_secret_and_no_download_goes_in():
    """X4: no variable that sounds like a secret, no address, nothing fetched by us."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")

    assert not [i for i in dockerfile() if i.name == "ADD"]
    assert not re.search(r"https?://|curl|wget|apt-get", text)
    names = [*image_environment(), *(i.text for i in dockerfile() if i.name == "ARG")]
    assert not [name for name in names if re.search("(?i)password|secret|token|_key", name)]


def let_in() -> list[str]:
    """What .dockerignore lets through, of all that is tracked."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert next(line for line in lines if not line.startswith("#")) == "*"
    kept = [line[1:] for line in lines if line.startswith("!")]
    names = [short(path) for path in tracked_files()]
    return [name for name in names if any(name == k or name.startswith(f"{k}/") for k in kept)]


def test_only_what_is_copied_goes_to_the_builder():
    """X4: each source of a COPY is there and let in, and nothing else is."""
    copies = [i.words for i in dockerfile() if i.name == "COPY" and "--from" not in i.text]
    sources = {source for *words, _ in copies for source in words}
    inside = let_in()

    for source in sources:
        assert [n for n in inside if n == source or n.startswith(f"{source}/")], source
    strangers = [n for n in inside if not any(n == s or n.startswith(f"{s}/") for s in sources)]
    assert strangers == []


def test_the_wheel_is_built_as_the_image_builds_it(tmp_path):
    """F3: from the files that are copied and no others; the data files are in it."""
    (command,) = [text for text in named("wheel", "RUN") if "pip wheel" in text]
    source, wheels = tmp_path / "source", tmp_path / "wheels"
    for name in let_in():
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    words = command.replace("/wheels", str(wheels)).split()
    done = subprocess.run(
        [sys.executable, *words[1:]], cwd=source, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    (wheel,) = wheels.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    ours = {
        f"foveate/{p.relative_to(PACKAGE).as_posix()}"
        for p in tracked_files()
        if PACKAGE in p.parents
    }
    assert ours - packed == set()
    assert {n.partition("/")[0] for n in packed - ours} == {f"foveate-{__version__}.dist-info"}
