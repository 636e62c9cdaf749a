"""The short way in from Python: a folder of documents, a question, a context, an answer.

    with foveate.open_store("./store") as store:
        store.index("manual")
        context = store.assemble("Which pressure is right?", budget=800)

It puts together what the other rooms do: `ingest`, an `Assembler`, and `ask`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from foveate import plugins
from foveate.answer.ask import Answer, AskOptions, ask, resolve_for_model
from foveate.core.checks import check_principals
from foveate.core.typed import check_arguments
from foveate.core.types import Context
from foveate.ingest.enrich import Enrich
from foveate.ingest.run import ingest
from foveate.ingest.run_state import Report
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.options import AssembleKeywords, AssembleOptions, show_keywords
from foveate.pipeline.store_with_embedder import load_recorded_embedder
from foveate.ports import Embedder, Model, SearchResult, Store
from foveate.stores import open_store as open_existing_store
from foveate.stores import open_store_for_writing
from foveate.stores.lazy import StoreNotFound

__all__ = ["DocumentStore", "open_store"]

TOKENIZER = "cl100k_base"


@check_arguments()
def open_store(
    url: str | Path = ".foveate", *, embedder: str | Embedder = "wordllama", create: bool = True
) -> DocumentStore:
    """Open the store at a URL. If there is none, the first document that is indexed makes it.

    Until then, `search`, `assemble` and `ask` raise `BadInput`; with `create=False` this call does.
    `url`: a folder, or what `--store` takes (docs/store.md). `embedder`: for a new store; one that
    is there says itself which embedder made its vectors.

    Raises `BadInput` for a damaged store, and `BadOption` if its embedder is not the one that is
    installed.
    """
    try:
        store = open_existing_store(url, create=False)
    except StoreNotFound:
        if not create:
            raise
    else:
        return DocumentStore(store, load_recorded_embedder(getattr(store, "embedder_name", "")))
    chosen = plugins.embedder(embedder) if isinstance(embedder, str) else embedder
    new = open_store_for_writing(str(url), embedder_name=chosen.name, dimensions=chosen.dimensions)
    return DocumentStore(new, chosen)


class DocumentStore:
    """An open store, with the embedder of its vectors. Close it, or use it in a `with` block."""

    def __init__(self, store: Store, embedder: Embedder | None) -> None:
        self.store = store
        self.embedder = embedder
        self.assembler = Assembler(store=store, embedder=embedder)

    @check_arguments("principals")
    def index(
        self,
        paths: str | Path | Iterable[str | Path],
        *,
        size: int = 350,
        overlap: int = 70,
        principals: Iterable[str] = (),
        jobs: int = 1,
        encoding: str = "",
        passwords: Iterable[str] = (),
        images: str | Path | None = None,
        questions: bool = True,
    ) -> Report:
        """Index files and folders; afterwards the store holds what is in them now.

        `size`, `overlap`: of a chunk, in tokens. `principals`: the names that may read documents
        which do not say so themselves; none is everybody. `jobs`: processes that read files.
        `encoding`: of texts that are neither UTF-8 nor marked and declare none. `passwords`:
        tried on PDF files that need one. `images`: a folder for the images of PDF, Word and
        PowerPoint files, which `messages` takes them from; None reads none.
        `questions`: also index chunks by the questions they answer, as `foveate index` does. The
        report counts what was written, and names what could not be read and why.

        Raises `BadInput` for a path that is not there or a store that cannot be made, and
        `BadOption` or `ExternalError`.
        """
        return ingest(
            [paths] if isinstance(paths, str | Path) else list(paths),
            self.store,
            self.embedder,
            plugins.tokenizer(TOKENIZER),
            size=size,
            overlap=overlap,
            principals=check_principals(principals),
            jobs=jobs,
            encoding=encoding,
            passwords=tuple(passwords),
            images=images,
            enrich=Enrich(questions=questions),
        )

    @show_keywords
    def search(
        self,
        query: str,
        options: AssembleOptions | None = None,
        **keywords: Unpack[AssembleKeywords],
    ) -> SearchResult:
        """What the store finds, best first: `search("…", limit=10, where={"lang": "en"})`."""
        return self._assembler(options).search(query, **keywords)

    @show_keywords
    def assemble(
        self,
        query: str,
        options: AssembleOptions | None = None,
        **keywords: Unpack[AssembleKeywords],
    ) -> Context:
        """The context for a question: `assemble("…", budget=800)`.

        `options`, or its fields as keywords. Raises what `foveate.assemble` raises.
        """
        return self._assembler(options).assemble(query, **keywords)

    def ask(
        self,
        query: str,
        *,
        model: str | Model,
        budget: int | None = None,
        principals: Iterable[str] = (),
        options: AssembleOptions | None = None,
        ask_options: AskOptions | None = None,
    ) -> Answer:
        """A model's answer from the store's documents, with its citations checked.

        `model`: a `Model`, or its name (`openai:…`, `ollama:…`, `anthropic:…`, `gguf:…`).
        `budget`: tokens for the documents; None is what the model's window leaves. `options`:
        anything else that `assemble` takes. `ask_options`: the prompt and the limits of the answer.
        """
        how = ask_options or AskOptions()
        name = model if isinstance(model, str) else model.name
        chosen = replace(options or AssembleOptions(), budget=budget, principals=principals)
        advice = "say it with ask_options=AskOptions(window=N)"
        resolved, how = resolve_for_model(name, query, chosen, how, advice=advice)
        return ask(self.assemble(query, resolved.options), model, how)

    def _assembler(self, options: AssembleOptions | None) -> Assembler:
        return self.assembler if options is None else replace(self.assembler, options=options)

    def close(self) -> None:
        """Release the store's files and connections."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
