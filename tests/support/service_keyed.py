"""A service with keys, as a process of its own, with a model that answers; and its schema hunted.

    python tests/support/service_keyed.py --examples 200

hands the running service to the command line of Schemathesis, which says what it tried.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from http_wire import Answer, ask
from model_servers import serving as model_serving
from service_keys import put
from service_process import Service, running

CONFIG = Path(__file__).parents[1] / "service" / "schemathesis.toml"
PAGES = {
    "boiler": "The boiler has two bar. Above three bar its valve opens.",
    "manual/pump": "The pump starts at one bar. Clean its filter every spring.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyed:
    """A service and a key that may do everything."""

    service: Service
    key: str

    def ask(self, method: str, path: str, value: Any = None, key: str | None = None) -> Answer:
        """One request, with this key or another one."""
        headers: dict[str, str | None] = {"Authorization": f"Bearer {key or self.key}"}
        return ask(self.service.address, method, path, value, headers)


@contextmanager
def keyed(folder: Path, **settings: Any) -> Iterator[Keyed]:
    """A service without limits on rates, over a small store, with a model that always answers."""
    key = put(folder / "keys.jsonl", principals=("red",))
    with model_serving("openai") as model:
        given: dict[str, Any] = {
            "store": str(folder / "store"),
            "embedder": "hashing",
            "keys": str(folder / "keys.jsonl"),
            "models": {"tiny": model.name},
            "rate": "",
        }
        with running(folder / "service", **{**given, **settings}) as service:
            found = Keyed(service=service, key=key)
            for name, text in PAGES.items():
                value = {"text": text, "title": name, "metadata": {"lang": "en"}}
                assert found.ask("PUT", f"/v1/documents/{name}", value).status == 200
            yield found


def main() -> int:
    """Run the command line of Schemathesis against a service of our own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, keyed(Path(folder)) as found:
        host, port = found.service.address
        program = Path(sys.executable).parent / "schemathesis"
        command = [
            *(str(program), "--config-file", str(CONFIG), "run"),
            *(f"http://{host}:{port}/openapi.json", "-H", f"Authorization: Bearer {found.key}"),
            *("--max-examples", str(asked.examples), "--seed", str(asked.seed), "--no-color"),
        ]
        done = subprocess.run(command, cwd=folder, check=False)
        faults = found.service.said().count("Traceback")
        print(f"faults in the service's log: {faults}")
    return done.returncode or int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
