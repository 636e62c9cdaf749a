"""The cases of the fuzzer that are message lists of agents: whole and spoiled, in every form.

Each is held against what `compact` promises. Whether a provider takes it is asked of the provider's
own request types.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from pydantic import ValidationError

from foveate import BadInput, BudgetTooSmall, Compacted, compact
from foveate.core.compact.shorten import result_handle
from foveate.core.json_text import compact_json
from foveate.core.seal import content_hash
from foveate.providers.tokenizers import load_tokenizer
from message_lists import (
    FORMS,
    PIXEL,
    damage,
    least_tokens,
    make_steps,
    orphans,
    parts,
    spell,
    take_turns,
)
from provider_types import HAS_GOOGLE, check_request

SYSTEM = "You book boats. Never promise a refund."
UNTYPED = {"openai": {"compaction", "unknown", "thinking"}}
"""Steps that a provider's own types do not know, and that compatible servers do."""
BRIDGE = "[\u2026]"
"""What takes the turn of the other side between two messages."""
SAME = "[same as a later result; expand "


@dataclass(frozen=True, slots=True)
class ListCase:
    """One list with its options, and how to make it again; `typed`: its provider takes it."""

    seed: int
    form: str
    messages: list[dict[str, Any]]
    options: dict[str, Any]
    typed: bool

    @property
    def name(self) -> str:
        """What is said of the case when it breaks a promise."""
        return f"{self.form}, {self.options}"

    def compact(self, **other: Any) -> Compacted:
        """The list that fits."""
        return compact(self.messages, form=self.form, **{**self.options, **other})


def make(seed: int) -> ListCase:
    """The case of that seed: the forms go round, and every second list is spoiled."""
    dice = Random(seed)
    form = FORMS[seed % len(FORMS)]
    steps = make_steps(dice)
    messages = spell(steps, form, SYSTEM if dice.random() < 0.5 else "")
    whole = seed // len(FORMS) % 2 == 0
    if not whole:
        messages = damage(dice, messages)
    tokenizer = dice.choice(("cl100k_base", "o200k_base", "simple"))
    size = load_tokenizer(tokenizer).count(compact_json(messages))
    tools = [{"name": "read"}] if dice.random() < 0.2 else []
    places = range(-len(messages), len(messages))
    options = {
        "budget": max(1, round(size * dice.choice((0.1, 0.3, 0.5, 0.7, 1.1)))),
        "tokenizer": tokenizer,
        "tools": tools,
        "pinned": [dice.choice(places)] if places and dice.random() < 0.2 else [],
        "slack": dice.choice((None, None, 0, 50)),
    }
    known = UNTYPED.get(form, set())
    typed = whole and not any(step.kind in known for step in steps)
    return ListCase(seed, form, messages, options, typed)


def attempt(case: ListCase) -> Compacted | BadInput | BudgetTooSmall:
    """The list compacted, or why it cannot be."""
    try:
        return case.compact()
    except (BadInput, BudgetTooSmall) as error:
        return error


def check(case: ListCase, elsewhere: Iterator[str] | None = None) -> str:
    """Compact the list and hold it to the promises; the outcome in a word.

    `elsewhere`: hashes of what another process made of the same lists.
    """
    came = json.dumps(case.messages)
    accepted = takes(case.form, case.messages)
    assert accepted or not case.typed, "the provider does not take the list that came"
    made = attempt(case)
    assert json.dumps(case.messages) == came, "the list that came is changed"
    same = elsewhere is None or next(elsewhere) == outcome_hash(made)
    assert same, "another process makes something else of it"
    if isinstance(made, BudgetTooSmall):
        _check_needed(case, made)
        return "too small"
    if isinstance(made, BadInput):
        assert orphans(case.messages), "refused without a reason"
        return "refused"
    _check_sums(made, case.options["budget"])
    _check_books(case, made)
    if made.notes["before"] + made.tools_token_count <= case.options["budget"]:
        assert not made.changed, "it fitted, and was changed"
        assert json.dumps(made.messages) == came, "it fitted, and comes back otherwise"
        return "unchanged"
    assert orphans(made.messages) == [], "half of a call is sent"
    assert not accepted or takes(case.form, made.messages), "the provider refuses the list"
    _check_pointers(made)
    _check_turns(case, made)
    if case.seed // 8 % 4 == 0:
        check(cut_again(case, made))
    return "fitted"


def cut_again(case: ListCase, made: Compacted) -> ListCase:
    """What came out as a list that comes, in two thirds of its tokens."""
    options = {**case.options, "budget": max(1, made.token_count * 2 // 3), "pinned": []}
    seed = case.seed + 8  # which is not cut a third time
    return replace(case, seed=seed, messages=made.messages, options=options, typed=False)


def takes(form: str, messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the provider's own types take the messages, with no key that they do not know.

    Google's are in the environment of `make newest`, whose tests hold its form to them.
    """
    if form == "gemini" and not HAS_GOOGLE:
        return True
    try:
        check_request(f"{form} list", messages)
    except (ValidationError, AssertionError):
        return False
    return True


def outcome_hash(made: Compacted | BadInput | BudgetTooSmall) -> str:
    """The hash of all that comes out, the same in every process."""
    if not isinstance(made, Compacted):
        return content_hash(str(made))
    return content_hash(compact_json([made.messages, repr(made.manifest), repr(made.decisions)]))


@contextmanager
def elsewhere(cases: int, seed: int) -> Iterator[Iterator[str]]:
    """The hashes of the cases from `seed` on, as a process with another hash seed makes them."""
    words = [sys.executable, __file__, str(cases), str(seed)]
    path = os.pathsep.join(sys.path)
    env = {**os.environ, "PYTHONHASHSEED": "4711", "PYTHONPATH": path}
    with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, encoding="utf-8") as other:
        assert other.stdout is not None
        try:
            yield map(str.strip, other.stdout)
        finally:
            other.kill()


def _check_needed(case: ListCase, error: BudgetTooSmall) -> None:
    """A1: the budget that the error names does, and one less does not."""
    assert error.needed > error.budget, "needed is no more than the budget"
    _check_sums(case.compact(budget=error.needed), error.needed)
    less = error.needed - 1
    try:
        assert not less or not case.compact(budget=less), "a smaller budget does"
    except BudgetTooSmall:
        return


def _check_sums(made: Compacted, budget: int) -> None:
    """A1, A7: the list counted anew, and its texts alone, within the budget with the tools."""
    again = compact(made.messages, budget=10**9, form=made.form, tokenizer=made.tokenizer)
    assert made.token_count == again.token_count, "wrong count"
    assert made.token_count + made.tools_token_count <= budget, "over budget"
    count = load_tokenizer(made.tokenizer).count
    assert least_tokens(made.messages, count) <= made.token_count, "less than the texts"


def _check_books(case: ListCase, made: Compacted) -> None:
    """A1, A2: each message and each block of a result has one decision, which is what happened."""
    decisions: dict[int, list[str]] = {n: [] for n in range(len(case.messages))}
    reasons = {}
    for decision in made.decisions:
        name, _, block = decision.chunk_id.removeprefix("message ").partition(", block ")
        decisions[int(name) - 1].append(decision.action)
        reasons[int(name) - 1, block] = decision.reason
    assert len(reasons) == len(made.decisions), "decided twice"
    shown = [n for n in made.places if n >= 0]
    assert shown == sorted(set(shown)), "in another order"
    added = [text for n, m in zip(made.places, made.messages, strict=True) if n < 0
             for _, _, text in parts([m])]  # fmt: skip
    others = [text for text in added if text != BRIDGE]
    assert others == [made.ledger] * bool(made.ledger), "a ledger that is none"
    for n, (message, actions) in enumerate(zip(case.messages, decisions.values(), strict=True)):
        blocks = [part for part in parts([message]) if part[0] == "result"]
        assert len(actions) >= 1, "a message without a decision"
        assert len(actions) - 1 in (0, len(blocks)), "a result without a decision"
        assert ("dropped" in actions) == (n not in shown), "sent, and said to be left out"
        if n in shown:
            sent = made.messages[made.places.index(n)]
            assert sent is message or set(actions) != {"kept"}, "kept, and written otherwise"
            assert json.dumps(sent).count(PIXEL) == json.dumps(message).count(PIXEL), "no image"
    for n in case.options["pinned"]:
        place = n % len(case.messages)
        fate = decisions[place], reasons[place, ""]
        assert set(fate[0]) == {"kept"} or fate[1] == "message_orphaned", "a pinned one is lost"
    total = sum(d.numbers["shown"] for d in made.decisions)
    assert total <= case.options["budget"], "decisions show more than the budget"


def _check_turns(case: ListCase, made: Compacted) -> None:
    """A12: roles take turns as they did, as long as there is room for what stands in between."""
    room = case.options["budget"] - made.token_count - made.tools_token_count
    if take_turns(case.messages) and room > 3:
        assert take_turns(made.messages), "two messages of one side in a row"


def _check_pointers(made: Compacted) -> None:
    """A5: what is said to come again later does, or is itself shortened there."""
    texts = [text for kind, _, text in parts(made.messages) if kind == "result"]
    for place, text in enumerate(texts):
        if text.startswith(SAME):
            handle = text.removeprefix(SAME)[:-1]
            later = texts[place + 1 :]
            assert any(
                result_handle(one) == handle or f"expand {handle}]" in one for one in later
            ), "a pointer to what is not sent"


if __name__ == "__main__":
    cases, seed = map(int, sys.argv[1:])
    for number in range(seed, seed + cases):
        sys.stdout.write(outcome_hash(attempt(make(number))) + "\n")
