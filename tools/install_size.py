"""What the small install takes, package by package: bytes fetched, and bytes on disk.

    python -I tools/install_size.py FOLDER...

Run by the interpreter of an environment that holds the small install alone; the folders hold the
wheels that it was made from. On disk the files that each package installed are counted; what an
environment comes with (pip, setuptools) is not, nor bytecode that Python writes later. Exit 1 where
a bound is passed.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

FETCHED = 60_000_000
"""Bytes of all wheels of the default install, at most."""
ON_DISK = 95_000_000
"""Bytes of their files, at most; two thirds of them are numpy's (DESIGN.md)."""
PACKAGES = 20
"""Packages, foveate among them, at most."""
NOT_OURS = {"pip", "setuptools", "wheel"}


def plain(name: str) -> str:
    """A package's name, as every spelling of it comes out.

    >>> plain("Toktok_rs")
    'toktok-rs'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def on_disk(distribution: Distribution) -> int:
    """Bytes of all its files that are there."""
    if not distribution.files:
        sys.exit(f"install size: {distribution.metadata['Name']} has no list of its files")
    paths = (Path(str(file.locate())) for file in distribution.files)
    kept = (path for path in paths if path.suffix != ".pyc")
    return sum(path.stat().st_size for path in kept if path.is_file())


def fetched(folders: list[Path]) -> dict[str, int]:
    """Package → bytes of its wheel."""
    wheels = (wheel for folder in folders for wheel in folder.glob("*.whl"))
    return {plain(wheel.name.partition("-")[0]): wheel.stat().st_size for wheel in wheels}


def main() -> int:
    """1 where it is too large, or a wheel is not there."""
    wheels = fetched([Path(one) for one in sys.argv[1:]])
    files = {plain(one.metadata["Name"]): on_disk(one) for one in distributions()}
    if "foveate" not in files:
        sys.exit("install size: foveate is not installed here; run: make install-size")
    names = sorted(files.keys() - NOT_OURS, key=lambda name: (-files[name], name))
    if missing := [name for name in names if name not in wheels]:
        sys.exit(f"install size: no wheel of {', '.join(missing)} in {sys.argv[1:]}")
    print("fetched MB  on disk MB  package")
    for name in names:
        print(f"{wheels[name] / 1e6:10.2f}  {files[name] / 1e6:10.2f}  {name}")
    sums = sum(wheels[name] for name in names), sum(files[name] for name in names)
    print(
        f"{sums[0] / 1e6:.2f} MB fetched (at most {FETCHED / 1e6:.0f}), "
        f"{sums[1] / 1e6:.2f} MB on disk (at most {ON_DISK / 1e6:.0f}), "
        f"{len(names)} packages (at most {PACKAGES})"
    )
    return int(sums[0] > FETCHED or sums[1] > ON_DISK or len(names) > PACKAGES)


if __name__ == "__main__":
    sys.exit(main())
