"""The exceptions. Every message says what to do.

::

    FoveateError
    ├── InvalidRequest         the caller's request is wrong
    │   ├── BadInput           ... in candidates, the query or a file (names line and field)
    │   ├── BadOption          ... in an option, a recipe or a budget
    │   └── UnknownName        ... a name that does not exist (names the near miss)
    ├── BudgetTooSmall         nothing fits; `.needed` is the smallest sufficient budget
    ├── StageBroke             a stage broke one of its laws
    └── ExternalError          a store, a model or a file system failed
        └── MissingExtra       a package that an optional part needs is not installed
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from foveate.core.removed import advice

MAX_LISTED_NAMES = 5
"""Names; so many are listed in an error beside the nearest one."""
MAX_COMPARED_LENGTH = 200
"""Characters; what is so long is no name that was misspelled, and takes long to compare."""

NAMES_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("max_tokens", "token_limit", "token_budget"), ("budget",)),
    **dict.fromkeys(("k", "top_k", "similarity_top_k", "n_results"), ("limit", "keep")),
    **dict.fromkeys(("n", "top_n"), ("keep",)),
    **dict.fromkeys(("filter", "filters"), ("where",)),
    **dict.fromkeys(("history", "chat_history"), ("messages",)),
    "system_prompt": ("system",),
}
"""Names of other libraries → ours; they are suggested, and not taken."""


class FoveateError(Exception):
    """Base of everything foveate raises on purpose."""


class InvalidRequest(FoveateError, ValueError):
    """The caller asked for something that cannot be done."""


class BadInput(InvalidRequest):
    """A candidate, a query or a file is not usable; names the line and the field where it can.

    `line`: counted from 1. `place`: what it counts, the lines of a file, or `item` or `row`.
    """

    def __init__(
        self,
        message: str,
        *,
        line: int | None = None,
        field: str | None = None,
        place: str = "line",
    ) -> None:
        self.line = line
        self.field = field
        where = [f"{place} {line}"] if line is not None else []
        if field is not None:
            where.append(f"field {field!r}")
        super().__init__(f"{', '.join(where)}: {message}" if where else message)


class BadOption(InvalidRequest):
    """An option, a recipe or a budget has a value it cannot have."""


class UnknownName(InvalidRequest):
    """A name that does not exist; gives the nearest that does, and where there are few, all.

    Of a name that was removed it says what to use instead.
    `near`: names that are meant, if the caller knows better than spelling tells.
    """

    def __init__(
        self, kind: str, name: str, known: Iterable[str], near: Sequence[str] = ()
    ) -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(one for one in known if one != name))
        near = [*near] or [ours for ours in NAMES_ELSEWHERE.get(name, ()) if ours in self.known]
        # Every code of two letters is near every other.
        if not near and 2 < len(name) < MAX_COMPARED_LENGTH:
            from difflib import get_close_matches  # takes 3 ms, which no right name should cost

            kinds = {one.partition(":")[0]: one for one in self.known}  # of `openai:MODEL`
            alike = get_close_matches(name.partition(":")[0], kinds, n=1)
            near = get_close_matches(name, self.known, n=1) or [kinds[one] for one in alike]
        hints = [f"did you mean {' or '.join(map(repr, near))}?"] if near else []
        if not near or len(self.known) <= MAX_LISTED_NAMES:
            hints.append(f"known: {', '.join(self.known) or 'none'}")
        super().__init__(advice(kind, name) or f"unknown {kind} {name!r}; {' '.join(hints)}")


class BudgetTooSmall(FoveateError):
    """Nothing fits the budget; `needed` is the smallest that would do, in `unit`."""

    def __init__(self, budget: int, needed: int, *, unit: str = "tokens", what: str = "") -> None:
        self.budget = budget
        self.needed = needed
        self.unit = unit
        subject = what or "the smallest context"
        super().__init__(
            f"budget too small: {subject} needs {needed} {unit}, the budget is {budget}; "
            f"raise the budget to at least {needed}"
        )


class StageBroke(FoveateError):
    """A stage broke a law: it lost, invented or changed a candidate without a decision."""


class ExternalError(FoveateError):
    """Something outside the process failed: a store, a model, a file system."""


class MissingExtra(ExternalError):
    """An optional part needs a package that is not installed; says the install line."""

    def __init__(self, package: str, extra: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(f"{package} is not installed; run: pip install 'foveate[{extra}]'")


@contextmanager
def name_in_errors(name: object) -> Iterator[None]:
    """Whatever is wrong with a request inside is this file's fault, and says so as `BadInput`."""
    try:
        yield
    except InvalidRequest as error:
        found = BadInput(f"{name}: {error}")
        if isinstance(error, BadInput):
            found.line, found.field = error.line, error.field
        raise found from error
