"""A real Ray of two workers: order, bounds, retries, and the same bytes as without it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import fleet_tasks
import illustrated
from command_line import CHUNKS, QUERY, jsonl
from documents import write_mixed_folder
from foveate.batch.engines import open_engine
from foveate.batch.engines.engine import TASKS_PER_WORKER, FailedTask
from foveate.batch.engines.on_ray import open_ray
from foveate.cli import main
from foveate.core.errors import BadOption, ExternalError
from foveate.ingest.document_task import PreparedDocument, Preparer, Refusal, Task
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.on_ray import prepare_on_ray
from foveate.ingest.prepare import Settings
from foveate.ingest.walk import File
from source_tree import PACKAGE


@pytest.fixture(scope="module")
def ray(tmp_path_factory):
    """Two workers that can import this folder's tasks and a stage that kills."""
    plugin = tmp_path_factory.mktemp("plugin")
    fleet_tasks.install_stage(plugin)
    folders = [str(PACKAGE.parent), str(Path(fleet_tasks.__file__).parent), str(plugin)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(folders))
        with open_ray(2) as fleet:
            yield fleet


@pytest.fixture
def one_retry(monkeypatch):
    """A task whose worker died is tried again once: each new worker takes seconds to start."""
    monkeypatch.setattr("foveate.batch.engines.tasks.RETRIES", 1)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to stand in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def requests(count: int, name: str = "r") -> list[dict[str, object]]:
    """Requests that differ; the last one is refused."""
    budgets = (60, 45, 30)
    found = [
        {"id": f"{name}{i}", "query": f"{QUERY} {i}", "chunks": CHUNKS, "budget": budgets[i % 3]}
        for i in range(count - 1)
    ]
    return [*found, {"id": f"{name}-last", "query": QUERY}]


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """A program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
    )


# --- the fleet -------------------------------------------------------------------------------


def test_results_come_in_order_and_values_are_taken_as_needed(ray):
    """F2, D1: as many values are under way as the workers can use, whatever their number."""
    fleet_tasks.check_order_and_bound(ray, TASKS_PER_WORKER * 2)


def test_workers_stand_where_the_caller_stands(ray, folder):
    """F2: a recipe's file in a request is found by its relative name; other processes do it."""
    found = [result for _, result in ray.map_values(fleet_tasks.where, range(4))]

    assert {place for _, place in found} == {str(folder)}
    assert os.getpid() not in {process for process, _ in found}


def test_a_task_that_always_dies_is_lost_after_a_bounded_number_of_times(ray, one_retry, folder):
    """X3: it is tried `RETRIES` times more, then named; the others have their results."""
    note = folder / "deaths"

    found = list(ray.map_values(fleet_tasks.dies_counted, [(n, str(note)) for n in range(5)]))
    lost = found[2][1]

    assert [result for _, result in found if not isinstance(result, FailedTask)] == [0, 1, 3, 4]
    assert isinstance(lost, FailedTask)
    assert lost.reason.startswith("tried 2 times: WorkerCrashedError")
    assert note.stat().st_size == 2


def test_a_fault_of_the_function_is_not_tried_again(ray):
    """X1: what raised would raise again; it is said with its kind."""
    assert list(ray.map_values(fleet_tasks.raises, [7])) == [
        (7, FailedTask(reason="failed on a worker: KeyError: 7"))
    ]


def test_a_worker_of_another_version_refuses(ray, monkeypatch):
    """D1: another version could give other bytes, so it gives none."""
    monkeypatch.setattr("foveate.batch.engines.tasks.__version__", "0.0.1")

    for _ in range(4):  # what is called off as it ends must not end this process
        with pytest.raises(ExternalError, match=r"asked by 0\.0\.1; install the same version"):
            list(ray.map_values(fleet_tasks.double, [1, 2, 3]))


# --- batches ---------------------------------------------------------------------------------


def test_the_same_bytes_as_without_it(ray, folder, capfd):
    """D1, F2: one process, a pool and Ray write the same file."""
    Path("in.jsonl").write_text(jsonl(requests(60)))

    codes = [
        main(["assemble-batch", "--in", "in.jsonl", "--out", out, *flags])
        for out, flags in {
            "one.jsonl": (),
            "two.jsonl": ("--workers", "2"),
            "ray.jsonl": ("--engine", "ray", "--workers", "2"),
        }.items()
    ]
    said = capfd.readouterr()

    assert codes == [0, 0, 0]
    assert Path("ray.jsonl").read_bytes() == Path("one.jsonl").read_bytes()
    assert Path("two.jsonl").read_bytes() == Path("one.jsonl").read_bytes()
    assert said.out == ""
    assert said.err == "59 contexts, 1 refused\n" * 3


def deadly(word: str) -> dict[str, object]:
    """A request whose stage kills the worker."""
    return {"id": word, "query": word, "chunks": CHUNKS, "recipe": "touchy.toml"}


def test_a_stage_that_kills_its_worker_costs_one_request_at_most(ray, one_retry, folder, capfd):
    """T5, X3, F2: once costs nothing; always costs itself alone, with exit code 5."""
    Path("touchy.toml").write_text(fleet_tasks.RECIPE)
    note = folder / "killed"
    lines = [*requests(20, "a"), deadly(f"once {note}"), *requests(20, "b"), deadly("die")]
    Path("in.jsonl").write_text(jsonl(lines))

    code = main(["assemble-batch", "--in", "in.jsonl", "--out", "out.jsonl", "--engine", "ray"])
    found = [json.loads(line) for line in Path("out.jsonl").read_bytes().splitlines()]

    assert code == 5
    assert note.exists()
    assert [answer["id"] for answer in found] == [request["id"] for request in lines]
    assert "error" not in found[20]
    assert found[-1]["error"]["message"].startswith("tried 2 times: WorkerCrashedError")
    assert capfd.readouterr().err.startswith("39 contexts, 3 refused, 1 of them lost")


def test_another_process_joins_by_address(ray, folder):
    """F2: `--address` names a cluster that runs; it goes on running, and stdout is answers."""
    import ray as vendor

    Path("in.jsonl").write_text(jsonl(requests(3)))
    address = vendor.get_runtime_context().gcs_address

    flags = ["--in", "in.jsonl", "--out", "-", "--engine", "ray", "--address", address]
    done = python(
        "from foveate.cli import main; raise SystemExit(main())", "assemble-batch", *flags
    )
    main(["assemble-batch", "--in", "in.jsonl", "--out", "local.jsonl"])

    assert (done.returncode, done.stderr.decode()) == (0, "2 contexts, 1 refused\n")
    assert done.stdout == Path("local.jsonl").read_bytes()
    assert list(ray.map_values(fleet_tasks.double, [4])) == [(4, 8)]


# --- bulk ingest -----------------------------------------------------------------------------


SETTINGS = Settings(size=350, overlap=70, language="en", fingerprint="", embedder="", principals=())


def indexed(*flags: str) -> int:
    """The exit code of indexing `docs`."""
    return main(["index", "docs", "--json", *flags])


def report(capfd) -> dict[str, object]:
    """The report that was printed, without the store's name; nothing else was."""
    said = capfd.readouterr()
    found = json.loads(said.out)
    del found["store"]
    assert said.err == ""
    return found


def test_a_bulk_ingest_is_the_local_one(ray, folder, capfd):
    """T2, D3, T1, U1: the same report, state root and images, at first and after changes."""
    write_mixed_folder(Path("docs"), pages=24, rows=300)
    Path("docs/figures.pdf").write_bytes(illustrated.pdf_file())

    def both() -> list[dict[str, object]]:
        found = []
        for store, *flags in (("here", "--jobs", "1"), ("there", "--engine", "ray")):
            assert indexed("--store", store, "--images", f"{store}-images", *flags) == 0
            found.append(report(capfd))
        return found

    first, on_ray = both()
    for path in sorted(Path("docs/sub").iterdir())[::3]:
        path.unlink()
    Path("docs/sub/01.md").rename("docs/sub/renamed.md")
    Path("docs/rows.jsonl").write_text('{"id": "r9", "text": "Another row."}\n')
    second, on_ray_again = both()

    assert on_ray == first
    assert on_ray_again == second
    assert first["added"] > 300
    kept, on_ray_kept = (
        {path.name: path.read_bytes() for path in Path(name).iterdir()}
        for name in ("here-images", "there-images")
    )
    assert len(kept) == 2
    assert on_ray_kept == kept
    assert {failure["path"] for failure in first["failed"]} == {
        "docs/binary.md", "docs/broken.pdf", "docs/rows.jsonl", "docs/taken.jsonl"
    }  # fmt: skip
    assert second["deleted"] > 300
    assert first["state_root"] != second["state_root"]
    assert main(["store", "check", "--store", "there"]) == 0


def test_a_file_that_kills_its_worker_costs_itself_alone(ray, one_retry, folder):
    """T2, X2, X3: what it handed over before stays, once; the rest is refused; others go on."""
    row = '{"id": "r%d", "text": "%s", "metadata": {"note": "%s"}}\n'
    rows = [row % (i, "Kill it." if i == 70 else f"Row {i}.", "n" * 50_000) for i in range(75)]
    texts = {
        "a.md": "First.", "b.jsonl": "".join(rows), "c.md": "Another.",
        "d.md": "Kill the one who counts this.", "e.md": "Last.",
    }  # fmt: skip
    for name, text in texts.items():
        Path(name).write_text(text)
    preparer = Preparer(settings=SETTINGS, tokenizer=fleet_tasks.Deadly(), limits=Limits())
    files = [
        File(name=path.name, path=path.absolute(), root="r") for path in sorted(folder.iterdir())
    ]

    found = [list(parts) for parts in prepare_on_ray(ray, preparer, [Task(file=f) for f in files])]

    *brought, midway = found[1]
    (at_once,) = found[3]
    assert [part.document.id for part in brought] == [f"r{i}" for i in range(len(brought))]
    assert 10 < len(brought) <= 70
    for lost in (midway, at_once):
        assert isinstance(lost, Refusal)
        assert lost.reason.startswith("could not be prepared: tried 2 times: WorkerCrashed")
    assert [[type(part) for part in parts] for parts in found[::2]] == [[PreparedDocument]] * 3


def test_what_cannot_be_sent_is_refused(ray):
    """X1: a tokenizer that cannot be pickled is said before a worker is asked."""
    settings = Settings(
        size=9, overlap=0, language="en", fingerprint="", embedder="", principals=()
    )
    preparer = Preparer(settings=settings, tokenizer=lambda: None, limits=Limits())

    with pytest.raises(BadOption, match="cannot be sent to another process"):
        list(prepare_on_ray(ray, preparer, [Task(file=File(name="a", path=Path("a"), root=""))]))


def test_pieces_come_once_and_in_order_past_a_dead_worker(ray, tmp_path):
    """T2, X3: more than the cluster's memory holds, made anew by another worker midway."""
    items = [(60, str(tmp_path / "one")), (70, str(tmp_path / "two"))]

    found = [
        [piece[:1] for piece in pieces]
        for _, pieces in ray.stream_values(fleet_tasks.counts_up, items)
    ]

    assert found == [[bytes([i]) for i in range(count)] for count, _ in items]


# --- starting and stopping -------------------------------------------------------------------


ALONE = """
import os, sys
from foveate.cli import main
from foveate.batch.engines import on_ray

started = on_ray._start_local_cluster

def start(ray, workers, home):
    started(ray, workers, home)
    print(home, ray.get_runtime_context().gcs_address.rpartition(":")[0], file=sys.stderr)

on_ray._start_local_cluster = start
code = main(["assemble-batch", "--in", "in.jsonl", "--out", "-", "--engine", "ray",
             "--workers", "1"])
sys.stdout.flush()
print(code, os.environ.get("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"), file=sys.stderr)
"""


def test_a_cluster_of_our_own_leaves_nothing_behind(folder):
    """F2, X4: started for a run from a folder with a very long name, and gone with its files."""
    deep = folder / ("long-name-" * 12)
    deep.mkdir()
    home = folder / "home"
    home.mkdir()
    Path("in.jsonl").write_text(jsonl(requests(3)))
    Path("json.py").write_text("raise SystemExit('a module of the current folder was imported')\n")
    done = subprocess.run(
        [sys.executable, "-P", "-c", ALONE],
        capture_output=True,
        check=False,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(PACKAGE.parent),
            "HOME": str(home),
            "TMPDIR": str(deep),
        },
    )
    main(["assemble-batch", "--in", "in.jsonl", "--out", "local.jsonl"])

    place, _, said = done.stderr.decode().partition(" ")

    assert said == "127.0.0.1\n2 contexts, 1 refused\n0 None\n"
    assert done.stdout == Path("local.jsonl").read_bytes()
    assert len(place) < 20
    assert not Path(place).exists()
    assert list(home.iterdir()) == []
    assert list(deep.iterdir()) == []


def test_without_ray_the_extra_is_named(folder, monkeypatch):
    """X1, F2: the message has the line that installs it."""
    monkeypatch.setitem(sys.modules, "ray", None)

    with pytest.raises(ExternalError, match=r"pip install 'foveate\[ray\]'"), open_engine("ray"):
        pass


EACH = """
import sys
from foveate.cli import main

for place in sys.argv[1:]:
    flags = ["--in", "in.jsonl", "--out", "-", "--engine", "ray", "--address", place]
    code = main(["assemble-batch", *flags])
    print(code, file=sys.stderr)
"""


def test_an_address_where_nobody_answers(folder):
    """X1, F2: it says in one line which cluster could not be reached, and waits for nobody."""
    Path("in.jsonl").write_text(jsonl(requests(3)))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        free = taken.getsockname()[1]  # bound, and nobody listens
        places = ["nowhere", f"127.0.0.1:{free}", f"localhost:{free}"]

        done = python(EACH, *places)

    lines = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout) == (0, b"")
    assert lines[1::2] == ["5"] * 3
    for place, line in zip(places, lines[::2], strict=True):
        assert line.startswith(f"foveate: the Ray cluster at {place!r} cannot be ")
