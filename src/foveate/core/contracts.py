"""Contracts of the core: a tokenizer that counts, a format that renders and parses, an observer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, ClassVar, ParamSpec, Protocol, Self, TypeAlias, TypeVar, runtime_checkable

from foveate.core.images import Image
from foveate.core.images.tokens import CAPTIONS
from foveate.core.types import Block

StepObserver: TypeAlias = Callable[[str], AbstractContextManager[Any]]
"""What is entered around each step of an assembly; for whoever watches how long they take.

It is called with the step's name, as the trace has it, and with nothing else; what it gives back
is entered before the step and left after it, and decides nothing. The core takes it as it is: it
must raise nothing and swallow nothing. `foveate.pipeline.observers.combine_observers` makes that
true of any.
"""

P = ParamSpec("P")
T = TypeVar("T")


def observe_step(
    observer: StepObserver | None,
    name: str,
    step: Callable[P, T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """The step's result; with an observer, the step runs inside `observer(name)`."""
    if observer is None:
        return step(*args, **kwargs)
    with observer(name):
        done = step(*args, **kwargs)
    return done  # noqa: RET504 (inside it, a type checker says that nothing may be returned)


@runtime_checkable
class Tokenizer(Protocol):
    """Counts and cuts text. `fingerprint` names vocabulary and version: same print, same counts."""

    @property
    def name(self) -> str:
        """What one types to get it: `cl100k_base`, a path, …"""

    @property
    def fingerprint(self) -> str:
        """Changes whenever a count could change."""

    def count(self, text: str) -> int:
        """Number of tokens; special-token text is counted as the plain text it is."""

    def truncate(self, text: str, n: int) -> str:
        """The longest prefix found of at most `n` tokens, cut between characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedBlock:
    """A block read back from a rendered context: its body and the header fields that were shown."""

    text: str
    fields: Mapping[str, str] = field(default_factory=dict)
    start: int = 0


SUPPLEMENT_LABEL, SUPPLEMENTS_END = "Supplement", "End of supplements"
"""The words that formats write around supplements."""


class Format(ABC):
    """How blocks become text. A small value; its options are its fields, its repr its spelling.

    Per block: `separator + [preamble] + header + body + footer`; see `foveate.core.render`.
    The law: `parse(render(blocks))` gives `shown(block)` for every block, whatever is in them.
    `TextFormat` and `PartsFormat` of `foveate.core.formats.shared` define all but a few methods.
    """

    __slots__ = ()
    name: str
    """What one types to get it."""
    reads: ClassVar[tuple[str, ...] | None] = None
    """The fields of a block (beside marker, kind, document, metadata and summary) that its header,
    separator and footer depend on: candidates that have the same are given the same header. None:
    any may count."""
    joins_runs: ClassVar[bool] = False
    """Whether the texts of one document's run are one text, each after a line break; `parse` gives
    the run back as the block of its first text."""
    drops_repeats: ClassVar[bool] = False
    """Whether a block's header may leave out what the block before it says. Costs count it all the
    same, because an order may separate the two blocks."""
    once_a_document: ClassVar[bool] = False
    """Whether a document is shown in one place, whatever the order of the best."""
    is_parts: ClassVar[bool] = False
    """Whether the text is a list of content parts, as JSON, and not one string of a message."""
    cited_by_provider: ClassVar[bool] = False
    """Whether the provider cites the blocks by itself, so that no marker is asked for."""
    image_formula: ClassVar[str] = CAPTIONS
    """What counts images if no model is named; `captions`: it has no parts for images."""
    image_types: ClassVar[tuple[str, ...]] = ()
    """Media types of the images that it has parts for."""
    name_parts: int = 1
    """The parts of a path that a header shows as the name of a source, if it shows no more."""

    def for_budget(self, tokens: int) -> Self:
        """The format for so many tokens of documents, if it has a shorter form."""
        return self

    def for_sources(self, sources: Iterable[str]) -> Self:
        """The format whose headers tell these sources apart."""
        return self

    def with_name(self, block: Block, parts: int) -> Block:
        """The block with the name that a header has for its source, of so many parts of a path."""
        return block

    def with_name_parts(self, parts: int) -> Self:
        """The format that shows so many parts of a path."""
        return self

    @abstractmethod
    def separator(self, previous: Block | None, block: Block) -> str:
        """What stands between two blocks, supplements first; `previous` None: at the start."""

    @abstractmethod
    def preamble(self, label: str, summary: str) -> str:
        """The page summary's line, before the first block of its document."""

    @abstractmethod
    def header(self, block: Block, previous: Block | None) -> str:
        """What stands before the body: marker, source, page, chosen metadata."""

    @abstractmethod
    def body(self, text: str) -> str:
        """The text with everything neutralised, reversibly, that this format uses as structure."""

    def footer(self, block: Block, following: Block | None) -> str:
        """What stands after the body; `following` is None at the end."""
        return ""

    def write_images(self, images: Iterable[Image]) -> str:
        """The parts of the images that stand behind a block's body."""
        return ""

    @abstractmethod
    def aside(self, block: Block, following: Block | None) -> tuple[str, str]:
        """What stands before and after a supplement's body; `separator` comes before that."""

    @abstractmethod
    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks back; a preamble comes back as the field `summary`.

        A text behind `[End of supplements]` comes without supplements; others are left out here.
        """

    @abstractmethod
    def shown(self, block: Block) -> ParsedBlock:
        """What `parse` gives back for this block (`start` apart)."""

    def label(self, block: Block) -> str:
        """How a reader refers to the block: `[1]`, `[SOURCE 1]`, a path."""
        return f"[{block.marker}]"
