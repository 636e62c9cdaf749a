"""The audit, against a real server on loopback that speaks the protocol of the public one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from tools import audit


def known(package: str, mended: str) -> dict[str, object]:
    """One finding, as the protocol has it."""
    events = [{"introduced": "0"}, {"fixed": mended}]
    about = {"name": package, "ecosystem": "PyPI"}
    ranges = [{"type": "ECOSYSTEM", "events": events}]
    return {
        "id": "OSV-2026-1",
        "summary": "It tells the tide to anybody.",
        "affected": [{"package": about, "ranges": ranges}],
    }


KNOWN = {
    ("harbour-tide", "1.0"): known("harbour-tide", "1.1"),
    audit.UNSAFE: known("jinja2", "2.11.3"),
}


class Service(BaseHTTPRequestHandler):
    """Answers `POST /v1/query` as the protocol says; of any other path it knows nothing."""

    def do_POST(self) -> None:  # the standard library's name
        """What is known of one version of one package."""
        body = self.rfile.read(int(self.headers["content-length"]))
        wanted = json.loads(body)
        found = KNOWN.get((wanted["package"]["name"], wanted["version"]))
        found = found if self.path == "/v1/query" else None
        answer = json.dumps({"vulns": [found]} if found else {}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    """Where the service is, as long as the test lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/query"
    server.shutdown()
    thread.join()
    server.server_close()


def locked(folder: Path, *pins: str) -> Path:
    """A lock of these."""
    path = folder / "some.lock"
    path.write_text("".join(f"{pin} --hash=sha256:{'0' * 64}\n" for pin in pins), encoding="utf-8")
    return path


def test_nothing_known_is_a_pass(url, tmp_path, monkeypatch, capsys):
    """The mended release is not among what is known."""
    lock = locked(tmp_path, "harbour-tide==1.1")
    monkeypatch.setattr("sys.argv", ["audit", "--url", url, "--lock", str(lock)])

    assert audit.main() == 0
    assert capsys.readouterr().out == "1 packages, 0 known vulnerabilities\n"


def test_no_answer_is_no_pass(tmp_path, monkeypatch, capsys):
    """Where nobody can be asked nothing was found out: another exit code, and what to do."""
    lock = locked(tmp_path, "harbour-tide==1.0")
    nobody = "http://127.0.0.1:9/v1/query"
    monkeypatch.setattr("sys.argv", ["audit", "--url", nobody, "--lock", str(lock)])

    assert audit.main() == audit.NO_ANSWER
    assert "set AUDIT_URL" in capsys.readouterr().out


def test_what_is_known_is_named_with_its_remedy(url, tmp_path, monkeypatch, capsys):
    """Each pin is asked about; what is known of one comes with the release that mends it.

    Neither a marker that does not hold here nor a second version of a package hides a pin.
    """
    lock = locked(
        tmp_path,
        "harbour-tide==1.1 ; sys_platform != 'win32'",
        "harbour-tide==1.0 ; sys_platform == 'win32'",
        "jinja2==3.1.6",
    )
    monkeypatch.setattr("sys.argv", ["audit", "--url", url, "--lock", str(lock)])

    assert audit.main() == 1
    assert capsys.readouterr().out.splitlines() == [
        "harbour-tide 1.0: OSV-2026-1, mended in 1.1",
        "3 packages, 1 known vulnerabilities",
    ]


def test_a_service_that_knows_nothing_is_no_pass(url, tmp_path, monkeypatch, capsys):
    """Whoever says of everything that it is well was asked about what is not."""
    lock = locked(tmp_path, "harbour-tide==1.0")
    monkeypatch.setattr("sys.argv", ["audit", "--url", f"{url}/none", "--lock", str(lock)])

    assert audit.main() == audit.NO_ANSWER
    assert "has not heard of what is known of jinja2 2.4.1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("pins", "said"),
    [((), "nothing is pinned"), (("harbour-tide>=1.0",), "'harbour-tide>=1.0' is no pin")],
)
def test_a_lock_that_pins_nothing_is_no_pass(pins, said, tmp_path, monkeypatch):
    """An empty lock, one of another form, and one that is not there are faults."""
    lock = locked(tmp_path, *pins)
    monkeypatch.setattr("sys.argv", ["audit", "--lock", str(lock)])

    with pytest.raises(SystemExit, match=said):
        audit.main()
    monkeypatch.setattr("sys.argv", ["audit", "--lock", str(tmp_path / "gone.lock")])
    with pytest.raises(SystemExit, match="no such lock"):
        audit.main()
