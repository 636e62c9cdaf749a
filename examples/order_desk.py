"""An order desk for agents to work at: tools, sixty questions, and a model with a script.

All texts are made from the numbers of orders, so that they are the same in each run. The model is
on loopback and speaks OpenAI's protocol. It calls one tool for each question and then answers,
whatever it was sent; `usage` says how many tokens that were, and how many a prefix cache had.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer
from inspect import signature
from threading import Thread
from typing import Any, TypeAlias

from foveate.pipeline.bill import bill

Message: TypeAlias = dict[str, Any]

TURNS = 60
INSTRUCTIONS = "You work at the order desk of a shop for boats. Answer from what your tools say."
ORDERS, LINES, SCANS = 12, 20, 24
"""Of a customer, of an order, of a parcel."""
ARTICLES = (
    "anchor",
    "bilge pump",
    "cleat",
    "fender",
    "halyard",
    "hatch",
    "lantern",
    "oar",
    "rudder",
)
PLACES = ("Antwerp", "Bergen", "Cork", "Dover", "Emden", "Faro", "Gdansk")
TOKENIZER = "o200k_base"
CACHED_FROM, CACHED_STEP = 1_024, 128
"""Tokens: OpenAI caches prefixes of so many, in such steps."""


def number(*of: object) -> int:
    """A number that looks like chance and is the same in every run."""
    return int.from_bytes(sha256(repr(of).encode()).digest()[:4], "big")


def code(kind: str, *of: object) -> str:
    """An identifier with five digits."""
    return f"{kind}-{10_000 + number(kind, *of) % 90_000}"


def article(order: str, line: int) -> str:
    """The article of a line of an order."""
    return ARTICLES[number(order, line) % len(ARTICLES)]


def newest(customer: str) -> str:
    """The customer's newest order."""
    return code("AB", customer, 0)


def place(parcel: str, scan: int) -> str:
    """Where a parcel was scanned."""
    return PLACES[number(parcel, scan) % len(PLACES)]


def find_orders(customer: str) -> str:
    """List a customer's orders, the newest first."""
    rows = [
        {
            "order": (order := code("AB", customer, n)),
            "placed": f"2026-{12 - n:02}-{1 + number(order) % 28:02}",
            "euros": number(order, "euros") % 90_000 / 100,
            "status": "open" if n < 3 else "closed",
        }
        for n in range(ORDERS)
    ]
    return json.dumps({"customer": customer, "orders": rows})


def read_order(order: str) -> str:
    """Read an order: its invoice, its parcel and its lines."""
    lines = [
        {
            "line": n + 1,
            "sku": code("SKU", order, n),
            "article": article(order, n),
            "pieces": 1 + number(order, n) % 9,
            "euros": number(order, n, "euros") % 9_000 / 100,
        }
        for n in range(LINES)
    ]
    return json.dumps(
        {"order": order, "invoice": code("INV", order), "parcel": code("PX", order), "lines": lines}
    )


def track_parcel(parcel: str) -> str:
    """Follow a parcel: one line for each scan."""
    return "\n".join(
        f"2026-11-{1 + n:02} {number(parcel, n) % 24:02}:15 {place(parcel, n)}: "
        f"parcel {parcel} scanned at gate {number(parcel, n) % 40}, no damage seen"
        for n in range(SCANS)
    )


def refund(order: str, sku: str) -> str:
    """Refund the article of an order that came broken."""
    return json.dumps({"order": order, "sku": sku, "refund": code("RF", order, sku)})


TOOLS: tuple[Callable[..., str], ...] = (find_orders, read_order, track_parcel, refund)
CALLABLE = {tool.__name__: tool for tool in TOOLS}


def schema(tool: Callable[..., str]) -> Message:
    """A tool as OpenAI's chat has it; all arguments are texts."""
    names = list(signature(tool).parameters)
    properties = {name: {"type": "string"} for name in names}
    parameters = {"type": "object", "properties": properties, "required": names}
    function = {"name": tool.__name__, "description": tool.__doc__, "parameters": parameters}
    return {"type": "function", "function": function}


SCHEMAS = [schema(tool) for tool in TOOLS]


@dataclass(frozen=True, slots=True)
class Turn:
    """A question, the call that it needs, and what is said in the end."""

    question: str
    tool: str
    arguments: dict[str, str]
    answer: str


def turns() -> Iterator[Turn]:
    """Four turns for each customer; two of them may go back to what was read long ago."""
    for n in range(TURNS // 4):
        customer, earlier, older = (f"C-{1_001 + m}" for m in (n, n - n % 2, n // 2))
        order, parcel = newest(customer), code("PX", newest(earlier))
        old, sku = newest(older), code("SKU", newest(older), n)
        yield Turn(
            f"{customer} is on the phone. Which orders are open?",
            "find_orders",
            {"customer": customer},
            f"Three are open; the newest is {order}.",
        )
        yield Turn(
            f"What is in the newest of {customer}?",
            "read_order",
            {"order": order},
            f"{LINES} lines, the first is {article(order, 0)}.",
        )
        yield Turn(
            f"Where is the parcel of {earlier} by now?",
            "track_parcel",
            {"parcel": parcel},
            f"It was last seen in {place(parcel, SCANS - 1)}.",
        )
        yield Turn(
            f"Line {n + 1} of the order of {older} came broken. Refund it.",
            "refund",
            {"order": old, "sku": sku},
            f"Done: {code('RF', old, sku)}.",
        )


def script() -> Iterator[Message]:
    """What the model says: a call, then an answer, for each turn."""
    for n, turn in enumerate(turns(), 1):
        function = {"name": turn.tool, "arguments": json.dumps(turn.arguments)}
        call = {"id": f"call_{n}", "type": "function", "function": function}
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
        yield {"role": "assistant", "content": turn.answer}


class ScriptedModel(HTTPServer):
    """The model at `url`: its requests, their usage, and the values that its calls needed.

    `needed`: argument values of its calls. `found`: those that stood in the request; without them,
    a model could not make the call.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.requests: list[Message] = []
        self.usage: list[Message] = []
        self.needed = self.found = 0
        self._script = script()

    def answer(self, request: Message) -> Message:
        """A Chat Completion: the next message of the script, and what was read and written."""
        message: Message = next(
            self._script, {"role": "assistant", "content": "My script ends here."}
        )
        self.usage.append(self._count(request, message))
        self.requests.append(request)
        sent = json.dumps(request["messages"])
        for call in message.get("tool_calls", ()):
            values = json.loads(call["function"]["arguments"]).values()
            self.needed += len(values)
            self.found += sum(value in sent for value in values)
        reason = "tool_calls" if "tool_calls" in message else "stop"
        return {
            "id": f"chat_{len(self.requests)}",
            "object": "chat.completion",
            "created": 1,
            "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": self.usage[-1],
        }

    def report(self) -> str:
        """How large the requests were, and what stood in them, in one line."""
        largest = max(usage["prompt_tokens"] for usage in self.usage)
        return (
            f"{len(self.requests)} requests of at most {largest:,} tokens, "
            f"{self.found} of {self.needed} values of the calls in them"
        )

    def _count(self, request: Message, message: Message) -> Message:
        """The tokens of both; cached is what the request has in common with the one before."""
        last = self.requests[-1] if self.requests else request
        read = bill(request, before=last, tokenizer=TOKENIZER)
        same = self.usage[-1]["prompt_tokens"] if self.usage else 0
        if read.prefix:
            same = read.prefix.reused
        cached = same - same % CACHED_STEP if same >= CACHED_FROM else 0
        written = bill([message], tokenizer=TOKENIZER).total
        return {
            "prompt_tokens": read.total,
            "completion_tokens": written,
            "total_tokens": read.total + written,
            "prompt_tokens_details": {"cached_tokens": cached},
        }


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedModel

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = json.dumps(self.server.answer(request)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, format: str, *values: object) -> None:
        """Nothing: the requests are kept."""


@contextmanager
def scripted_model() -> Iterator[ScriptedModel]:
    """The model, as long as the block lasts."""
    with ScriptedModel() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
