"""What is tried before a release: the licence of each package, and what is known of it."""

from __future__ import annotations

import json
import re
import subprocess
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar

from project import pinned_versions
from source_tree import ROOT


def test_every_package_has_a_licence_that_is_allowed():
    """F1: the small install has permissive licences alone; each licence of the rest is named."""
    done = subprocess.run(
        ["make", "-s", "licences"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    listed = (ROOT / "build/release/licences-default.md").read_text(encoding="utf-8")
    assert "| numpy " in listed
    assert "| psycopg " not in listed


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
