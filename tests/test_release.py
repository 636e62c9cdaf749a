"""What is tried before a release: each extra, each Python, the licence of each package."""

from __future__ import annotations

import json
import re
import subprocess
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar

import pytest
from tools.bills import bill_with_hashes
from tools.extras import APART, EXTRAS

from project import PROJECT, pinned_versions
from source_tree import ROOT


def test_every_extra_has_the_one_thing_it_is_tried_with():
    """F1: no extra is published that `make wheels` does not install alone and use."""
    extras = set(PROJECT["optional-dependencies"])

    assert set(EXTRAS) == extras - {"all"}


def test_what_is_apart_is_no_part_of_all():
    """F6: `all` brings every extra but the frameworks', which one has or has not."""
    (everything,) = PROJECT["optional-dependencies"]["all"]
    inside = set(re.findall(r"[a-z-]+", everything.partition("[")[2]))
    brought = {"openai", "anthropic", "ollama"}  # by `models`

    assert inside | brought == set(EXTRAS) - set(APART)


def test_every_package_has_a_licence_that_is_allowed():
    """F1: the small install has permissive licences alone; each licence of the rest is named."""
    done = subprocess.run(
        ["make", "-s", "licences"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    listed = (ROOT / "build/release/licences-default.md").read_text(encoding="utf-8")
    assert "| numpy " in listed
    assert "| psycopg " not in listed


def bill_of(*parts):
    """A bill of materials of these names and versions, as the generator makes it."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "metadata": {"component": {"name": "foveate", "type": "library"}},
        "components": [{"name": n, "version": v, "type": "library"} for n, v in parts],
    }


def test_every_component_has_the_hashes_of_the_lock():
    """F1: each hash that the lock allows for an archive is in the bill, and our version."""
    lock = (ROOT / "requirements/base.lock").read_text(encoding="utf-8")
    pins = [(n, v) for n, versions in pinned_versions("base").items() for v in versions]
    bill = json.loads(bill_with_hashes(bill_of(*pins), lock, "0.2.0"))
    hashes = [
        one["content"]
        for part in bill["components"]
        for place in part["externalReferences"]
        for one in place["hashes"]
    ]

    assert sorted(hashes) == sorted(re.findall("sha256:([0-9a-f]+)", lock))
    assert bill["metadata"]["component"]["version"] == "0.2.0"
    typing_extensions = bill_of(("typing_extensions", "4.1"))
    pin = f"typing-extensions==4.1 \\\n    --hash=sha256:{'0' * 64}\n"
    assert "0" * 64 in bill_with_hashes(typing_extensions, pin, "0.2.0")


def test_a_bill_with_a_gap_is_told():
    """F1: a component that the lock does not pin, and what the schema does not hold."""
    with pytest.raises(ValueError, match=r"harbour-tide 1\.0 is not pinned with its hashes"):
        bill_with_hashes(bill_of(("harbour-tide", "1.0")), "", "0.2.0")
    with pytest.raises(ValueError, match="does not follow its schema"):
        bill_with_hashes({**bill_of(), "version": "none"}, "", "0.2.0")


class Advisories(BaseHTTPRequestHandler):
    """Answers `POST /v1/query` in OSV's protocol; `known`: the versions with a vulnerability."""

    known: ClassVar[set[tuple[str, str]]] = set()

    def do_POST(self) -> None:  # the standard library's name
        """What is known of one version of one package."""
        wanted = json.loads(self.rfile.read(int(self.headers["content-length"])))
        package, version = wanted["package"], wanted["version"]
        events = [{"introduced": "0"}, {"fixed": "9999"}]
        affected = [{"package": package, "ranges": [{"type": "ECOSYSTEM", "events": events}]}]
        finding = {"id": "OSV-2026-1", "summary": "It leaks.", "affected": affected}
        is_known = (package["name"], version) in self.known
        answer = json.dumps({"vulns": [finding]} if is_known else {}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def audit(known):
    """The exit code and the output of `make audit` with a service that knows these."""
    handler = type("Handler", (Advisories,), {"known": known})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, args=(0.02,)).start()
        url = f"AUDIT_URL=http://127.0.0.1:{server.server_port}/v1/query"
        done = subprocess.run(
            ["make", "-s", "audit", url], cwd=ROOT, capture_output=True, text=True, check=False
        )
        server.shutdown()
    return done.returncode, done.stdout + done.stderr


def test_the_audit_asks_of_every_pin_and_believes_no_service_that_knows_nothing():
    """What is known is no pass and is named; nor is an answer by who has not heard of anything."""
    unsafe = ("jinja2", "2.4.1")
    (version,) = pinned_versions("dev")["typer"]

    assert audit({unsafe})[0] == 0
    code, said = audit({unsafe, ("typer", version)})
    assert code != 0
    assert re.search(rf"typer +{re.escape(version)} +OSV-2026-1 +9999", said)
    code, said = audit(set())
    assert code != 0
    assert "the service knows nothing of jinja2==2.4.1" in said


@pytest.fixture
def project(tmp_path):
    """A repository that is ready but for its tag."""
    (tmp_path / "src/foveate").mkdir(parents=True)
    (tmp_path / "src/foveate/_version.py").write_text('__version__ = "0.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.2.0 (2027-01-02)\n\n- It is.\n")
    (tmp_path / "changelog.d").mkdir()
    (tmp_path / "changelog.d/README.md").write_text("# What is new\n")
    (tmp_path / "pyproject.toml").write_text('"Development Status :: 3 - Alpha",\n')
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text())
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "Be")
    return tmp_path


def git(root, *words):
    """One command of git, as somebody."""
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


def passes(root, item):
    """Whether an item of `make release-check` does."""
    return subprocess.run(["make", "-s", item], cwd=root, check=False).returncode == 0


@pytest.mark.parametrize(
    ("item", "file", "text"),
    [
        ("clean-tree", "left.txt", "?"),
        ("changelog", "CHANGELOG.md", "# Changelog\n\n## 0.2.0 (unreleased)\n"),
        ("changelog", "CHANGELOG.md", "# Changelog\n\n## 0.1.0 (2027-01-02)\n"),
        ("changelog", "CHANGELOG.md", "# Changelog\n"),
        ("changelog", "changelog.d/+tab.added.md", "Complete by Tab.\n"),
        ("status", "pyproject.toml", '"Development Status :: 5 - Production/Stable",\n'),
        ("status", "src/foveate/_version.py", '__version__ = "1.0.0"\n'),
    ],
)
def test_what_is_not_ready_is_no_pass(item, file, text, project):
    """F1: each item passes on a project that is ready, and fails on one that is not."""
    assert passes(project, item)

    (project / file).write_text(text)

    assert not passes(project, item)


def test_the_tag_is_at_this_commit(project):
    """F1: no tag, a branch of its name, the tag, and the tag of an older commit."""
    assert not passes(project, "tag")
    git(project, "branch", "v0.2.0")
    assert not passes(project, "tag")
    git(project, "tag", "v0.2.0")
    assert passes(project, "tag")
    git(project, "commit", "-q", "--allow-empty", "-m", "Go on")
    assert not passes(project, "tag")
