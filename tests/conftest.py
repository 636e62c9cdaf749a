"""Settings that every test shares: Hypothesis profiles and the flag that rewrites golden files.

Profiles: `default` on a developer's machine (new random examples every run), `ci` wherever the
environment says CI (the same examples every run, more of them). None has a deadline: wall time
on a busy machine proves nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "ci",
    deadline=None,
    max_examples=100,
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden`: accept what the code gives now."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the files under tests/golden instead of comparing with them",
    )


class Golden:
    """Compares a text with a file under tests/golden, or rewrites the file."""

    def __init__(self, *, update: bool) -> None:
        self.folder = Path(__file__).parent / "golden"
        self.update = update

    def check_text(self, name: str, actual: str) -> None:
        """Fail with a readable difference unless the golden file holds exactly `actual`."""
        path = self.folder / name
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(actual, encoding="utf-8", newline="\n")
        assert path.exists(), f"no golden file {name}; write it with: make golden"
        expected = path.read_bytes().decode("utf-8")
        assert actual == expected, f"tests/golden/{name} differs; accept with: make golden"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """The golden files: `golden.check_text("case/out.txt", text)`."""
    return Golden(update=request.config.getoption("--update-golden"))
