"""Values of a wrong type are refused where they are passed, with what to pass."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import foveate
from command_line import CHUNKS, QUERY
from foveate import AssembleOptions, Assembler, BadInput, BadOption, FoveateError, assemble
from foveate.answer.ask import AskOptions
from foveate.core.chat.session import TokenPrices
from foveate.testing.fakes import ScriptedModel


@pytest.mark.parametrize("store", ["shelf", Path("shelf")])
def test_a_path_is_no_store(store):
    """X1: the error gives the call that opens it."""
    with pytest.raises(BadOption, match=r"open it first: foveate.open_store\('shelf'\)"):
        Assembler(store)


def test_a_document_store_assembles_by_itself(tmp_path):
    """X1: what `open_store` gives has an assembler; its `.store` is a store."""
    opened = foveate.open_store(tmp_path / "shelf", embedder=_NoVectors())

    with opened, pytest.raises(BadOption, match=r"call its assemble\(\), or pass its .store"):
        Assembler(opened)


def test_swapped_arguments_are_named():
    """X2: the question comes first, then a list of candidates."""
    with pytest.raises(BadInput, match="field 'query': must be the question as a string, not list"):
        assemble(CHUNKS, QUERY)
    with pytest.raises(BadInput, match="give a list of candidates after the question, not a str"):
        assemble(QUERY, QUERY)
    with pytest.raises(BadInput, match="field 'messages': must be a list of messages, not int"):
        foveate.compact(100, CHUNKS)


@pytest.mark.parametrize("options", [60, {"budget": 60}, {}])
def test_options_are_named(options):
    """X1: a budget without its name, or fields in a mapping, get the call that is meant."""
    with pytest.raises(BadOption, match=r"options is .*; name what you give, as in .*budget=60"):
        assemble(QUERY, CHUNKS, options)
    with pytest.raises(BadOption, match="options is "):
        Assembler(options=options)


@pytest.mark.parametrize("context", ["the text", {"text": "the text"}, None])
def test_only_a_context_is_a_context(context):
    """X2: its text or its JSON is refused by each function that takes one."""
    model = ScriptedModel(says=lambda messages: "Yes [1].")
    words = "field 'context': give the Context that assemble returned, not"

    with pytest.raises(BadInput, match=words):
        foveate.messages(context)
    with pytest.raises(BadInput, match=words):
        foveate.ask(context, model)
    with pytest.raises(BadInput, match=words):
        foveate.check_answer("Yes [1].", context)


class _NoVectors:
    name, dimensions = "none@1", 4

    def embed(self, texts):
        return [[0.0] * 4 for _ in texts]


class _Odd:
    """Nothing that any option could be."""


ODD = (None, -1, 1.5, True, "x", b"x", [None], {1: 2}, _Odd(), _Odd)
SAID = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
CONTEXT = assemble(QUERY, CHUNKS, budget=99)
MODEL = ScriptedModel(says=lambda messages: "Yes [1].")
ORDERS = [{"role": "user", "content": "Order 44 2231 9087 again, please. " * 40}]
OPTIONS = tuple(AssembleOptions.__dataclass_fields__)
CALLS: dict[str, tuple[Callable[..., object], dict[str, Any], tuple[str, ...]]] = {
    "assemble": (assemble, {"query": QUERY, "candidates": CHUNKS}, OPTIONS),
    "converse": (
        foveate.converse,
        {"query": QUERY, "candidates": CHUNKS, "budget": 99},
        (*OPTIONS, "turns", "history", "zones", "summariser"),
    ),
    "proceed": (
        foveate.proceed,
        {"session": foveate.Session(), "query": QUERY, "candidates": CHUNKS, "budget": 400},
        ("store", "history", "summariser", "zones", "pace", "prices", "current", "state_root"),
    ),
    "compact": (foveate.compact, {"messages": SAID, "budget": 60}, ()),
    "expand": (foveate.expand, {"handle": "x", "originals": {"x": "A text. " * 40}}, ()),
    "observed": (foveate.observed, {"usage": {"prompt_tokens": 640}, "sent": ORDERS}, ()),
    "messages": (foveate.messages, {"context": CONTEXT}, ()),
    "ask": (foveate.ask, {"context": CONTEXT, "model": MODEL}, ()),
    "AskOptions": (AskOptions, {}, ()),
    "TokenPrices": (TokenPrices, {}, ()),
    "Compressor": (foveate.Compressor, {"model": MODEL}, ()),
    "Assembler": (Assembler, {}, ()),
}


@pytest.mark.filterwarnings("ignore::foveate.models.UnknownModel")
@pytest.mark.parametrize("name", CALLS)
def test_whatever_an_argument_is_there_is_an_answer_or_a_clear_error(name):
    """X1: no argument of a wrong type ends in an error of Python's own, from deep within."""
    call, usual, more = CALLS[name]
    named = [one.name for one in signature(call).parameters.values() if one.kind != one.VAR_KEYWORD]
    for argument in (*named, *more):
        for value in ODD:
            try:
                call(**{**usual, argument: value})
            except FoveateError:
                continue
            except Exception as error:  # noqa: BLE001  # whatever it is, its argument is said
                pytest.fail(f"{name}({argument}={value!r}): {error!r}")


def test_a_wrong_argument_is_told_what_it_must_be(tmp_path):
    """X1: by its name, with what may be passed and what was."""
    with pytest.raises(BadOption, match="embedder must be a string or an Embedder, not None"):
        foveate.open_store(tmp_path / "new", embedder=None)
    with pytest.raises(BadOption, match="zones must be a FlexibleBudget or True or False, not 3"):
        foveate.converse(QUERY, CHUNKS, zones=3)
    with pytest.raises(BadOption, match="pinned must be a list of whole numbers, not 5"):
        foveate.compact(SAID, 60, pinned=5)
    with pytest.raises(BadOption, match="where must be a mapping or None, not 5"):
        assemble(QUERY, CHUNKS, where=5)
    with pytest.raises(BadOption, match="paths must be a string or a Path or a list, not 7"):
        foveate.open_store(tmp_path / "new", embedder=_NoVectors()).index(7)


class _Client:
    """A client whose `repr` shows its key."""

    def __repr__(self):
        return f"Client(api_key={SECRET!r})"


SECRET = "sk-999"


@pytest.mark.parametrize(
    "value", [_Client(), {"api_key": SECRET}, [SECRET], SECRET.encode(), SECRET]
)
def test_an_error_shows_no_secret(value):
    """X5: what stands in a wrong place is named by its type; a wrong name of a list is shown."""
    said = []
    for wrong in (
        lambda: foveate.Compressor(model=value),
        lambda: AskOptions(timeout=value),
        lambda: Assembler(store=None, embedder=value),
        lambda: Assembler(store=None, reranker=value),
        lambda: Assembler(store=f"postgresql://user:{SECRET}@host/db"),
        lambda: assemble(QUERY, CHUNKS, max_output=value),
        lambda: assemble(QUERY, CHUNKS, value),
    ):
        with pytest.raises(FoveateError) as caught:
            wrong()
        said.append(str(caught.value))

    assert not [one for one in said if SECRET in one]
    assert said[3] == f"reranker must be a Reranker or None, not {type(value).__name__}"
    with pytest.raises(BadOption, match="channel must be one of 'text', 'voice', not 'vioce'"):
        AskOptions(channel="vioce")


def test_an_instant_may_be_a_date_or_a_text():
    """X1: the day's beginning, or what ISO 8601 says; without a language it is English."""
    day = datetime(2024, 1, 2)  # noqa: DTZ001
    for instant in (day, day.date(), "2024-01-02", "2024-01-02T00:00:00"):
        assert AssembleOptions(instant=instant).instant == day
    assert AssembleOptions(language=None).language == "en"
    with pytest.raises(BadOption, match="instant must be a datetime or None, not str"):
        AssembleOptions(instant="soon")
