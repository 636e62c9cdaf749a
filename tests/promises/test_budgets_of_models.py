"""Budgets measured for a model, and presets."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core import zones
from foveate.core.errors import BadOption, BudgetTooSmall
from foveate.models import Model, UnknownModel, model
from foveate.pipeline.budget import Budget
from foveate.providers.tokenizers import load_tokenizer

MODEL = Model(name="m", window=8_192, max_output=2_048, tokenizer="cl100k_base", frame=(4, 3))


def test_defaults():
    """B2: the zones of a 128k model."""
    budget = Budget()
    assert (budget.system, budget.documents, budget.conversation) == (4_000, 32_000, 8_000)
    assert (budget.query, budget.generation, budget.buffer) == (1_000, 4_000, 1_000)
    assert Budget().total == 50_000


def test_for_model_measures():
    """B2: the real system prompt and query are measured; documents get what is left."""
    prompt, query = "Answer from the context only.", "When does the library open?"
    count = load_tokenizer("cl100k_base").count
    budget = Budget.for_model(MODEL, system_prompt=prompt, query=query)
    assert budget.documents == 8_192 - count(prompt) - count(query) - 1_024 - 64
    assert (budget.window, budget.generation, budget.conversation) == (8_192, 1_024, 0)
    assert budget.total == 8_192


def test_for_model_by_name():
    """B2: the model's own tokenizer measures, unless another is given."""
    prompt = "You answer in one sentence. " * 20
    own = Budget.for_model("mistral", system_prompt=prompt)
    other = Budget.for_model("mistral", system_prompt=prompt, tokenizer=load_tokenizer("simple"))
    assert own.system == load_tokenizer(model("mistral").tokenizer).count(prompt) + 8
    assert other.system == load_tokenizer("simple").count(prompt) + 8
    with pytest.warns(UnknownModel):
        assert Budget.for_model("nobody-knows-it").window == 8_192


@given(
    system_prompt=st.text(max_size=300),
    query=st.text(max_size=100),
    max_output=st.integers(1, 2_048),
    overhead=st.integers(0, 200),
    frame=st.tuples(st.integers(0, 20), st.integers(0, 20)),
)
def test_the_whole_request_fits(system_prompt, query, max_output, overhead, frame):
    """B1: prompt, query, full documents and chat framing fit window - generation - buffer."""
    known = dataclasses.replace(MODEL, frame=frame)
    budget = Budget.for_model(
        known,
        system_prompt=system_prompt,
        query=query,
        max_output=max_output,
        overhead=overhead,
    )
    count = load_tokenizer(known.tokenizer).count
    sent = count(system_prompt) + count(query) + known.framing(2) + (budget.documents or 0)
    assert sent <= known.window - budget.generation - budget.buffer
    assert budget.total == known.window
    assert budget.buffer == max(0, overhead - known.framing(2))


def test_a_limit_on_the_prompt():
    """B4: where a provider limits the prompt apart from the window, the lower limit holds."""
    known = Model(name="m", window=400_000, max_input=272_000, max_output=128_000)
    budget = Budget.for_model(known, query="q")
    assert budget.total - budget.generation == 272_000
    assert Budget.for_model(known, query="q", max_output=128_000).total == 400_000


def test_nothing_left():
    """B2: where nothing is left it says what takes the room, and how much would do."""
    with pytest.raises(BudgetTooSmall, match="system prompt 8") as caught:
        Budget.for_model(MODEL, system_prompt="word " * 8_000)
    assert (caught.value.budget, caught.value.needed) == (8_192, 8_001 + 4 + 7 + 1_024 + 53 + 1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_output": 2_049}, "writes at most 2048"),
        ({"max_output": 0}, "max_output 0"),
        ({"overhead": -1}, "overhead -1"),
    ],
)
def test_for_model_refuses(options: dict[str, int], said: str):
    """X1: more output than the model writes, and amounts that are none, are refused."""
    with pytest.raises(BadOption, match=said):
        Budget.for_model(MODEL, **options)


def test_presets():
    """B3: more documents, more conversation, or none, in the same window."""
    usual = Budget()
    analytical, chat, single = Budget.analytical(), Budget.support_chat(), Budget.single_turn()
    assert analytical.documents > usual.documents
    assert analytical.conversation < usual.conversation
    assert chat.conversation > usual.conversation
    assert chat.documents < usual.documents
    assert single.conversation == 0
    assert single.total == usual.total
    assert {b.window for b in (analytical, chat, single)} == {128_000}


@pytest.mark.parametrize("make", [Budget.analytical, Budget.support_chat, Budget.single_turn])
def test_a_sum_over_the_window_is_refused(make):
    """B2: zones that do not fit the window are refused with the difference."""
    assert make(200_000).window == 200_000
    with pytest.raises(BadOption, match=r"the window is 8192; take \d+ tokens"):
        make(8_192)
    with pytest.raises(BadOption, match="take 1 tokens"):
        Budget(documents=1_000, window=18_999)


@pytest.mark.parametrize("documents", [500, 8_000, 16_000])
def test_document_first(documents: int):
    """B3: the document zone may be 500 to 16,000 tokens, and is 8,000 by default."""
    assert Budget.document_first(documents) == Budget.of(documents)
    assert Budget.document_first().documents == 8_000


@pytest.mark.parametrize("documents", [0, 499, 16_001])
def test_document_first_refuses(documents: int):
    """B3: outside the range the size is refused and the range named."""
    with pytest.raises(BadOption, match="500 to 16000"):
        Budget.document_first(documents)


def test_of():
    """B2: so many tokens for the context, nothing said about the rest."""
    budget = Budget.of(800)
    assert (budget.documents, budget.total, budget.window) == (800, 800, None)
    with pytest.raises(BadOption, match="documents is 0"):
        Budget.of(0)


def test_from_total():
    """P1: cfs-021 leaves documents the total less 200 system, 100 query and 500 response."""
    budget = Budget.from_total(4_000)
    assert (budget.documents, budget.window, budget.total) == (3_200, 4_000, 4_000)
    assert (budget.system, budget.query, budget.generation) == (200, 100, 500)
    assert Budget.from_total(100, system=0, query=0, generation=0).documents == 100
    with pytest.raises(BudgetTooSmall) as caught:
        Budget.from_total(800)
    assert caught.value.needed == 801


@given(documents=st.integers(1, 90_000), system=st.integers(0, 9_000), other=st.integers(0, 9_000))
def test_equal_to_a_core_budget_of_the_same_zones(documents: int, system: int, other: int):
    """A budget is its zones: which class made it does not matter, in sets and on both sides."""
    ours = Budget(documents=documents, system=system)
    core = zones.Budget(documents=documents, system=system)
    assert ours == core
    assert core == ours
    assert hash(ours) == hash(core)
    assert {ours, core} == {core}
    assert repr(ours) == repr(core)
    assert (ours == zones.Budget(documents=documents, system=other)) == (system == other)
    assert ours != documents


def test_a_value():
    """A budget is frozen, copies, pickles, and stays what it is under replace."""
    budget = Budget.of(800)
    assert pickle.loads(pickle.dumps(budget)) == budget
    assert copy.copy(budget) == budget
    assert dataclasses.replace(budget, documents=900) == Budget.of(900)
    assert isinstance(dataclasses.replace(budget, documents=900), Budget)
    with pytest.raises(dataclasses.FrozenInstanceError):
        budget.documents = 5  # type: ignore[misc]
