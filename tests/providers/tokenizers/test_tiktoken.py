"""tiktoken's two ways to fail, with a stand-in for the package: no tables, and a panic."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from foveate.core.errors import ExternalError
from foveate.providers.tokenizers import openai as adapter
from foveate.providers.tokenizers.openai import Tiktoken, Toktok


class PanicException(BaseException):
    """Called like what a Rust extension raises."""


class Encoding:
    def encode_ordinary(self, text: str) -> list[int]:
        """As many numbers as there are tokens; a panic for a long text."""
        if len(text) > 1_000:
            raise PanicException("regex stack overflow")
        return [0] * Toktok(name="cl100k_base").count(text)


@pytest.fixture
def tables(monkeypatch):
    """A stand-in for the package; what it hands out can be changed by the test."""
    package = SimpleNamespace(get_encoding=lambda name: Encoding())
    monkeypatch.setitem(sys.modules, "tiktoken", package)
    adapter._load_tiktoken.cache_clear()
    yield package
    adapter._load_tiktoken.cache_clear()


def test_counts_and_cuts(tables):
    """B5: the ordinary encoder is asked; a cut is a prefix that fits."""
    tokenizer = Tiktoken(name="cl100k_base")
    assert tokenizer.count("<|endoftext|>") == 7
    assert tokenizer.truncate("hello world", 1) == "hello"
    assert tokenizer.fingerprint == Toktok(name="cl100k_base").fingerprint


def test_a_panic_is_an_outside_failure(tables):
    """X1: a panic, which is no Exception, becomes an error with what to install."""
    with pytest.raises(ExternalError, match="gave up on a text of 2000 characters"):
        Tiktoken(name="cl100k_base").count(" " * 2_000)


def test_an_interrupt_passes(tables):
    """A keyboard interrupt is nobody's panic."""

    def interrupted(text: str) -> list[int]:
        raise KeyboardInterrupt

    tables.get_encoding = lambda name: SimpleNamespace(encode_ordinary=interrupted)
    with pytest.raises(KeyboardInterrupt):
        Tiktoken(name="cl100k_base").count("text")


def test_tables_that_cannot_be_had(tables):
    """X1: without network and cache the message says where to put the tables."""

    def offline(name: str) -> Encoding:
        raise ConnectionError("no route")

    tables.get_encoding = offline
    with pytest.raises(ExternalError, match="TIKTOKEN_CACHE_DIR"):
        Tiktoken(name="cl100k_base").count("text")
