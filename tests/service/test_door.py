"""The border: whatever a request names, no file is opened, no address asked, no program started.

The names are of things that are really there, so that a door which opened one would answer with
it; every event by which the interpreter touches the outside is watched meanwhile.
"""

from __future__ import annotations

import dataclasses
import json
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread
from threading import enumerate as enumerate_threads
from typing import Any, get_type_hints

import pytest

from command_line import CHUNKS, QUERY
from foveate.core.errors import BadInput, BadOption, BudgetTooSmall, InvalidRequest
from foveate.core.formats import BUILTIN as FORMATS
from foveate.core.stages import BUILTIN as STAGES
from foveate.service.app_state import AppState
from foveate.service.auth.caller import Caller
from foveate.service.request_options import RequestOptions
from foveate.service.routes.assemble import assemble_request
from foveate.service.settings import Settings
from foveate.service.wire.requests import AssembleRequest
from service_server import problem
from source_tree import PACKAGE

OUTSIDE = (
    "open", "os.listdir", "os.scandir", "os.putenv", "os.system", "os.exec", "subprocess.Popen",
    "socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "urllib.Request",
    "sqlite3.connect", "ctypes.dlopen", "tempfile.mkstemp",
)  # fmt: skip
EXPORTERS = ("Otel", "foveate-traces")  # how their threads are called
INSIDE = ("import", "exec", "compile")  # numpy and typing do so by themselves, as they need it


class Watch:
    """What the interpreter touches while somebody looks. A hook cannot be taken away again.

    An exporter of traces that an earlier test left may still try its closed collector; its threads
    are not what is watched. One that begins meanwhile is.
    """

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] | None = None
        left = (one for one in enumerate_threads() if one.name.startswith(EXPORTERS))
        self.left_over = frozenset(left)
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.seen is None or event not in (*OUTSIDE, *INSIDE):
            return
        if current_thread() not in self.left_over:
            self.seen.append((event, str(arguments[:1])))

    @contextmanager
    def nothing(self, listener: socket.socket, name: str) -> Iterator[None]:
        """No file, no address, no program; and what is loaded does not bear the name."""
        self.seen = seen = []
        try:
            yield
        finally:
            self.seen = None
        assert [event for event in seen if event[0] in OUTSIDE and not _code(event[1])] == []
        assert [event for event in seen if len(name) > 3 and name in event[1]] == []
        with pytest.raises(BlockingIOError):
            listener.accept()


def _code(what: str) -> bool:
    """Whether it is a file of an installed package, which is loaded when it is first needed."""
    return any(root in what for root in (sys.prefix, sys.base_prefix, str(PACKAGE)))


@pytest.fixture(scope="module")
def watch() -> Watch:
    """Whoever looks at what the interpreter touches."""
    return Watch()


@pytest.fixture(scope="module")
def bait(tmp_path_factory) -> dict[str, str]:
    """Files that would do, were they opened, and an address that somebody listens on."""
    folder = tmp_path_factory.mktemp("bait")
    (folder / "mine.toml").write_text(
        'name = "mine"\nformat = "minimal"\nstages = ["pack"]\n', encoding="utf-8"
    )
    (folder / "prompt.md").write_text("Answer with what you read.", encoding="utf-8")
    (folder / "tokenizer.json").write_text(
        json.dumps({"version": "1.0", "model": {"type": "WordLevel", "vocab": {"a": 0}}}),
        encoding="utf-8",
    )
    return {path.stem: str(path) for path in folder.iterdir()}


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    """Somebody who would notice being asked."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


def names(bait: dict[str, str], listener: socket.socket) -> list[str]:
    """What one may try."""
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    found = [*bait.values(), *(Path(path).name for path in bait.values())]
    for path in (bait["mine"], bait["tokenizer"]):
        relative = Path(path).name
        found += [f"./{relative}", f"file:{path}", f"file://{path}", f"hf:{path}", f"gguf:{path}",
                  f"attention:{path}", f"{path}\0", f"{path}*1.3", f"{url}/{relative}"]  # fmt: skip
    found += [f"openai:m@{url}", f"ollama:m@{url}"]
    return [
        *found, "/etc/passwd", "../../../../etc/passwd", "/dev/zero", "/proc/self/environ",
        "~/.ssh", "attention:", "attention:/etc/passwd", "attention:\0",
        "hf:", "gguf:", "anthropic:claude-sonnet-4", "cl100k_base*nan", "cl100k_base*1e9",
        "a\0b", "\0", ".", "..", "__class__", "mine", "${HOME}",
        "default ", "DEFAULT", "default\n", "a" * 200, "\u202e\u0000", "os.system", "sqlite:x",
    ]  # fmt: skip


FIELDS = ("recipe", "tokenizer", "model", "format", "order", "prompt", "language")


def ask(service, body: dict[str, Any], at: str = "/v1/assemble"):
    """The answer to a body that no client library has touched."""
    return service.post(
        at, content=json.dumps(body).encode(), headers={"Content-Type": "application/json"}
    )


@pytest.fixture(scope="module")
def warm(service, bundle):
    """Everything that a good request needs is loaded."""
    for body in ({"recipe": "tight"}, {"tokenizer": "simple"}, {"order": "attention"},
                 {"prompt": "strict"}, {"model": "gpt-4o"}, {"language": "nl"}):  # fmt: skip
        good = {"query": QUERY, "candidates": CHUNKS, **body}
        assert service.post("/v1/assemble", json=good).status_code == 200
    ask(service, {"query": QUERY, "candidates": CHUNKS, "recipe": "nothing"})
    ask(service, {"bundle": bundle}, "/v1/replay")
    return service


@pytest.fixture(scope="module")
def bundle(service) -> dict[str, Any]:
    """A bundle that the service made."""
    body = {"query": QUERY, "candidates": CHUNKS[:2], "bundle": True}
    return service.post("/v1/assemble", json=body).json()["bundle"]


@pytest.mark.parametrize("field", FIELDS)
def test_a_name_that_is_a_path_or_an_address_is_unknown(warm, watch, bait, listener, field):
    """X4: in every field that takes a name; a detail holds what was sent, and no path beside it."""
    for name in names(bait, listener):
        with watch.nothing(listener, name):
            answer = ask(warm, {"query": QUERY, "candidates": CHUNKS, field: name})

        assert answer.status_code in {400, 422}, (field, name, answer.text)
        if field == "recipe":
            said = problem(answer)
            assert "/" not in said["detail"].replace(repr(name), "")
            assert not any("/" in known for known in said.get("known", []))


def recipes(name: str) -> list[dict[str, Any]]:
    """Inline recipes that hold the name wherever one can stand."""
    base = {"name": "own", "format": "minimal", "stages": ["pack"]}
    stages = [
        {"use": name},
        {"use": "order", "by": f"attention:{name}"},
        {"use": "order", "by": "attention", "groups": name},
        {"use": "supplement_gate", "path": name},
        {"use": "compress", "offer": name},
        {"use": "dedup_near", "method": name},
        {"use": "pack", "policy": name},
    ]
    formats = [name, {"name": name}, {"name": "numbered", "template": name}]
    parts = ("tokenizer", "budget", "cite", "path")
    return [
        *({**base, part: name} for part in parts),
        {"include": name},
        *({**base, "stages": [one]} for one in (name, *stages)),
        *({**base, "format": one} for one in (*formats, {"name": "numbered", "page": name})),
        {**base, "budget": {"documents": name}},
    ]


def test_an_inline_recipe_names_nothing_outside(warm, watch, bait, listener):
    """X4: neither its stages and options, nor its format, tokenizer or budget reach outside."""
    for name in (bait["mine"], bait["tokenizer"], f"hf:{bait['tokenizer']}", "/etc/passwd"):
        for recipe in recipes(name):
            with watch.nothing(listener, name):
                answer = ask(warm, {"query": QUERY, "candidates": CHUNKS, "recipe": recipe})

            assert answer.status_code == 400, (recipe, answer.text)


def test_a_bundle_passes_the_same_door(warm, bundle, watch, bait, listener):
    """X4, D4: what a bundle names is looked up as what a request names."""
    for name in (bait["tokenizer"], f"hf:{bait['tokenizer']}", bait["mine"], "/etc/passwd"):
        hostile = [{**bundle, "recipe": recipe} for recipe in recipes(name)[1:]]
        hostile += [{**bundle, "recipe": name}, {**bundle, "language": name}]
        hostile += [{**bundle, "manifest": {**bundle["manifest"], "tokenizer": name}}]
        for one in hostile:
            for at, body in (
                ("/v1/replay", {"bundle": one}),
                ("/v1/check-answer", {"bundle": one, "answer": "It is so [1]."}),
            ):
                with watch.nothing(listener, name):
                    answer = ask(warm, body, at)

                assert answer.status_code == 400, (at, name, answer.text)


def test_names_in_candidates_are_words(warm, watch, bait, listener):
    """X4: a source, a title or metadata that is a path or an address is shown, not opened."""
    for name in names(bait, listener):
        chunk = {"text": "Of the pressure.", "metadata": {"path": name, "url": name}}
        body = {"query": QUERY, "candidates": [{**chunk, "source": name, "title": name}]}
        with watch.nothing(listener, name):
            answer = ask(warm, body)

        assert answer.status_code == 200, answer.text
        if name.isprintable():  # else what is not is made visible
            assert answer.json()["blocks"][0]["source"] == name


ODD = (None, True, -1, 0, 3, 10**30, -(10**30), 0.5, 1e308, -1e308, 5e-324, "", "x", [], ["x"],
       [1, 2], {}, [[]], "none")  # fmt: skip


def odd_options() -> Iterator[dict[str, Any]]:
    """Every option of every stage and format, with every odd value."""
    base = {"name": "own", "format": "minimal", "stages": ["pack"]}
    for name, stage in STAGES.items():
        for field in dataclasses.fields(stage):
            for value in ODD:
                yield {**base, "stages": [{"use": name, field.name: value}, "pack"]}
    for name, format_ in FORMATS.items():
        for option in get_type_hints(format_):
            for value in ODD:
                yield {**base, "format": {"name": name, option: value}}
    for value in ODD:
        yield {**base, "stages": value}
        yield {**base, "format": value}
        for key in ("name", "description", "cite", "summary_label",
                    "include_metadata", "tokenizer"):  # fmt: skip
            yield {**base, key: value}
    yield {**base, "stages": ["pack"] * 33}
    yield {**base, "stages": ["pack"] * 32}


def test_no_option_of_an_inline_recipe_is_a_fault():
    """X1, X2: whatever an option is, there is a context, or an error of the caller's."""
    held = AppState(Settings(store="", cache=""))
    caller = Caller(key_id=None, tenant="default", principals=(), scopes=frozenset())
    made, refused = 0, 0
    for recipe in odd_options():
        asked = AssembleRequest(query=QUERY, candidates=CHUNKS[:3], recipe=recipe, budget=60)
        try:
            assemble_request(held, caller, asked)
            made += 1
        except (InvalidRequest, BudgetTooSmall):
            refused += 1
        except Exception as error:  # noqa: BLE001  # whatever it is, it is said with its recipe
            pytest.fail(f"{recipe}: {error!r}")

    assert made > 100
    assert refused > 100


@pytest.mark.parametrize("pool", ["candidates", "neighbours", "supplements", "offers"])
def test_a_bundle_is_no_larger_than_what_may_be_sent(bundle, pool):
    """X2, X4: nothing of it is read that would be refused without a bundle."""
    door = RequestOptions(Settings(store="", candidates=1))
    many = {**bundle, pool: [None] * 7}

    with pytest.raises(BadInput, match=f"more than 6 {pool}"):
        door.parse_bundle(many)
    with pytest.raises(BadOption, match="33 stages"):
        door.parse_bundle({**bundle, "recipe": {**bundle["recipe"], "stages": ["group"] * 33}})
