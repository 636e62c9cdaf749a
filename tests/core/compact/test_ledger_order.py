"""What a ledger says first, and that a larger one says it too."""

from __future__ import annotations

import json
import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate import compact
from foveate.core.compact.ledger import rank_values, write_ledger
from foveate.core.compact.ledger_text import Origin, read_ledger
from foveate.core.compact.quotes import find_quotes
from foveate.core.compact.shorten import result_handle
from foveate.core.compact.values import extract_values
from foveate.providers.tokenizers import load_tokenizer
from message_lists import Step, make_steps, parts, spell

COUNT = load_tokenizer("cl100k_base").count
FACTS = (
    "why the cold store failed",
    "Pay nothing without my word.",
    "Is hall two affected as well?",
    "I decided to wait for approval.",
    "an expired certificate",
    "6,280 euros",
    "1672.0",
    "DE89 3704 0044 0532 0130 00",
    "ORD-20417",
)


def claim():
    """A claim for damages: logs, inventories, orders, a mail, and what was decided of it."""
    dice = Random(5)

    def log(day):
        return "\n".join(
            f"2026-03-0{day} 0{n // 60}:{n % 60:02} INFO GET /orders/{dice.randrange(900_000)}"
            f" done in {dice.randint(20, 900)}ms"
            for n in range(150)
        )

    def inventory():
        rows = [
            {
                "sku": f"SK-{dice.randint(10_000, 99_999)}",
                "bin": f"{dice.choice('ABCD')}{dice.randint(10, 49)}",
            }
            for _ in range(200)
        ]
        return json.dumps(rows)

    orders = [{"order": f"ORD-{20_000 + n}", "day": f"2026-02-{n % 28 + 1}"} for n in range(200)]
    orders.append({"order": "ORD-20417", "total": 1672.00, "customer": "Havenga"})
    mail = (
        "Date: Mon, 2 Mar 2026 09:14:00 +0200\nContent-Type: text/plain; charset=utf-8\n\nWe claim"
    )
    mail += (
        " 6,280 euros for the cold store. Pay to DE89 3704 0044 0532 0130 00. " + "Please. " * 60
    )
    handbook = " ".join(f"Rule {n}: clerks note the case in book {n}." for n in range(200))

    def called(name, number, result):
        return Step("tools", calls=((name, json.dumps({"part": number})),), results=(result,))

    task = "Find out why the cold store failed, and what we owe. Pay nothing without my word."
    steps = [
        Step("user", task),
        called("read_log", 1, log(2)),
        Step("assistant", "The log shows nothing before noon."),
        called("read_log", 2, log(3)),
        Step("assistant", "The cause is an expired certificate on the gateway."),
        called("inventory", 1, inventory()),
        called("orders", 2026, json.dumps(orders)),
        Step("assistant", "ORD-20417 has a total of 1672.00. I decided to wait for approval."),
        Step("user", "Good. Read the mail too."),
        called("read_mail", 7, mail),
        called("handbook", 3, handbook),
        Step("user", "Is hall two affected as well?"),
        called("inventory", 2, inventory()),
    ]
    return spell(steps, "openai")


@pytest.mark.parametrize("budget", [1_000, 2_000, 4_000, 6_000, 8_000, 12_000, 16_000])
def test_decisions_and_amounts_come_before_what_is_repeated(budget):
    """A3, A9: at every budget, a larger one too; of durations and bins at most three a kind."""
    made = compact(claim(), budget=budget)
    sent = "\n".join(text for _, _, text in parts(made.messages))
    assert [fact for fact in FACTS if fact not in sent] == []
    listed = re.sub("\u201c[^\u201d]*\u201d", "", made.ledger)
    assert len(re.findall(r"\b\d+ms\b", listed)) <= 3
    assert all(len(re.findall(rf"\b{hall}\d\d\b", listed)) <= 3 for hall in "ABCD")


def test_numbers_of_several_groups_are_whole():
    """A3: accounts, cards, telephones and amounts with their currency or unit."""
    text = (
        "Pay 6,280 euros or $1,023.50 to GB82 WEST 1234 5698 7654 32, card 4111 1111 1111 1111, "
        "call +49 30 1234567, at 3.5 bar; the row 12 34 56 is none."
    )
    assert [value.text for value in extract_values(text)] == [
        "6,280 euros", "$1,023.50", "GB82 WEST 1234 5698 7654 32", "4111 1111 1111 1111",
        "+49 30 1234567", "3.5 bar", "12", "34", "56",
    ]  # fmt: skip


def origins_of(seed):
    """What a conversation said, as texts that left, long ones with handles."""
    found = []
    for step in make_steps(Random(seed)):
        texts = step.results if step.kind == "tools" else (step.text,)
        kind = {"user": "user", "tools": "tool"}.get(step.kind, "assistant")
        found += [
            Origin(
                place=len(found),
                name="read" if kind == "tool" else kind,
                text=text,
                values=extract_values(text),
                kind=kind,
                handle=result_handle(text) if kind == "tool" else "",
                size=len(text),
            )
            for text in texts
            if text
        ]
    return found


def said_in(ledger):
    """The quotes, values and handles of a ledger."""
    known = read_ledger(ledger)
    return {
        said
        for origin in (known.origins if known else ())
        for said in (*origin.text.splitlines(), *(v.text for v in origin.values), origin.handle)
    }


@given(st.integers(0, 2**32), st.integers(30, 900), st.integers(0, 400), st.booleans())
def test_more_room_never_loses_what_less_kept(seed, room, more, whole):
    """A3: of the same texts, a larger ledger says all that a smaller one says."""
    origins = origins_of(seed)
    found = find_quotes(origins, "Where is boat_77?", "")
    quotes = found._replace(excerpts=list(found.excerpts))
    ranked = rank_values(origins, frozenset(), frozenset(), frozenset(), len(origins))

    def written(size):
        made = write_ledger(
            origins,
            ranked,
            quotes=quotes,
            people_room=size if whole else size // 2,
            left=[(0, len(origins))],
            room=size,
            count=COUNT,
        )
        assert made.tokens <= size
        return said_in(made.text)

    assert written(room) <= written(room + more)
