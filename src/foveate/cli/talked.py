"""What `foveate ask` does in a conversation: one turn after another, in a file or on a terminal.

Rules: what was answered is kept, what failed is not, so a question can be asked again; the file is
for its owner alone, is there whole or not at all, and is not written over what another run has put
there meanwhile.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from foveate.answer.ask import Answer, Asking, ask, ask_events
from foveate.answer.wire import answer_to_json
from foveate.assembler import Assembler
from foveate.cli import output
from foveate.cli.asked import Settled, printed, settled_by
from foveate.cli.failures import in_file, one_line
from foveate.cli.files import decoded, raw_lines, written
from foveate.cli.models import model_named
from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput, BudgetTooSmall, OutsideFailure
from foveate.core.talk.elastic import Elastic, elastic
from foveate.core.zones import Budget
from foveate.dialogue import SHARE
from foveate.ports import Model
from foveate.session import (
    Asked,
    History,
    Session,
    Summariser,
    proceed,
    session_from_json,
    session_to_json,
)
from foveate.stored import opened

PROMPT = "> "
HINT = "Ask; Ctrl-D ends the conversation, Ctrl-C an answer."
VERBATIM = (4, 2, 1, 0)
"""So many of the last turns stay as they are, the first number that fits."""


@dataclass(slots=True, kw_only=True)
class Talk:
    """A conversation with a store and a model; `file`: where it is kept, if anywhere."""

    assembler: Assembler
    model: Model
    name: str
    how: Asking
    recipe: str
    budget: int | None = None
    principals: tuple[str, ...] = ()
    summariser: Summariser | None = None
    file: str | None = None
    session: Session = field(default_factory=Session)
    _read: bytes = b""

    def __post_init__(self) -> None:
        """Take up what the file holds; where there is none, the conversation begins."""
        if self.file is not None:
            self._read = _bytes_of(self.file)
            self.session = _session_in(self.file, self._read) if self._read else Session()

    def turn(self, question: str, *, as_json: bool = False) -> None:
        """Ask, print, and keep what was said."""
        settled = settled_by(
            self.model, question, self.name, self.how, recipe=self.recipe, budget=None
        )
        asked = self._asked(question, settled)
        request: Any = asked.openai()
        given = (asked.context, settled.model, settled.how)
        if as_json:
            answer = ask(*given, sent=request)
            output.write_json({**answer_to_json(answer, asked.context), **_about(asked)})
        else:
            answer = printed(ask_events(*given, sent=request), asked.context, _as_before(asked))
        self._keep(asked, answer)

    def _asked(self, question: str, settled: Settled) -> Asked:
        """The request; in a small window fewer of the last turns stay as they were said."""
        for verbatim in VERBATIM:
            try:
                return self._proceeded(question, settled, verbatim)
            except BudgetTooSmall:
                if verbatim == VERBATIM[-1]:
                    raise
        raise AssertionError

    def _proceeded(self, question: str, settled: Settled, verbatim: int) -> Asked:
        budget, zones = divided(settled.plan.budget, self.budget)
        return proceed(
            self.session,
            question,
            store=self.assembler,
            system=settled.plan.system,
            history=History(verbatim=verbatim, slack=25),
            summariser=self.summariser,
            zones=zones,
            budget=budget,
            recipe=settled.plan.recipe,
            tokenizer=settled.plan.tokenizer,
            principals=self.principals,
            language=self.how.language,
        )

    def _keep(self, asked: Asked, answer: Answer) -> None:
        cited = [entry.marker for entry in answer.citations]
        self.session = asked.session.answered(answer.text, cited=cited)
        if self.file is None:
            return
        data = f"{output.as_json(session_to_json(self.session))}\n".encode()
        if _bytes_of(self.file) != self._read:
            raise OutsideFailure(
                f"{self.file}: was changed while the model answered; the answer is not in it, "
                "ask again"
            )
        with written(self.file, private=True) as file:
            file.write(data)
        self._read = data


def divided(room: Budget, documents: int | None) -> tuple[Budget, Elastic]:
    """The model's room, a part of it for the conversation; `documents`: the most that those get.

    What they may not get is the conversation's.
    """
    whole = room.documents or 0
    most = whole - whole // SHARE
    if documents is not None:
        most = min(documents, most)
    budget = replace(room, documents=most, conversation=whole - most)
    zones = elastic(budget)
    if documents is not None:
        zones = replace(zones, documents=replace(zones.documents, ceiling=most))
    return budget, zones


def _about(asked: Asked) -> dict[str, Any]:
    """What JSON says of the conversation beside the answer."""
    turns = sum(turn.role == "user" for turn in asked.session.turns)
    return {"turn": turns, "reuse": asdict(asked.reuse)}


def _as_before(asked: Asked) -> str:
    """How much of the request is what was sent before, for a line of figures."""
    reuse = asked.reuse
    if not reuse.request_reused:
        return ""
    return f"; its first {reuse.request_reused:,} tokens were sent before"


def _bytes_of(name: str) -> bytes:
    """What the file holds; nothing where there is none."""
    if not Path(name).exists():
        return b""
    return b"\n".join(raw_lines(name)) + b"\n"


def _session_in(name: str, data: bytes) -> Session:
    with in_file(name):
        try:
            record = parse_json(decoded(data.rstrip(b"\n")))
        except BadInput as error:
            what = str(error).partition(";")[0]
            raise BadInput(f"this is not a conversation ({what}); name a new file") from None
        return session_from_json(record)


def talked(
    question: str | None,
    name: str,
    how: Asking,
    *,
    store: str,
    recipe: str,
    budget: int | None,
    principals: tuple[str, ...],
    summariser: str | None,
    file: str | None,
    as_json: bool,
) -> None:
    """One turn; or, without a question, turns on a terminal until its end."""
    model = model_named(name)
    shorter = Summariser(model=model_named(summariser)) if summariser is not None else None
    with opened(store) as (shelf, embedder):
        talk = Talk(
            assembler=Assembler(store=shelf, embedder=embedder),
            model=model,
            name=name,
            how=how,
            recipe=recipe,
            budget=budget,
            principals=principals,
            summariser=shorter,
            file=file,
        )
        if question is not None:
            talk.turn(question, as_json=as_json)
            return
        _until_the_end(talk)


def _until_the_end(talk: Talk) -> None:
    """Questions from the terminal; what goes wrong with one is said, and the next is asked for."""
    with suppress(ImportError):  # not everywhere
        import readline  # noqa: F401  # the line can be edited, and earlier ones come back

    sys.stderr.write(f"{HINT}\n")
    sys.stderr.flush()
    while True:
        try:
            question = input(PROMPT)
        except EOFError:
            output.write_line("")
            return
        if not question.strip():
            continue
        try:
            talk.turn(question)
        except (OutsideFailure, BudgetTooSmall, BadInput) as error:
            sys.stderr.write(f"{one_line(error)}\n")
        except KeyboardInterrupt:
            sys.stderr.write("foveate: stopped; question and answer are not kept\n")
        output.write_line("")
