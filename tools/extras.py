"""One real thing that each extra is for, done by the installed program alone.

    python -I tools/extras.py EXTRA     in an empty folder, in an environment with that extra

Run by `make wheels` in an environment of its own for each extra, where nothing else is installed.
Servers are not started here: `FOVEATE_TRY_REDIS` and its like say where they are.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

FOVEATE = Path(sys.executable).with_name("foveate")
QUERY = "Which pressure is right?"
SAID = "Keep the pressure between one and two bar."
CHUNKS = [
    {"id": "a", "source": "boiler.md", "text": SAID, "score": 0.9},
    {"id": "b", "source": "pump.md", "text": "The pump starts at one bar.", "score": 0.5},
]
CASE = {
    "id": "q1", "dataset": "farm", "question": QUERY, "answers": ["one and two bar"],
    "chunks": [{**one, "doc_id": one["source"]} for one in CHUNKS],
    "evidence": [{"doc_id": "boiler.md", "text": SAID}],
}  # fmt: skip
BY_HASH = ("--embedder", "hashing")


def foveate(*words: str) -> Any:
    """What the program answers, as JSON; it must end well."""
    done = subprocess.run(
        [str(FOVEATE), *words, "--json"],
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"foveate {' '.join(words)}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def chunks() -> str:
    """A file of candidates."""
    Path("chunks.jsonl").write_text("".join(json.dumps(one) + "\n" for one in CHUNKS), "utf-8")
    return "chunks.jsonl"


def manual() -> str:
    """A folder of documents."""
    Path("manual").mkdir(exist_ok=True)
    Path("manual/boiler.md").write_text(f"# Boiler\n\n{SAID}\n", "utf-8")
    return "manual"


def found(store: str) -> None:
    """What was indexed is found again."""
    hits = json.dumps(foveate("search", "--query", QUERY, "--store", store))
    assert SAID in hits, hits


def local() -> None:
    """A folder is indexed by its meaning, and asked."""
    foveate("index", manual(), "--store", "local-store")
    found("local-store")


def documents() -> None:
    """A PDF is read."""
    drawn = f"BT /F1 12 Tf 50 700 Td ({SAID}) Tj ET"
    box, font = "/MediaBox [0 0 595 842]", "<< /Font << /F1 3 0 R >> >>"
    parts = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Type /Page /Parent 2 0 R {box} /Contents 5 0 R /Resources {font} >>",
        f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
    ]
    body = "".join(f"{n} 0 obj\n{part}\nendobj\n" for n, part in enumerate(parts, 1))
    Path("page.pdf").write_text(f"%PDF-1.4\n{body}trailer << /Root 1 0 R /Size 6 >>\n%%EOF\n")
    foveate("index", "page.pdf", "--store", "pdf-store", *BY_HASH)
    found("pdf-store")


def huggingface() -> None:
    """A tokenizer's file counts."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    made = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))  # noqa: S106
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.save("tokenizer.json")
    _counted("hf:tokenizer.json")


def _counted(tokenizer: str) -> None:
    words = ("assemble", "--query", QUERY, "--chunks", chunks(), "--budget", "200")
    context = foveate(*words, "--tokenizer", tokenizer)
    assert 0 < context["token_count"] <= 200, context["token_count"]


def watch() -> None:
    """A change of a file is brought into the store."""
    words = [str(FOVEATE), "index", manual(), "--store", "seen", *BY_HASH, "--watch", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, encoding="utf-8") as running:
        assert running.stdout
        assert json.loads(running.stdout.readline())["added"]
        Path("manual/pump.md").write_text("# Pump\n\nIt starts at one bar.\n", "utf-8")
        told = running.stdout.readline()
        running.send_signal(signal.SIGINT)
        running.stdout.read()
    assert json.loads(told)["added"], told
    assert running.returncode == 0, running.returncode


def evaluation() -> None:
    """Recipes are measured, and a chart is drawn."""
    Path("cases.jsonl").write_text(json.dumps(CASE) + "\n", "utf-8")
    foveate("eval", "run", "--dataset", "cases.jsonl", "--recipes", "naive,default",
            "--budgets", "100", "--out", "measured")  # fmt: skip
    assert list(Path("measured").glob("*.png"))


def cache(url: str = "memory:1") -> None:
    """A context that was made is not made again."""
    from foveate.stores.caches import open_cache

    opened = open_cache(url)
    opened.put("a", b"\x00one")
    assert opened.get("a") == b"\x00one"
    assert opened.stats().errors == 0
    opened.close()


def redis() -> None:
    """The same in a Redis."""
    cache(os.environ["FOVEATE_TRY_REDIS"])


def lance() -> None:
    """A store of the distributed kind."""
    foveate("index", manual(), "--store", "lance:./shelf", *BY_HASH)
    found("lance:./shelf")


def postgres() -> None:
    """A store on a server."""
    url = f"{os.environ['FOVEATE_TRY_POSTGRES']}&schema=tried_{os.getpid()}"
    foveate("index", manual(), "--store", url, *BY_HASH)
    found(url)


def ray() -> None:
    """A batch on a cluster of this machine's own."""
    request = {"id": "r", "query": QUERY, "chunks": CHUNKS, "budget": 200}
    Path("requests.jsonl").write_text(json.dumps(request) + "\n", "utf-8")
    foveate("assemble-batch", "--in", "requests.jsonl", "--out", "contexts.jsonl",
            "--engine", "ray", "--workers", "1")  # fmt: skip
    assert SAID in Path("contexts.jsonl").read_text("utf-8")


def asks(provider: str) -> Callable[[], None]:
    """A model is asked by its provider's own client."""

    def answered() -> None:
        from foveate import ask, assemble

        context = assemble(QUERY, CHUNKS, budget=200)
        assert ask(context, os.environ[f"FOVEATE_TRY_{provider.upper()}"]).text

    return answered


def models() -> None:
    """All providers' clients side by side."""
    for provider in ("openai", "anthropic", "ollama"):
        asks(provider)()


def gguf() -> None:
    """A model file's own vocabulary counts, by the engine that would answer with it."""
    _counted(f"gguf:{os.environ['FOVEATE_TRY_GGUF']}")


def fast() -> None:
    """The processor's own products of 8-bit vectors find what was indexed."""
    import numkong

    assert numkong.__name__
    foveate("index", manual(), "--store", "fast-store", *BY_HASH)
    found("fast-store")


def tables() -> None:
    """A table comes in."""
    import pyarrow as pa

    from foveate import assemble

    assert SAID in assemble(QUERY, pa.Table.from_pylist(CHUNKS), budget=200).text


def serve() -> None:
    """The service starts, answers a request and ends when it is told to."""
    words = [str(FOVEATE), "serve", "--port", "0", "--create"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, encoding="utf-8") as running:
        assert running.stderr
        lines = []
        for line in running.stderr:
            lines.append(line)
            if port := re.search(r"listening on http://127\.0\.0\.1:(\d+)", line):
                break
        else:
            sys.exit("foveate serve: " + "".join(lines))
        door = HTTPConnection("127.0.0.1", int(port[1]), timeout=60)
        body = json.dumps({"query": QUERY, "candidates": CHUNKS, "budget": 200})
        door.request("POST", "/v1/assemble", body, {"content-type": "application/json"})
        answer = door.getresponse()
        text = answer.read().decode()
        door.close()
        running.terminate()
        running.stderr.read()
    assert answer.status == 200, text
    assert SAID in text


def mcp() -> None:
    """An agent's first two words are answered over standard input and output."""
    foveate("index", manual(), "--store", "told", *BY_HASH)
    hello = {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "smoke", "version": "1"},
    }  # fmt: skip
    said = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    words = [str(FOVEATE), "mcp", "--store", "told"]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as running:
        assert running.stdin
        assert running.stdout
        for one in said:
            running.stdin.write(json.dumps(one) + "\n")
        running.stdin.flush()
        answers = [json.loads(running.stdout.readline()) for _ in range(2)]
        running.stdin.close()
    tools = [tool["name"] for tool in answers[1]["result"]["tools"]]
    assert {"assemble", "search", "get_document", "compact", "observed"} <= set(tools), answers


def otel() -> None:
    """The steps of an assembly are spans."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from foveate import Tracing, assemble

    assert OTLPSpanExporter
    spans, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    assemble(QUERY, CHUNKS, budget=200, observers=Tracing(provider))
    assert "foveate.pack" in {span.name for span in spans.get_finished_spans()}


def langchain() -> None:
    """A retriever of the framework is wrapped."""
    from langchain_core.documents import Document
    from langchain_core.runnables import RunnableLambda

    from foveate.integrations.langchain import FoveateRetriever

    mine = RunnableLambda(lambda _: [Document(SAID, metadata={"source": "boiler.md"})])
    got = FoveateRetriever(retriever=mine, budget=60).invoke(QUERY)
    assert SAID in got[0].page_content


def llama_index() -> None:
    """Nodes of the framework are postprocessed."""
    from llama_index.core.schema import NodeWithScore, TextNode

    from foveate.integrations.llama_index import FoveatePostprocessor

    nodes = [NodeWithScore(node=TextNode(text=SAID), score=0.9)]
    got = FoveatePostprocessor(budget=60).postprocess_nodes(nodes, query_str=QUERY)
    assert SAID in got[0].text


def haystack() -> None:
    """A component of the framework runs."""
    from haystack import Document

    from foveate.integrations.haystack import FoveateAssembler

    got = FoveateAssembler(budget=60).run(query=QUERY, documents=[Document(content=SAID)])
    assert SAID in got["context"]


def testing() -> None:
    """A stage is held to the laws."""
    from foveate.core.stages.dedup.exact import DedupExact
    from foveate.testing.stages import check_stage

    check_stage(DedupExact(), examples=5)


EXTRAS: dict[str, Callable[[], None]] = {
    "local": local, "documents": documents, "huggingface": huggingface, "watch": watch,
    "eval": evaluation, "cache": cache, "redis": redis, "lance": lance, "postgres": postgres,
    "ray": ray, "openai": asks("openai"), "anthropic": asks("anthropic"),
    "ollama": asks("ollama"), "models": models, "gguf": gguf, "fast": fast,
    "tables": tables, "serve": serve, "mcp": mcp, "otel": otel, "langchain": langchain,
    "llama-index": llama_index, "haystack": haystack, "testing": testing,
}  # fmt: skip
APART = ("langchain", "llama-index", "haystack")
"""Not part of `all`."""


def everything() -> None:
    """All of `all`, one after the other, in one environment."""
    for name, check in EXTRAS.items():
        if name not in APART:
            check()


if __name__ == "__main__":
    import foveate as installed

    assert "site-packages" in Path(installed.__file__).parts, installed.__file__
    {**EXTRAS, "all": everything}[sys.argv[1]]()
