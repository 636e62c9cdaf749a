from __future__ import annotations

import logging
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import foveate
from foveate.core.errors import BadOption, ExternalError, UnknownName
from foveate.ports import Embedder
from foveate.providers.embedders import load_embedder
from foveate.providers.embedders.local import HashingEmbedder, WordLlamaEmbedder
from foveate.testing.tokenizers import samples

SOURCE = str(Path(foveate.__file__).parent.parent)
TEXTS = [
    "The harbour lamp burns all night.",
    "THE HARBOUR LAMP BURNS ALL NIGHT.",
    "Un phare éclaire le port.",
    "港の灯り",
    "",
    "x" * 3000,
    "a",
    " \n\t ",
    "lamp " * 400,
    "🙂 e\u0301",
]


@pytest.fixture(scope="module", params=["wordllama", "hashing"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    """The embedders that need neither a network nor a model of the user's."""
    return load_embedder(request.param)


def test_vectors_are_float32_of_length_one(embedder: Embedder):
    """T6: one row a text, of the promised width and length; nothing said, nothing pointed at."""
    rows = embedder.embed(TEXTS)
    assert rows.dtype == np.float32
    assert rows.shape == (len(TEXTS), embedder.dimensions)
    lengths = np.sqrt((rows.astype(np.float64) ** 2).sum(axis=1))
    assert lengths[TEXTS.index("")] == 0
    assert all(abs(length - 1) < 1e-6 for length in lengths[:4])
    assert embedder.embed([]).shape == (0, embedder.dimensions)


def test_a_vector_does_not_depend_on_its_batch(embedder: Embedder):
    """D1: alone, together, in another order: the same bits."""
    together = embedder.embed(TEXTS)
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    backwards = embedder.embed(TEXTS[::-1])[::-1]
    assert together.tobytes() == alone.tobytes() == backwards.tobytes()


@cache
def words() -> WordLlamaEmbedder:
    """The default embedder, loaded once."""
    return WordLlamaEmbedder()


@example("\u2581 0")
@given(
    text=st.one_of(st.sampled_from(samples(seed=7, count=300)), st.text(), st.text("a 1.\n\u2581é"))
)
def test_a_text_read_word_by_word_has_the_tokens_of_the_whole(text: str):
    """T6: what is kept of words changes no vector, whatever spaces and marks are around them."""
    text = text.encode("utf-8", "replace").decode().lower()
    assert list(words()._ids(text)) == words()._encode(text)


def test_a_word_is_encoded_once():
    """T2: texts of a large document repeat their words."""
    embedder = WordLlamaEmbedder()
    embedder.embed(["the lamp burns all night"] * 3)
    assert embedder._word_ids.cache_info()[:2] == (10, 5)
    embedder.embed(["it goes\nout", "at noon\nout"])
    assert embedder._word_ids.cache_info()[:2] == (11, 10)


def test_case_does_not_show(embedder: Embedder):
    """T6: an upper-cased copy is the same text to an embedder."""
    rows = embedder.embed(TEXTS[:2])
    assert rows[0].tobytes() == rows[1].tobytes()


def test_two_processes_give_the_same_bits(embedder: Embedder):
    """D1: hash seed and thread count do not show in a vector."""
    code = (
        "import sys, hashlib; from foveate.providers.embedders import load_embedder;"
        "rows = load_embedder(sys.argv[1]).embed(['The harbour lamp', 'lamp ' * 300]);"
        "print(hashlib.sha256(rows.tobytes()).hexdigest())"
    )
    kind = embedder.name.partition("/")[0].partition("-")[0]
    outputs = set()
    for seed in ("0", "5"):
        environment = {"PYTHONPATH": SOURCE, "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": seed or "1"}
        run = subprocess.run(
            [sys.executable, "-c", code, kind],
            env={"PATH": os.environ.get("PATH", ""), **environment},
            check=True,
            capture_output=True,
        )
        outputs.add(run.stdout)
    assert len(outputs) == 1


def test_the_default_knows_meaning():
    """T6: offline, a paraphrase is nearer than another subject."""
    rows = load_embedder().embed(
        ["How do cats sleep?", "Felines nap a lot.", "Tax law in Germany."]
    )
    assert float(rows[0] @ rows[1]) > float(rows[0] @ rows[2]) + 0.2


def test_names_carry_the_version():
    """D3: what goes into the state root tells the model and its version apart."""
    assert load_embedder("wordllama").name == "wordllama/l2_supercat-256@0.4.0.post1"
    assert HashingEmbedder(dimensions=64).name != HashingEmbedder().name == "hashing-256@1"


def test_the_default_leaves_logging_alone_and_opens_no_connection():
    """T6, F1: importing its package configures no logging, and loading it asks no network."""
    code = (
        "import socket, logging;"
        "socket.socket.connect = socket.create_connection = None;"
        "before = (list(logging.getLogger().handlers), logging.getLogger().level);"
        "from foveate.providers.embedders import load_embedder; load_embedder().embed(['x']);"
        "assert (logging.getLogger().handlers, logging.getLogger().level) == before;"
        "print('kept')"
    )
    environment = {"PYTHONPATH": SOURCE, "HOME": "/nowhere", "PATH": os.environ.get("PATH", "")}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=False
    )
    assert (run.stdout, run.stderr) == (b"kept\n", b"")
    assert logging.getLogger("foveate").handlers == []


@given(st.text(max_size=40), st.integers(1, 300))
def test_hashing_takes_any_text_and_width(text: str, dimensions: int):
    """T6: the embedder of the tests gives length 1 or 0, whatever the text."""
    row = HashingEmbedder(dimensions=dimensions).embed([text])[0].astype(np.float64)
    assert float(row @ row) == pytest.approx(1.0, abs=1e-5) or not row.any()


@pytest.mark.parametrize(
    ("names", "error", "said"),
    [
        (("wordlama", "openia:x", "", "cohere:x"), UnknownName, r"wordllama|openai:MODEL"),
        (("openai", "openai:", "ollama:", "wordllama:x", "hashing:"), BadOption, "write "),
        (("sentence-transformers:x",), ExternalError, "run: pip install sentence-transformers$"),
    ],
)
def test_a_name_that_gives_none_is_refused(names: tuple[str, ...], error, said: str):
    """X1: with the near miss or all there is, how it is written, or the line that installs it."""
    for name in names:
        with pytest.raises(error, match=said):
            load_embedder(name)


def test_a_width_of_nothing_is_refused():
    """X1: hashing into no bucket."""
    with pytest.raises(BadOption, match="dimensions is 0"):
        HashingEmbedder(dimensions=0)
