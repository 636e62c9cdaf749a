"""Two tenants and several readers: nothing of what one may not read reaches it, in any way.

The oracle is the same service without what is hidden: a second process that is sent the very same
requests must give the very same bytes, whatever happened in the first one in between.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

import service_keys
from foveate.service.auth.keys import SCOPES
from full_counts import count
from http_wire import Answer, Wire, request
from model_servers import Server
from model_servers import serving as model_serving
from service_process import Service, running
from tenant_requests import MARK, OWNER, Asked, Known, body_of, document, requests, secret

REQUESTS, PAGES, SEED = count(400, 2_000), 24, 1
READERS: dict[str, tuple[str, ...]] = {
    "nobody": (),
    "red": ("red",),
    "both": ("blue", "red"),
    "stranger": (OWNER.upper(), f"{OWNER}s"),
}
OTHERS = "qvothers"
"""Stands in every text of the first tenant, for the second one never to see."""
WHEN = re.compile(rb'"when":"[^"]*"')
SCOPED = tuple(scope for scope in SCOPES if scope != "metrics")


@dataclass(slots=True, kw_only=True)
class Town:
    """`full`: with two tenants and secrets; `bare`: with what the readers may know of."""

    full: Service
    bare: Service
    model: Server
    keys: dict[str, str]
    known: dict[str, Known] = field(default_factory=dict)

    def send(self, who: str, asked: Asked, number: int, *, bare: bool) -> list[Answer]:
        """To both services, or to the full one alone."""
        headers: dict[str, str | None] = {
            "Authorization": f"Bearer {self.keys[who]}",
            "X-Request-Id": f"n{number}",
            "Accept-Encoding": "gzip" if number % 5 == 4 else None,
        }
        data = request(asked.method, asked.path, body_of(asked), headers)
        with ExitStack() as open_ones:
            wires = []
            for service in (self.full, self.bare) if bare else (self.full,):
                wires.append(open_ones.enter_context(Wire(service.address)))
                wires[-1].send(data)
            answers = [wire.answer() for wire in wires]
        assert None not in answers, f"{asked}: the connection ended"
        return [answer for answer in answers if answer is not None]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    """Both services, over stores of their own, with one file of keys."""
    folder = tmp_path_factory.mktemp("tenants")
    file = folder / "keys.jsonl"
    keys = {
        name: service_keys.put(file, tenant="one", principals=principals, scopes=SCOPED)
        for name, principals in READERS.items()
    }
    keys["owner"] = service_keys.put(file, tenant="one", principals=(OWNER, "red"), scopes=SCOPED)
    keys["second"] = service_keys.put(file, tenant="two", principals=("red", OWNER), scopes=SCOPED)
    with model_serving("openai") as model, ExitStack() as open_ones:
        services = [
            open_ones.enter_context(
                running(
                    folder / name,
                    store=str(folder / name / "data" / "{tenant}"),
                    embedder="hashing",
                    keys=file,
                    rate="",
                    models={"tiny": model.name},
                    log_audit=True,
                )
            )
            for name in ("full", "bare")
        ]
        made = Town(full=services[0], bare=services[1], model=model, keys=keys)
        fill(made)
        yield made


def fill(town: Town) -> None:
    """Pages for the readers in both; secrets, and another tenant's pages, in the full one alone."""
    for number in range(PAGES):
        readers = ((), ("red",), ("blue",), ("blue", "red"))[number % 4]
        page = document(number, readers)
        page["text"] += f" {OTHERS} {number}."
        put(town, "owner", f"page-{number}", page, bare=True)
        put(town, "owner", f"{MARK}-{number}", secret(number, (OWNER,)), bare=False)
        put(town, "second", f"page-{number}", secret(number), bare=False)
        put(town, "second", f"own-{number}", secret(number, ("red",)), bare=False)


def put(town: Town, who: str, name: str, value: dict[str, Any], *, bare: bool) -> None:
    """Keep a document."""
    asked = Asked(kind="put", method="PUT", path=f"/v1/documents/{name}", value=value)
    for answer in town.send(who, asked, 0, bare=bare):
        assert answer.status == 200, answer.body


def told(answer: Answer) -> tuple[int, dict[str, str], bytes]:
    """What a reader is told: all but the clock."""
    headers = {name: value for name, value in answer.headers.items() if name != "date"}
    body = answer.body
    if headers.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
        headers.pop("content-length", None)
    return answer.status, headers, WHEN.sub(b'"when":""', body)


def difference(full: bytes, bare: bytes) -> str:
    """Where two answers part, to read."""
    at = next((n for n, pair in enumerate(zip(full, bare, strict=False)) if pair[0] != pair[1]), 0)
    return f"{full[max(0, at - 300) : at + 200]!r} beside {bare[max(0, at - 300) : at + 200]!r}"


def noise(town: Town, dice: Random, drawn: dict[str, Iterator[Asked]], number: int) -> None:
    """What others do in the full service meanwhile; the second tenant is watched, too."""
    who = dice.choice(("owner", "second"))
    chance = dice.random()
    if chance < 0.2:
        kept = secret(dice.randrange(99), (OWNER,))
        name = f"{OWNER}-{dice.randrange(PAGES)}"
        put(town, who, name, kept, bare=False)
        return
    asked = next(drawn[who])
    if who == "owner" and asked.kind in ("put", "delete"):
        return  # it would change what the readers may know of
    (answer,) = town.send(who, asked, number, bare=False)
    _, _, body = told(answer)
    if who == "second":
        assert OTHERS.encode() not in body, f"{asked}: {body!r}"
    learn(town.known[who], asked, answer.status, body)


def learn(known: Known, asked: Asked, status: int, body: bytes) -> None:
    """What later requests may build on."""
    if asked.kind in ("assemble", "search", "documents") and status == 200:
        known.learn(asked, status, json.loads(body))


def test_nothing_crosses(town: Town) -> None:
    """X5, D5, I4: random requests over all endpoints: the same bytes with secrets or without.

    And what a model is sent for them is the same, too.
    """
    names = (*READERS, "owner", "second")
    town.known = {name: Known() for name in names}
    drawn = {name: requests(SEED + n, town.known[name]) for n, name in enumerate(names)}
    dice, tried, statuses = Random(SEED), Counter[str](), Counter[int]()
    for number in range(REQUESTS):
        if dice.random() < 0.3:
            noise(town, dice, drawn, number)
        who = dice.choice(list(READERS))
        asked = next(drawn[who])
        before = len(town.model.requests)
        full, bare = (told(answer) for answer in town.send(who, asked, number, bare=True))
        sent = town.model.requests[before:]

        assert full == bare, f"{number} {who} {asked}: {difference(full[2], bare[2])}"
        assert len(sent) in (0, 2)
        assert sent[:1] == sent[1:]
        tried[asked.kind] += 1
        statuses[full[0]] += 1
        learn(town.known[who], asked, full[0], full[2])

    assert set(tried) >= {"assemble", "search", "ask", "check", "replay", "put", "delete", "wrong"}
    assert statuses[200] > REQUESTS // 2
    assert not [status for status in statuses if status >= 500]


def test_the_owner_sees_its_own(town: Town) -> None:
    """X5: the hunt proves something: the secrets are there for whom they are for."""
    for who in ("owner", "second"):
        put(town, who, f"{MARK}-last", secret(0, (OWNER,)), bare=False)
    asked = Asked(
        kind="search", method="POST", path="/v1/search", value={"query": f"{MARK} ledger"}
    )
    found = [town.send(who, asked, 0, bare=False)[0].body for who in ("owner", "second")]

    assert [f"{MARK} title".encode() in body for body in found] == [True, True]
