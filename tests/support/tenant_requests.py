"""Random requests of readers to a service, and the documents that they must or must not see.

Seeded: the same numbers give the same requests. A request may build on an earlier answer (a bundle,
a context, a cursor), so the next one is drawn when the answer to the last is known.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import quote

MARK = "zqx"
"""Stands in every secret text, title, name, source and metadata value, and nowhere else."""
OWNER = "vault"
"""The principal who may read what other readers of the tenant may not."""

SENTENCE = """harbour lamp granite river boiler pressure valve pump filter spring ledger wages kiln
glaze cellar winter gate keeper bridge toll paddle water stone lock canal"""
WORDS = SENTENCE.split()
QUERIES = (
    *("when is the harbour lamp lit", "what pressure has the boiler", "who keeps the gate"),
    *("granite of the river", f"{MARK} granite ledger", f"what does {OWNER} pay", "the of and"),
)
Record = dict[str, Any]


def document(number: int, principals: tuple[str, ...] = ()) -> Record:
    """A page of five sentences about nothing."""
    dice = Random(f"document {number}")
    lines = [" ".join(dice.choices(WORDS, k=9)).capitalize() + "." for _ in range(5)]
    return {
        "text": " ".join(lines),
        "source": f"pages/{number}.md",
        "title": f"Page {number}",
        "principals": list(principals),
        "metadata": {"lang": "en" if number % 3 else "nl", "shelf": str(number % 4)},
    }


def secret(number: int, principals: tuple[str, ...] = ()) -> Record:
    """A better answer to everything, marked all over; half are near copies of open pages."""
    text = f"{MARK}{number} pays: " + " ".join(QUERIES) + f" {MARK}. "
    if number % 2:
        text = document(number)["text"] + f" {MARK} twelve."
    return {
        "text": text,
        "source": f"{MARK}/{number}.md",
        "title": f"{MARK} title {number}",
        "summary": f"{MARK} summary",
        "principals": list(principals),
        "metadata": {"lang": MARK, MARK: MARK, "shelf": "1"},
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request. `kind`: the endpoint, for the count of what was tried."""

    kind: str
    method: str
    path: str
    value: Any = None


@dataclass(slots=True, kw_only=True)
class Known:
    """What a reader has been told so far, to build on."""

    contexts: list[Record] = field(default_factory=list)
    bundles: list[Record] = field(default_factory=list)
    cursors: list[str] = field(default_factory=list)

    def learn(self, asked: Asked, status: int, value: Any) -> None:
        """Keep the last few things that later requests can use."""
        if status != 200 or not isinstance(value, dict):
            return
        if asked.kind == "assemble":
            bundle = value.pop("bundle", None)
            self.contexts = [*self.contexts[-5:], value]
            self.bundles = [*self.bundles[-5:], *([bundle] if bundle else [])]
        if cursor := value.get("next"):
            self.cursors = [*self.cursors[-5:], cursor]


def requests(seed: int, known: Known) -> Iterator[Asked]:
    """Without end."""
    dice = Random(seed)
    makers = {
        _assemble: 30, _search: 25, _listed: 10, _one: 10, _check: 8, _replay: 8,
        _ask: 5, _named: 4, _wrong: 10,
    }  # fmt: skip
    while True:
        (maker,) = dice.choices(list(makers), list(makers.values()))
        asked = maker(dice, known)
        if asked is not None:
            yield asked


def _name(dice: Random, *, any_secret: bool = True) -> str:
    """An id of a page, of a secret, or of nothing; the `vault-` ones are never written to."""
    number = dice.randrange(24)
    names = (f"page-{number}", f"{MARK}-{number}", f"own-{number}", "nobody")
    return dice.choice((*names, f"{OWNER}-{number}") if any_secret else names)


def _where(dice: Random) -> Record:
    choices: tuple[Record, ...] = (
        *({"lang": "en"}, {"lang": MARK}, {MARK: MARK}, {"shelf": "1"}, {"shelf": ["1", "2"]}),
        *({"document_id": _name(dice)}, {"source": f"{MARK}/1.md"}, {"source": "pages/3.md"}),
    )
    return {"where": dice.choice(choices)} if dice.random() < 0.3 else {}


def _who(dice: Random) -> Record:
    """Nothing, a narrowing, or a try to read as another."""
    if dice.random() < 0.7:
        return {}
    return {"principals": dice.choice(([], ["red"], ["blue"], [OWNER], ["red", OWNER], [MARK]))}


def _query(dice: Random) -> str:
    if dice.random() < 0.7:
        return dice.choice(QUERIES)
    return " ".join(dice.choices(WORDS, k=3))


def _assemble(dice: Random, known: Known) -> Asked:
    body: Record = {"query": _query(dice), "budget": dice.choice((60, 200, 500, 900))}
    if dice.random() < 0.4:
        body["recipe"] = dice.choice(
            ("naive", "document-first", "citations", "four-stage", "tight")
        )
    if dice.random() < 0.2:
        body["format"] = dice.choice(("xml", "numbered", "minimal", "markdown"))
    if dice.random() < 0.3:
        body["bundle"] = True
    if dice.random() < 0.2:
        chosen = dice.sample(range(24), 5)
        body["candidates"] = [{"id": f"c{n}", "score": 1 / (n + 1), **document(n)} for n in chosen]
    else:
        body |= _where(dice)
    return Asked(kind="assemble", method="POST", path="/v1/assemble", value=body | _who(dice))


def _search(dice: Random, known: Known) -> Asked:
    body: Record = {"query": _query(dice), "limit": dice.choice((1, 3, 10, 50))}
    body |= _where(dice) | _who(dice)
    return Asked(kind="search", method="POST", path="/v1/search", value=body)


def _listed(dice: Random, known: Known) -> Asked:
    path = f"/v1/documents?limit={dice.choice((1, 3, 7, 100))}"
    if known.cursors and dice.random() < 0.6:
        path += f"&cursor={quote(dice.choice(known.cursors), safe='')}"
    return Asked(kind="documents", method="GET", path=path)


def _one(dice: Random, known: Known) -> Asked:
    """Read, replace or delete a page."""
    chance = dice.random()
    path = f"/v1/documents/{_name(dice, any_secret=chance < 0.6)}"
    if chance < 0.6:
        return Asked(kind="document", method="GET", path=path)
    if chance < 0.8:
        value = document(dice.randrange(24), dice.choice(((), ("red",), ("blue",))))
        return Asked(kind="put", method="PUT", path=path, value=value)
    return Asked(kind="delete", method="DELETE", path=path)


def _check(dice: Random, known: Known) -> Asked | None:
    if not known.contexts:
        return None
    context = dice.choice(known.contexts)
    answer = f"The lamp is lit in winter [1]. {_query(dice).capitalize()} [2]. {MARK} pays [9]."
    value = {"answer": answer, "context": context}
    return Asked(kind="check", method="POST", path="/v1/check-answer", value=value)


def _replay(dice: Random, known: Known) -> Asked | None:
    if not known.bundles:
        return None
    first, second = dice.choice(known.bundles), dice.choice(known.bundles)
    value = {"bundle": first} if dice.random() < 0.6 else {"a": first, "b": second}
    return Asked(kind="replay", method="POST", path="/v1/replay", value=value)


def _ask(dice: Random, known: Known) -> Asked:
    value = {"question": _query(dice), "budget": 300, "stream": dice.random() < 0.5}
    return Asked(kind="ask", method="POST", path="/v1/ask", value=value)


def _named(dice: Random, known: Known) -> Asked:
    path = dice.choice(("/v1/recipes", "/v1/recipes/tight", "/v1/me", "/healthz", "/readyz"))
    return Asked(kind="named", method="GET", path=path)


def _wrong(dice: Random, known: Known) -> Asked:
    """What is refused, in words that must not depend on what one may not see."""
    choices: tuple[tuple[str, str, Any], ...] = (
        ("POST", "/v1/search", {"query": "", "limit": 5}),
        ("POST", "/v1/search", {"query": "granite", "where": {"lang": {"x": MARK}}}),
        ("POST", "/v1/assemble", {"query": "granite", "recipe": f"{MARK}-recipe"}),
        ("POST", "/v1/assemble", {"query": "granite", "where": {"document_id": f"{MARK}-1"}}),
        ("POST", "/v1/assemble", {"query": "granite", "budget": 1}),
        ("POST", "/v1/assemble", {"query": "granite", "tenant": "two"}),
        ("GET", f"/v1/recipes/{MARK}", None),
        ("GET", f"/v1/documents/{MARK}-{dice.randrange(24)}", None),
        ("GET", "/metrics", None),
        ("DELETE", "/v1/recipes/default", None),
        ("POST", "/v1/replay", {"bundle": {"kind": MARK}}),
        ("POST", "/v1/check-answer", {"answer": "a [1].", "context": {"text": MARK}}),
    )
    method, path, value = dice.choice(choices)
    return Asked(kind="wrong", method=method, path=path, value=value)


def body_of(asked: Asked) -> bytes | None:
    """The JSON of a request."""
    return None if asked.value is None else json.dumps(asked.value).encode()
