"""Ray: a function mapped over values by tasks of a cluster, which Ray places and tries again.

Without an address a cluster of this machine is started and stopped again: on the loopback device
only, with a token of its own, without dashboard and usage statistics, in a folder of its own that
is removed afterwards. What lies in the current folder is no module of its workers.
"""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

from foveate.batch.engines.tasks import RETRIES, RayEngine, error_summary
from foveate.core.errors import ExternalError, MissingExtra

_MIB = 1 << 20
_CONNECT_TIMEOUT = 10.0  # seconds until a cluster that does not answer is none
_MAX_FOLDER_LENGTH = 40
"""Characters of a folder in which Ray's sockets (66 more) stay below the 107 that Unix allows."""


@contextmanager
def open_ray(workers: int | None = None, address: str | None = None) -> Iterator[RayEngine]:
    """An engine on this machine, on the cluster at `address`, or on the one already connected.

    `workers`: how many at a time, all processors if None. Raises `MissingExtra`, and
    `ExternalError` if the cluster cannot be started or reached.
    """
    if address is None and "ray" not in sys.modules:
        _set_auth_token()
    ray = _import_ray()
    if ray.is_initialized():  # the caller's own, which stays
        yield RayEngine(ray, workers or _count_processors(ray))
        return
    home = Path(tempfile.mkdtemp(prefix="fv", dir=_short_folder()))
    try:
        if address is None:
            _start_local_cluster(ray, workers or os.cpu_count() or 1, home)
        else:
            _connect_cluster(ray, address, home)
        yield RayEngine(ray, workers or _count_processors(ray))
    finally:
        ray.shutdown()
        shutil.rmtree(home, ignore_errors=True)


_JOINING = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Whether other machines may join; else loopback."""
_RAY_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    _JOINING: "0",
    "RAY_enable_metrics_collection": "0",
    "RAY_task_oom_retries": str(RETRIES),
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


def _set_auth_token() -> None:
    """A token of this process, before Ray writes one for good into the user's home.

    Ray reads it once, when it is imported; so it stays in the environment until the process ends.
    """
    if not any(name.startswith("RAY_AUTH_") for name in os.environ):
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingExtra("ray", "ray") from None
    return ray


def _start_local_cluster(ray: Any, workers: int, home: Path) -> None:
    """A cluster of this machine alone."""
    settings = _RAY_ENVIRONMENT | {"PYTHONPATH": _python_path()}
    with _surroundings(ray, home, settings):
        _init_ray(
            ray,
            f"a local Ray of {workers} workers cannot be started",
            num_cpus=workers,
            include_dashboard=False,
            object_store_memory=max(100, 32 * workers) * _MIB,
            _temp_dir=str(home),
        )
    host = ray.get_runtime_context().gcs_address.rpartition(":")[0].strip("[]")
    if not host.startswith("127.") and host != "::1":
        raise ExternalError(
            f"Ray {ray.__version__} would listen at {host}, which is not this machine alone; "
            f"start a cluster yourself and give its --address"
        )


def _connect_cluster(ray: Any, address: str, home: Path) -> None:
    settings = {"RAY_USAGE_STATS_ENABLED": "0"}
    failure = f"the Ray cluster at {address!r} cannot be reached"
    if _is_loopback_only(ray, address, failure):
        settings[_JOINING] = "0"
    with _surroundings(ray, home, settings):
        _init_ray(ray, failure, address=address)


def _is_loopback_only(ray: Any, address: str, failure: str) -> bool:
    """Whether a cluster listens on the loopback device only, where Ray would not look for it.

    Raises `ExternalError` if nothing listens there, because Ray would wait without end.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or "://" in address:
        return False  # a name that Ray looks up
    local = host in ("127.0.0.1", "localhost", "[::1]")
    if _is_listening(ray.util.get_node_ip_address() if local else host.strip("[]"), int(port)):
        return False
    if local and _is_listening(host.strip("[]"), int(port)):
        return True
    raise ExternalError(f"{failure}: nothing answers there; start one, or leave out --address")


def _is_listening(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=_CONNECT_TIMEOUT):
            return True
    except OSError:
        return False


def _init_ray(ray: Any, failure: str, **options: Any) -> None:
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # advice for those who call ray themselves
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
    except Exception as error:
        raise ExternalError(f"{failure}: {error_summary(error)}") from error
    # What Ray says of dead workers goes to stdout, whatever `log_to_driver` is; answers go there.
    ray._private.worker._worker_logs_enabled = False  # noqa: SLF001 - it has no other switch


def _count_processors(ray: Any) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _python_path() -> str:
    """Where the workers find this very foveate, and what its user added; nothing relative."""
    root = str(Path(__file__).parents[3])
    known = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    return os.pathsep.join(dict.fromkeys([root, *(str(Path(part).resolve()) for part in known)]))


def _short_folder() -> str:
    """The folder for temporary files, or `/tmp` if sockets' names would be too long."""
    folder = os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()
    short = "/tmp"  # noqa: S108 - a folder of our own is made in it
    return short if len(folder) > _MAX_FOLDER_LENGTH and sys.platform != "win32" else folder


@contextmanager
def _surroundings(ray: Any, home: Path, values: Mapping[str, str]) -> Iterator[None]:
    """The variables, and a folder to stand in, for what is started inside.

    Ray puts the current folder on its workers' module path. `_JOINING` it reads when it is
    imported, which may have been before.
    """
    constants = ray._private.ray_constants  # noqa: SLF001
    joining, before = constants.ENABLE_RAY_CLUSTER, {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    constants.ENABLE_RAY_CLUSTER = joining and _JOINING not in values
    try:
        with chdir(home):
            yield
    finally:
        constants.ENABLE_RAY_CLUSTER = joining
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
