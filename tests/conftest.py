"""What every test shares: Hypothesis profiles, golden files, figures at the end of a run.

Profiles: `default` tries the same examples in every run, so that a change fails for its own sake;
`quick` tries few of them; `wide` tries many new ones in each run, for `make wide`. None has a
deadline: wall time on a busy machine proves nothing.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Generator, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Frameworks under test tell nobody, whatever the machine's environment says.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["LANGSMITH_TRACING"] = os.environ["LANGCHAIN_TRACING_V2"] = "false"

# Spans are sent soon, so that a test which looks at them does not wait five seconds.
os.environ["OTEL_BSP_SCHEDULE_DELAY"] = "200"

# Services under test make their stores, but where a test says otherwise.
os.environ["FOVEATE_SERVE_CREATE"] = "true"

# A shell lets what it starts in the background ignore Ctrl-C, and programs under test inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "default",
    deadline=None,
    max_examples=50,
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("quick", settings.get_profile("default"), max_examples=5)
settings.register_profile(
    "wide",
    settings.get_profile("default"),
    derandomize=False,
    max_examples=int(os.environ.get("WIDE", "1000")),
)
settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden`: accept what the code gives now."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the files under tests/golden instead of comparing with them",
    )


MARKS = {
    "server": (
        "service/", "deploy/", "batch/engines/", "stores/lance/test_s3", "stores/postgres/",
        "cli/test_serve", "ingest/test_on_ray",
    ),
    "browser": ("docsite/test_site", "service/playground/"),
    "slow": (
        "core/chat/test_session.py::test_a_session_does_not",
        "core/chat/test_session.py::test_what_was_sent",
        "core/compact/test_processes",
        "core/formats/test_template_tokens", "core/stages/pack/test_structure.py::test_nothing_is",
        "core/stages/test_dedup_near", "core/test_assemble.py::test_more_room",
        "core/test_cite.py::test_marker_n", "core/text/shapes/test_nested_tables.py::test_time",
        "core/test_token_counter",
        "core/test_images.py::test_a_caption", "core/text/shapes/test_code_of",
        "core/text/shapes/test_dialogues",
        "core/test_metadata.py::test_sets_are_the_same",
        "core/text/test_escape.py::test_a_long", "core/text/test_sanitise.py::test_a_long",
        "core/text/test_markers.py::test_the_law_suite_notices",
        "core/text/shapes/test_hostile.py::test_time_is_linear", "laws/test_memory",
        "pipeline/test_decision_words.py::test_every_number", "pipeline/tracing/test_opentelemetry",
        "promises/test_acceptance.py::test_a_five_megabyte",
        "promises/test_acceptance.py::test_same_bytes", "promises/test_acceptance.py::test_ten_th",
        "promises/test_budgets_forging_books_citations.py::test_message_lists",
        "promises/test_budgets_of_requests", "promises/test_evidence.py::test_no_evidence",
        "promises/test_lookup_in_files", "promises/test_published_pools",
        "providers/chat/test_gguf", "providers/chat/test_keys", "providers/chat/test_sent",
        "providers/chat/test_tools.py::test_others", "providers/embedders/test_embedders",
        "providers/tokenizers/test_conformance", "providers/tokenizers/test_vocabularies",
        "stores/lance/",
        "stores/test_contract", "stores/test_damage", "stores/test_kills",
        "stores/test_machine", "stores/test_every_engine.py::test_many_processes",
        "stores/test_postings", "stores/test_search.py::test_answers_do_not", "stores/test_sizes",
        "stores/test_soak", "stores/test_transactions",
    ),
    "release": (
        "test_artefacts", "test_changelog", "test_install", "test_matrix", "test_packaging",
        "test_release",
    ),
}  # fmt: skip
"""Marks of the tests whose file and name begin so; pyproject.toml explains them."""
FIXTURES = {"postgres": "server", "chromium": "browser"}
"""Marks of the tests that take a fixture."""
TESTS = Path(__file__).parent


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a test by its file and its fixtures, so that a run can leave it out."""
    if item.path.is_relative_to(TESTS):
        place = f"{item.path.relative_to(TESTS).as_posix()}::{item.name}"
        for mark, begins in MARKS.items():
            if place.startswith(begins):
                item.add_marker(mark)
    for fixture in FIXTURES.keys() & set(getattr(item, "fixturenames", ())):
        item.add_marker(FIXTURES[fixture])


LONG = (
    *("on_ray", "service", "lance", "deploy", "postgres", "demo", "talk", "pool", "kills"),
    *("docsite", "test_docs", "gguf", "scores", "promises/", "real_docu", "compressor"),
)
"""In the paths of files that take longest: they start other programs, or prove much."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported stays, so the collector of garbage need not look for any in it, ever."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)  # behind the shuffling
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files come first, for one at the end leaves a processor with nothing to do.

    Those with a browser are behind the other long ones: it may still be on its way.
    """
    items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    if not any(part in item.nodeid.partition("::")[0] for part in LONG):
        return 2
    return 1 if item.get_closest_marker("browser") else 0


class Golden:
    """Compares a text with a file under tests/golden, or rewrites the file."""

    def __init__(self, *, update: bool) -> None:
        self.folder = Path(__file__).parent / "golden"
        self.update = update

    def check_text(self, name: str, actual: str) -> None:
        """Fail with a readable difference unless the golden file holds exactly `actual`."""
        path = self.folder / name
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(actual, encoding="utf-8", newline="\n")
        assert path.exists(), f"no golden file {name}; write it with: make golden"
        expected = path.read_bytes().decode("utf-8")
        assert actual == expected, f"tests/golden/{name} differs; accept with: make golden"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """The golden files: `golden.check_text("case/out.txt", text)`."""
    return Golden(update=request.config.getoption("--update-golden"))


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Show a figure at the end of the run: `figure("import foveate: 12 ms")`."""
    return lambda line: record_property("figure", line)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a real server, one for each worker; see postgres_server.py."""
    from postgres_server import serving

    with serving() as url:
        yield url


_SCHEMAS = count()


@pytest.fixture
def new_schema(postgres: str) -> Callable[[], str]:
    """URLs of stores on the server, each in a schema that nobody else uses."""
    return lambda: f"{postgres}&schema=test{next(_SCHEMAS)}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The figures that tests have put down, whichever worker ran them."""
    lines = [
        str(value)
        for report in terminalreporter.stats.get("passed", [])
        for name, value in report.user_properties
        if name == "figure"
    ]
    if lines:
        terminalreporter.section("figures")
        for line in sorted(lines):
            terminalreporter.write_line(line)
