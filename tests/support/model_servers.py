"""Servers on loopback that speak the protocols of models, well or badly, as they are told.

Small and honest: they read a whole request, keep it, and write what the protocol says, or break it
at exactly one point. They run on a thread of their own and hold a connection until it is closed.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

PIECES = ("The well ", "is nine ", "metres deep [1].")
ANSWER = "".join(PIECES)
PROTOCOLS = ("openai", "ollama", "anthropic")
_PATHS = {"openai": "/chat/completions", "ollama": "/api/chat", "anthropic": "/v1/messages"}
_TYPES = {"ollama": "application/x-ndjson"}
_SSE = "text/event-stream"


@dataclass
class Server:
    """What a test sees of it: where it is, and what it was asked."""

    protocol: str
    behaviour: str
    pieces: tuple[str, ...] = PIECES
    places: tuple[tuple[Any, ...], ...] = ()
    turns: tuple[dict[str, Any], ...] = ()
    door: bytes = b""
    status: str = "200 OK"
    body: bytes = b""
    logprobs: tuple[tuple[int, float], ...] = ()
    port: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    left: Event = field(default_factory=Event)  # a connection is over, from either side

    @property
    def name(self) -> str:
        """The model, as one types it."""
        version = "/v1" if self.protocol == "openai" else ""
        return f"{self.protocol}:tiny@http://127.0.0.1:{self.port}{version}"


@contextmanager
def several(
    behaviours: Mapping[str, str], **options: Any
) -> Iterator[tuple[dict[str, Server], dict[str, Any]]]:
    """Servers by name as Ollama speaks, and the settings of a service that may ask them."""
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(serving("ollama", behaviour, **options))
            for name, behaviour in behaviours.items()
        }
        models = {name: server.name for name, server in servers.items()}
        yield servers, {"models": models, "windows": dict.fromkeys(servers, 8_192)}


@contextmanager
def serving(protocol: str, behaviour: str = "fine", **options: Any) -> Iterator[Server]:
    """A server as long as the block lasts."""
    server = Server(protocol=protocol, behaviour=behaviour, **options)
    ready, loop = Event(), asyncio.new_event_loop()
    tasks: set[asyncio.Task[None]] = set()
    writers: list[asyncio.StreamWriter] = []

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await _one(server, reader, writer)
        writer.close()
        server.left.set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        tasks.add(asyncio.ensure_future(speak(reader, writer)))

    async def main(stop: asyncio.Event) -> None:
        listener = await asyncio.start_server(connected, "127.0.0.1", 0)
        server.port = listener.sockets[0].getsockname()[1]
        ready.set()
        await stop.wait()
        own = asyncio.current_task()
        while others := asyncio.all_tasks() - {own}:  # a connection may be on its way in
            for task in tasks:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
        listener.close()
        for writer in writers:
            writer.transport.abort()
        await asyncio.gather(*(one.wait_closed() for one in writers), return_exceptions=True)

    stop = asyncio.Event()
    thread = Thread(target=loop.run_until_complete, args=(main(stop),), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()


async def _one(server: Server, reader: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
    """Read one request, answer it as told."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
    # header values as they came, for the tests of keys
    server.headers.append(
        {k.lower(): v for k, v in (line.split(": ", 1) for line in head[1:] if ": " in line)}
    )
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    server.requests.append(json.loads(body))
    if head[0].split()[1] == "/tokenize":
        await _tokenize(server, out)
        return
    assert head[0].split()[1].endswith(_PATHS[server.protocol]), head[0]
    behave = globals()[f"_{server.behaviour}"]
    await behave(server, reader, out)
    await out.drain()


def _begin(server: Server, out: asyncio.StreamWriter, kind: str = "") -> None:
    kind = kind or _TYPES.get(server.protocol, _SSE)
    out.write(f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n".encode())


def _error(server: Server, out: asyncio.StreamWriter, status: int, said: str, *more: str) -> None:
    told: Any = {"error": said if server.protocol == "ollama" else {"message": said, "type": "x"}}
    if server.protocol == "anthropic":
        told["type"] = "error"
    data = json.dumps(told).encode()
    lines = [f"HTTP/1.1 {status} No", "content-type: application/json", *more]
    lines += [f"content-length: {len(data)}", "connection: close", "", ""]
    out.write("\r\n".join(lines).encode() + data)


def events(protocol: str, pieces: tuple[str, ...], *, usage: bool = True) -> list[bytes]:
    """A whole answer, event by event."""
    return {"openai": _of_openai, "ollama": _of_ollama, "anthropic": _of_anthropic}[protocol](
        pieces, usage
    )


def _of_openai(pieces: tuple[str, ...], usage: bool) -> list[bytes]:
    def chunk(**fields: Any) -> bytes:
        base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "tiny-1"}
        return b"data: " + json.dumps(base | fields).encode() + b"\n\n"

    def choice(delta: dict[str, str], finish: str | None = None) -> list[dict[str, Any]]:
        return [{"index": 0, "delta": delta, "finish_reason": finish}]

    counted = {"prompt_tokens": 31, "completion_tokens": 8, "total_tokens": 39}
    counted |= {"prompt_tokens_details": {"cached_tokens": 16}}
    found = [chunk(choices=choice({"role": "assistant", "content": ""}))]
    found += [chunk(choices=choice({"content": piece})) for piece in pieces]
    found += [chunk(choices=choice({}, "stop"))]
    found += [chunk(choices=[], usage=counted)] if usage else []
    return [*found, b"data: [DONE]\n\n"]


def _of_ollama(pieces: tuple[str, ...], usage: bool) -> list[bytes]:
    def line(text: str, **fields: Any) -> bytes:
        message = {"role": "assistant", "content": text}
        return json.dumps({"model": "tiny-1", "message": message, **fields}).encode() + b"\n"

    counted = {"prompt_eval_count": 31, "eval_count": 8} if usage else {}
    found = [line(piece, done=False) for piece in pieces]
    return [*found, line("", done=True, done_reason="stop", **counted)]


def _of_anthropic(pieces: tuple[str, ...], usage: bool) -> list[bytes]:
    def event(kind: str, **fields: Any) -> bytes:
        data = json.dumps({"type": kind, **fields})
        return f"event: {kind}\ndata: {data}\n\n".encode()

    read = {"input_tokens": 15, "cache_read_input_tokens": 16, "output_tokens": 1}
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "tiny-1"}
    message |= {"content": [], "usage": read if usage else None}
    found = [event("message_start", message=message)]
    found += [event("content_block_start", index=0, content_block={"type": "text", "text": ""})]
    found += [
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
        for piece in pieces
    ]
    found += [event("content_block_stop", index=0), event("ping")]
    written = {"output_tokens": 8} if usage else None
    found += [event("message_delta", delta={"stop_reason": "end_turn"}, usage=written)]
    return [*found, event("message_stop")]


def _of_citing(pieces: tuple[str, ...], places: tuple[tuple[Any, ...], ...]) -> list[bytes]:
    """An answer of Anthropic's whose pieces are blocks, each citing search results by place.

    Or as it is told, whole.
    """

    def event(kind: str, **fields: Any) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()

    first, *_, told, last = events("anthropic", ())
    found = [first]
    for index, (piece, cited) in enumerate(zip(pieces, places, strict=True)):
        start = {"type": "text", "text": "", "citations": []}
        found.append(event("content_block_start", index=index, content_block=start))
        deltas: list[dict[str, Any]] = [{"type": "text_delta", "text": piece}]
        for place in cited:
            citation = {"type": "search_result_location", "search_result_index": place}
            citation |= {"cited_text": "x", "source": "s", "title": "t"}
            citation |= {"start_block_index": 0, "end_block_index": 1}
            said = place if isinstance(place, dict) else citation
            deltas.append({"type": "citations_delta", "citation": said})
        found += [event("content_block_delta", index=index, delta=delta) for delta in deltas]
        found.append(event("content_block_stop", index=index))
    return [*found, told, last]


_FIRST = {"openai": 1, "ollama": 0, "anthropic": 2}
"""Which event brings the first piece."""


def _some(server: Server) -> bytes:
    """An answer up to its second piece."""
    return b"".join(events(server.protocol, server.pieces)[: _FIRST[server.protocol] + 2])


# --- behaviours: (server, reader, out) --------------------------------------------------------


def whole(protocol: str, pieces: tuple[str, ...]) -> dict[str, Any]:
    """A whole answer at once, as clients get it that ask for no stream."""
    said = {"role": "assistant", "content": "".join(pieces)}
    if protocol == "ollama":
        counted = {"prompt_eval_count": 31, "eval_count": 8}
        return {"model": "tiny-1", "message": said, "done": True, "done_reason": "stop", **counted}
    if protocol == "anthropic":
        message = {"id": "m1", "type": "message", "model": "tiny-1", "stop_reason": "end_turn"}
        content = [{"type": "text", "text": said["content"]}]
        usage = {"input_tokens": 31, "output_tokens": 8}
        return {**message, **said, "content": content, "usage": usage}
    choice = {"index": 0, "message": said, "finish_reason": "stop"}
    usage = {"prompt_tokens": 31, "completion_tokens": 8, "total_tokens": 39}
    base = {"id": "c1", "object": "chat.completion", "created": 1, "model": "tiny-1"}
    return {**base, "choices": [choice], "usage": usage}


async def _fine(server: Server, reader: Any, out: Any) -> None:
    if not server.requests[-1].get("stream"):
        _begin(server, out, "application/json")
        out.write(json.dumps(whole(server.protocol, server.pieces)).encode())
        return
    _begin(server, out)
    for event in events(server.protocol, server.pieces):
        out.write(event)
        await out.drain()


async def _tokenize(server: Server, out: Any) -> None:
    """The door of llama.cpp's server for tokens, where it is told what to say there."""
    if not server.door:
        _error(server, out, 404, "no such path")
        return
    kind = "text/html" if server.door.startswith(b"<") else "application/json"
    _begin(server, out, kind)
    out.write(server.door)
    await out.drain()


async def _dictated(server: Server, reader: Any, out: Any) -> None:
    """Says probabilities of tokens, whatever was asked for."""
    said = [
        {"token": "x", "bytes": None, "logprob": logprob, "top_logprobs": [], "id": number}
        for number, logprob in server.logprobs
    ]
    first, last = ({"index": 0, "delta": {}, "finish_reason": end} for end in (None, "length"))
    _begin(server, out)
    for choice in ({**first, "logprobs": {"content": said}}, last):
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "tiny-1"}
        out.write(b"data: " + json.dumps({**chunk, "choices": [choice]}).encode() + b"\n\n")
    out.write(b"data: [DONE]\n\n")


async def _cites(server: Server, reader: Any, out: Any) -> None:
    """Anthropic's way: what a stretch rests on comes beside it, not in it."""
    _begin(server, out)
    out.write(b"".join(_of_citing(server.pieces, server.places)))


async def _no_usage(server: Server, reader: Any, out: Any) -> None:
    _begin(server, out)
    out.write(b"".join(events(server.protocol, server.pieces, usage=False)))


async def _empty(server: Server, reader: Any, out: Any) -> None:
    _begin(server, out)
    out.write(b"".join(events(server.protocol, ())))


async def _refuses(server: Server, reader: Any, out: Any) -> None:
    key = server.headers[-1].get("authorization", server.headers[-1].get("x-api-key", ""))
    _error(server, out, 401, f"wrong key: {key}")


async def _echoes(server: Server, reader: Any, out: Any) -> None:
    """Says all headers that it was sent."""
    _error(server, out, 401, repr(server.headers[-1]))


async def _parrots(server: Server, reader: Any, out: Any) -> None:
    """Refuses with what it was asked."""
    _error(server, out, 400, f"cannot answer {json.dumps(server.requests[-1])}")


async def _busy_once(server: Server, reader: Any, out: Any) -> None:
    if len(server.requests) == 1:
        _error(server, out, 429, "slow down", "retry-after-ms: 20")
    else:
        await _fine(server, reader, out)


async def _busy_for_long(server: Server, reader: Any, out: Any) -> None:
    _error(server, out, 429, "slow down", "retry-after: 3600")


async def _broken_once(server: Server, reader: Any, out: Any) -> None:
    if len(server.requests) == 1:
        _error(server, out, 500, "the pump stopped")
    else:
        await _fine(server, reader, out)


async def _broken(server: Server, reader: Any, out: Any) -> None:
    _error(server, out, 500, "the pump stopped")


async def _hangs_up_once(server: Server, reader: Any, out: Any) -> None:
    if len(server.requests) > 1:
        await _fine(server, reader, out)


async def _silent(server: Server, reader: Any, out: Any) -> None:
    await reader.read()


async def _silent_after_headers(server: Server, reader: Any, out: Any) -> None:
    _begin(server, out)
    await out.drain()
    await reader.read()


async def _stuck_midway(server: Server, reader: Any, out: Any) -> None:
    _begin(server, out)
    out.write(_some(server))
    await out.drain()
    await reader.read()


async def _drips_headers(server: Server, reader: Any, out: Any) -> None:
    out.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
    await _drip(out, b"a")


async def _drips_bytes(server: Server, reader: Any, out: Any) -> None:
    _begin(server, out)
    await _drip(out, b"\n" if server.protocol == "openai" else b" ")


async def _drips_words(server: Server, reader: Any, out: Any) -> None:
    _begin(server, out)
    out.write(_some(server))
    await _drip(out, events(server.protocol, ("drop ",))[_FIRST[server.protocol]])


async def _drip(out: Any, data: bytes) -> None:
    while True:
        out.write(data)
        await out.drain()
        await asyncio.sleep(0.02)


async def _cut(server: Server, reader: Any, out: Any) -> None:
    _begin(server, out)
    out.write(_some(server))


async def _cut_once(server: Server, reader: Any, out: Any) -> None:
    await (_cut if len(server.requests) == 1 else _fine)(server, reader, out)


async def _garbage(server: Server, reader: Any, out: Any) -> None:
    _begin(server, out)
    out.write(b"event: message_start\ndata: {not json\n\n")


async def _html(server: Server, reader: Any, out: Any) -> None:
    _begin(server, out, "text/html")
    out.write(b"<!doctype html>\n<title>Welcome</title>\n")


async def _wrong_json(server: Server, reader: Any, out: Any) -> None:
    _begin(server, out)
    said = b'{"choices": 7, "message": 7, "usage": "many", "type": "message_start"}'
    out.write(said + b"\n" if server.protocol == "ollama" else _as_event(said))


def _as_event(data: bytes) -> bytes:
    return b"event: message_start\ndata: " + data + b"\n\n"


async def _endless_words(server: Server, reader: Any, out: Any) -> None:
    _begin(server, out)
    found, at = events(server.protocol, ("pump " * 2000,)), _FIRST[server.protocol]
    out.write(b"".join(found[:at]))
    while True:
        out.write(found[at])
        await out.drain()


async def _endless_line(server: Server, reader: Any, out: Any) -> None:
    _begin(server, out)
    out.write(b"event: message_start\ndata: ")
    while True:
        out.write(b"a" * 100_000)
        await out.drain()


async def _given(server: Server, reader: Any, out: Any) -> None:
    """Whatever a test says."""
    fine = server.status == "200 OK"
    kind = _TYPES.get(server.protocol, _SSE) if fine else "application/json"
    head = f"HTTP/1.1 {server.status}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n"
    out.write(head.encode() + server.body)


async def _turns(server: Server, reader: Any, out: Any) -> None:
    """One whole message of the assistant a request, in their order."""
    message = {"role": "assistant", "content": None, **server.turns[len(server.requests) - 1]}
    reason = "tool_calls" if "tool_calls" in message else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    used = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    base = {"id": "c1", "object": "chat.completion", "created": 1, "model": "tiny-1"}
    _begin(server, out, "application/json")
    out.write(json.dumps({**base, "choices": [choice], "usage": used}).encode())


async def _zipped(server: Server, reader: Any, out: Any) -> None:
    """Compressed, though nobody asked for that: a small answer could be of any size."""
    kind = _TYPES.get(server.protocol, _SSE)
    data = gzip.compress(b"".join(events(server.protocol, server.pieces)))
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-encoding: gzip\r\n"
    out.write(f"{head}content-length: {len(data)}\r\nconnection: close\r\n\r\n".encode() + data)


async def _error_midway(server: Server, reader: Any, out: Any) -> None:
    _begin(server, out)
    out.write(_some(server))
    said = {"error": "the pump stopped"}
    if server.protocol == "ollama":
        out.write(json.dumps(said).encode() + b"\n")
        return
    told = json.dumps({"type": "error", "error": {"type": "x", "message": "the pump stopped"}})
    out.write(f"event: error\ndata: {told}\n\n".encode())


async def _redirects(server: Server, reader: Any, out: Any) -> None:
    lines = [
        "HTTP/1.1 307 Elsewhere",
        "location: http://127.0.0.1:9/v1",
        "content-length: 0",
        "",
        "",
    ]
    out.write("\r\n".join(lines).encode())


async def _picky(server: Server, reader: Any, out: Any) -> None:
    """Takes no temperature, and knows the newer name of the limit alone."""
    asked = server.requests[-1]
    for name in ("temperature", "max_tokens"):
        if name in asked and not (name == "max_tokens" and server.protocol == "anthropic"):
            message = {"message": f"'{name}' is not supported", "param": name}
            message |= {"type": "invalid_request_error", "code": "unsupported_parameter"}
            data = json.dumps({"type": "error", "error": message}).encode()
            head = f"HTTP/1.1 400 No\r\ncontent-length: {len(data)}\r\nconnection: close\r\n"
            out.write(f"{head}content-type: application/json\r\n\r\n".encode() + data)
            return
    await _fine(server, reader, out)
