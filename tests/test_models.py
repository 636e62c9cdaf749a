"""The model registry: what it must hold, what it refuses, what an unknown model gets."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from foveate.core.errors import BadInput, BadOption, ExternalError, InvalidRequest, UnknownName
from foveate.models import Model, UnknownModel, model, models, registry
from foveate.providers.tokenizers import load_tokenizer


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("mistral", 8_192),
        ("llama3.2", 128_000),
        ("llama3.2:3b", 128_000),
        ("qwen2.5:3b", 32_768),
        ("qwen2.5:14b", 128_000),
        ("deepseek-r1:8b", 128_000),
        ("gemma2:9b", 8_192),
        ("gpt-4o", 128_000),
        ("claude-sonnet-4-5", 200_000),
    ],
)
def test_promised_windows(name: str, window: int):
    """B4: the models that were promised, with their windows."""
    assert model(name).window == window


@pytest.mark.parametrize("found", models(), ids=lambda m: m.name)
def test_every_line_can_be_used(found: Model):
    """B4: every model of the file has sensible numbers and a tokenizer that counts offline."""
    assert 4_096 <= found.window <= 2_000_000
    assert (found.max_output or 1) <= found.window
    assert 0 < found.framing(2) <= 64
    assert load_tokenizer(found.tokenizer).name == found.tokenizer
    assert load_tokenizer(found.tokenizer).count("hello world") >= 2


def test_names_and_aliases_lead_to_one_model():
    """B4: a model is found by name, by alias, in any case and with space around."""
    assert model("mistral:latest") == model("mistral")
    assert model(" GPT-4o ") == model("gpt-4o")
    assert len({m.name for m in models()}) == len(models())
    assert [m.name for m in models()] == sorted(m.name for m in models())


def test_a_name_of_several_vocabularies_has_their_margin():
    """B4: `deepseek-r1:8b` was a Llama and is a Qwen, so it is counted as the larger of the two."""
    found = model("deepseek-r1:8b")
    assert found.tokenizer == model("qwen3:8b").tokenizer
    counters = [load_tokenizer(model(name).tokenizer) for name in ("qwen3", "llama3")]
    texts = ("The pump draws air. " * 20, "水泵通过磨损的密封圈吸入空气" * 9, "1 234 567\n" * 30)
    for text in texts:
        qwen, llama = (counter.count(text) for counter in counters)
        assert qwen >= 0.97 * llama
    assert model("deepseek-r1") == model("deepseek-r1:latest") == found


def test_prices_are_in_order():
    """B4, F8: where a price is known, the cache is cheaper than reading, and writing dearer."""
    priced = [found.price for found in models() if found.price is not None]

    assert len(priced) >= 20
    assert all(0 < again < read < written for read, again, written in priced)


def test_framing():
    """B4: the chat format costs so much for each message and for the answer."""
    found = Model(name="m", window=100, frame=(4, 3))
    assert found.framing(2) == 11
    assert found.framing(0) == 3


def test_an_unknown_model_is_small_and_warned_about():
    """B4: an unknown model gets 8,192 tokens and a warning that names the near miss."""
    with pytest.warns(UnknownModel, match=r"mean 'gpt-4o'\? A window of") as caught:
        found = model("gpt-4oo")
    assert (found.name, found.window) == ("gpt-4oo", 8_192)
    assert caught[0].filename == __file__
    with pytest.warns(UnknownModel, match=r"unknown model 'zzz'; a window of 8192 .* Model\("):
        assert model("zzz").window == 8_192


def test_a_known_model_does_not_warn():
    """B4: nothing is said about a model that is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model("o3").window == 200_000


def test_users_add_theirs(tmp_path: Path):
    """B4: a file of one's own adds models and replaces built-in ones; the built-in stay as is."""
    file = tmp_path / "mine.toml"
    file.write_text(
        '"mine:7b" = { window = 16_384, aliases = ["mine"] }\n'
        '[mistral]\nwindow = 32_768\ntokenizer = "simple"\nframe = [5, 5]\n'
    )
    known = registry(file)
    assert model("mine", known) == Model(name="mine:7b", window=16_384, aliases=("mine",))
    assert model("mistral", known) == Model(
        name="mistral", window=32_768, tokenizer="simple", frame=(5, 5)
    )
    assert model("gpt-4o", known) == model("gpt-4o")
    assert [m.window for m in models(file) if m.name == "mistral"] == [32_768]
    assert "mistral:latest" not in known
    assert known["mine"].tokenizer == Model(name="unknown", window=1).tokenizer
    assert model("mistral").window == 8_192
    assert {m.name for m in models(file)} == {m.name for m in models()} | {"mine:7b"}


def test_a_margin_is_named_once_and_used_by_many(tmp_path: Path):
    """B4: a file's margins stand behind the star of its tokenizers, and so do the built-in ones."""
    file = tmp_path / "mine.toml"
    file.write_text(
        "margins.house = 1.4\n"
        "a = { window = 8_192, tokenizer = 'o200k_base*house' }\n"
        "b = { window = 8_192, tokenizer = 'cl100k_base*llama-2' }\n"
    )
    known = registry(file)
    assert known["a"].tokenizer == "o200k_base*1.4"
    assert known["b"].tokenizer == model("llama2").tokenizer
    assert "margins" not in known


def test_a_registry_cannot_be_changed():
    """No global state: what is handed out is read only."""
    with pytest.raises(TypeError):
        registry()["gpt-4o"] = Model(name="gpt-4o", window=1)  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("window = \n", BadInput, "line 1"),
        ("m = 3", BadOption, "write 'm' = { window"),
        ("[m]\ntokenizer = 'simple'", BadOption, "window"),
        ("[m]\nwindow = 1\nmax_outptu = 1", UnknownName, "did you mean 'max_output'"),
        ("[m]\nwindow = 'big'", BadOption, "field 'window': must be a whole number, not str"),
        ("[m]\nwindow = true", BadOption, "field 'window': must be a whole number, not bool"),
        ("[m]\nwindow = 0", BadOption, "window is 0"),
        ("[m]\nwindow = 10\nmax_output = 11", BadOption, "max_output is 11"),
        ("[m]\nwindow = 10\nmax_input = 0", BadOption, "max_input is 0"),
        ("[m]\nwindow = 10\nframe = [1]", BadOption, "field 'frame': must be a list of 2"),
        ("[m]\nwindow = 10\nframe = [1, -1]", BadOption, "field 'frame[1]'"),
        ("[m]\nwindow = 10\naliases = ['']", BadOption, "must not be empty"),
        ("[m]\nwindow = 10\naliases = 'n'", BadOption, "field 'aliases': must be a list, not str"),
        ("margins.own = 'text:1'", BadOption, "write margins.NAME"),
        ("margins = 1.3", BadOption, "write margins.NAME"),
        ("[m]\nwindow = 10\n[n]\nwindow = 10\naliases = ['m']", BadInput, "'m' is named twice"),
    ],
)
def test_refused(tmp_path: Path, text: str, error: type[InvalidRequest], said: str):
    """X1: a models file is read strictly; the message names the model, the key and the value."""
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(error) as caught:
        registry(file)
    assert said in str(caught.value)


def test_unreadable_files(tmp_path: Path):
    """X1: a file that is not there or is not text is said so, by name."""
    with pytest.raises(ExternalError, match=r"none\.toml"):
        registry(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="not UTF-8"):
        registry(tmp_path / "bytes.toml")
