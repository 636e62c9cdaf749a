"""Fill this interpreter's environment from a lock: with uv where it can be had, else with pip.

    python tools/install.py LOCK [--no-deps]

pip alone is enough, and uv does the same in a fraction of the time. Both are held to the lock's
hashes and take built packages only, so what is installed is the same. Where packages come from is
said once, to pip: its configuration (files and `PIP_` variables) is handed on to uv. If uv cannot
be had or fails, pip installs, and a line says why. `FOVEATE_INSTALLER=pip` leaves uv out.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

UV_LOCK = Path(__file__).resolve().parent.parent / "requirements" / "uv.lock"
PIP = (
    *(sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check"),
    *("--no-input", "--only-binary", ":all:", "--no-compile", "--require-hashes"),
)
# pip's settings that say where packages come from; uv's variable, and what separates its values
COUNTERPARTS = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "cert": ("SSL_CERT_FILE", " "),
    "client-cert": ("SSL_CLIENT_CERT", " "),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "default-timeout": ("UV_HTTP_TIMEOUT", " "),
    "timeout": ("UV_HTTP_TIMEOUT", " "),
}
# what a person may have told uv about this machine
KEPT = ("UV_CACHE_DIR", "UV_LINK_MODE", "UV_NO_CACHE", "UV_OFFLINE")


def uv_environment() -> dict[str, str]:
    """The environment for uv, with pip's settings; uv must look at every index alike, as pip does.

    Of pip's sections (`global`, `install`, `:env:`) the later one decides.
    """
    command = [sys.executable, "-m", "pip", "config", "list"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    lines = [line.partition("=")[::2] for line in done.stdout.splitlines()]
    told = {"UV_INDEX_STRATEGY": "unsafe-best-match", "UV_NO_CONFIG": "1"}
    for section in ("global", "install", ":env:"):
        for name, value in lines:
            found, _, key = name.rpartition(".")
            if found == section and key in COUNTERPARTS:
                variable, between = COUNTERPARTS[key]
                told[variable] = between.join(str(ast.literal_eval(value)).split())
    kept = {k: v for k, v in os.environ.items() if not k.startswith("UV_") or k in KEPT}
    return kept | told


def by_uv(lock: Path, options: list[str]) -> str:
    """Install with uv; returns why that was not possible, or ""."""
    if os.environ.get("FOVEATE_INSTALLER") == "pip":
        return "FOVEATE_INSTALLER says so"
    uv = (str(Path(sys.executable).with_name("uv")), "pip", "install", "-q", "--no-build")
    uv += ("--python", sys.executable, "--require-hashes", *options, "-r", str(lock))
    # hard links are refused by nltk for its own data
    for command in ((*PIP, "-r", str(UV_LOCK)), (*uv, "--link-mode=copy")):
        done = subprocess.run(
            command, env=uv_environment(), capture_output=True, encoding="utf-8", check=False
        )
        if done.returncode:
            said = done.stderr.strip().splitlines() or ["no message"]
            return f"{Path(command[0]).name} failed: {said[-1].strip()}"
    return ""


def main(lock: str, *options: str) -> int:
    """The exit code of whichever installed."""
    if reason := by_uv(Path(lock), list(options)):
        print(f"installing {lock} with pip ({reason})", flush=True)
        return subprocess.run([*PIP, *options, "-r", lock], check=False).returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
